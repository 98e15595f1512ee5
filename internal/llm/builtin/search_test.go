package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files is a workspace with the two tools that the model calls.
type files map[string]string

func (f files) call(c llm.Call) llm.Result {
	var args struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		From    int    `json:"start_line"`
		To      int    `json:"end_line"`
	}
	r := llm.Result{CallID: c.ID, Name: c.Name}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return llm.Result{CallID: c.ID, IsError: true, Parts: []llm.Part{llm.Text{Text: err.Error()}}}
	}
	if c.Name == "fs_grep_files" {
		r.Parts = []llm.Part{llm.Text{Text: f.grep(args.Pattern)}}
		return r
	}
	lines := strings.Split(f[args.Path], "\n")
	to := min(args.To, len(lines))
	r.Parts = []llm.Part{llm.Resource{
		URI:  fmt.Sprintf("file:///w/%s#L%d-%d", args.Path, args.From, to),
		Text: strings.Join(lines[args.From-1:to], "\n"),
	}}
	return r
}

func (f files) grep(pattern string) string {
	re := regexp.MustCompile(pattern)
	var out []string
	for name, text := range f {
		for i, line := range strings.Split(text, "\n") {
			if re.MatchString(line) {
				out = append(out, fmt.Sprintf("%s:%d:%s", name, i+1, line))
			}
		}
	}
	if out == nil {
		return "No matches found."
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func tools() []llm.Tool {
	return []llm.Tool{{Name: "fs_read_file"}, {Name: "fs_grep_files"}, {Name: "fs_delete_file"}}
}

// ask runs the loop for one question and returns the answer and the number of steps.
func ask(t *testing.T, f files, r *llm.Request) (string, int) {
	t.Helper()
	m := builtin.New(builtin.Options{})
	for step := 1; step < 10; step++ {
		answer := llmtest.Collect(m.Stream(t.Context(), r))
		if answer.Err != nil || answer.Faults != nil {
			t.Fatal(answer.Err, answer.Faults)
		}
		said := llm.Message{Role: llm.RoleAssistant}
		results := llm.Message{Role: llm.RoleUser}
		for _, d := range answer.Ends {
			p := llmtest.Replayed(d)
			said.Parts = append(said.Parts, p)
			if c, ok := p.(llm.Call); ok {
				results.Parts = append(results.Parts, f.call(c))
			}
		}
		r.Messages = append(r.Messages, said)
		if answer.Stop.Reason == llm.StopEnd {
			return answer.Text(), step
		}
		r.Messages = append(r.Messages, results)
	}
	t.Fatal("no end")
	return "", 0
}

func question(text string) *llm.Request {
	return &llm.Request{Tools: tools(), Messages: []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: text}}},
	}}
}

func project() files {
	return files{
		"gitint/index.go":  strings.Repeat("// other\n", 40) + "// Index opens the index.\nfunc (r *Repo) Index() (*Index, error) {\n\treturn openIndex(r.path)\n}\n",
		"gitint/x_test.go": "func TestOpenIndex(t *testing.T) {}\n",
		"cmd/open.go":      "func open() {}\n",
		"README.md":        "# Nothing\n",
	}
}

func TestAnswersWithPassages(t *testing.T) {
	text, steps := ask(t, project(), question("Where do we open the index?"))
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.Contains(first, "No language model is configured") || !strings.Contains(first, "--model") {
		t.Errorf("the first line is %q", first)
	}
	if steps != 3 {
		t.Errorf("it took %d steps", steps)
	}
	i, j := strings.Index(rest, "**gitint/index.go:39-44"), strings.Index(rest, "**cmd/open.go:1")
	if i < 0 || j < 0 || i > j || !strings.Contains(rest, "return openIndex(r.path)") {
		t.Errorf("the answer is\n%s", text)
	}
}

func TestFollowsTheConversation(t *testing.T) {
	r := question("Where do we open the index?")
	first, _ := ask(t, project(), r)
	r.Messages = append(r.Messages, llm.Message{
		Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "and `README`?"}},
	})
	second, steps := ask(t, project(), r)
	if steps != 2 || !strings.Contains(second, "Nothing was found for “README”") {
		t.Errorf("%d steps to\n%s", steps, second)
	}
	ids := map[string]bool{}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if c, ok := p.(llm.Call); ok {
				if ids[c.ID] {
					t.Errorf("the id %s is used twice", c.ID)
				}
				ids[c.ID] = true
			}
		}
	}
	again, _ := ask(t, project(), question("Where do we open the index?"))
	if again != first {
		t.Error("the same question has another answer")
	}
}

// TestFollowsReferences checks that a result that refers to an earlier one is resolved.
func TestFollowsReferences(t *testing.T) {
	r := question("open the index")
	first, _ := ask(t, project(), r)
	r.Messages = append(r.Messages, llm.Message{
		Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "open the index"}},
	})
	f := project()
	m := builtin.New(builtin.Options{})
	for range 2 {
		answer := llmtest.Collect(m.Stream(t.Context(), r))
		said, results := llm.Message{Role: llm.RoleAssistant}, llm.Message{Role: llm.RoleUser}
		for _, d := range answer.Ends {
			c := llmtest.Replayed(d).(llm.Call)
			res := f.call(c)
			if c.Name == "fs_read_file" {
				res.Parts = []llm.Part{llm.Text{Text: "[unchanged since turn 1]"}}
			}
			said.Parts, results.Parts = append(said.Parts, c), append(results.Parts, res)
		}
		r.Messages = append(r.Messages, said, results)
	}
	second, _ := ask(t, f, r)
	if second != first {
		t.Errorf("the answer to references is\n%s", second)
	}
}

func TestAnswersWithoutTools(t *testing.T) {
	r := question("What about the turbine?")
	r.Tools = nil
	r.Messages[0].Parts = append(r.Messages[0].Parts, llm.Resource{
		URI: "file:///w/plan.md", Text: "one\ntwo\nThe turbine turns.\n",
	})
	text, _ := ask(t, nil, r)
	if !strings.Contains(text, "**file:///w/plan.md:1-3**") {
		t.Errorf("the answer is\n%s", text)
	}
	r.Messages = question("What about the turbine?").Messages
	if text, _ := ask(t, nil, r); !strings.Contains(text, "no tool to search with") {
		t.Errorf("the answer is\n%s", text)
	}
	if text, _ := ask(t, nil, question("Why is it so?")); !strings.Contains(text, "no words") {
		t.Errorf("the answer is\n%s", text)
	}
}

func TestSaysWhyTheToolFailed(t *testing.T) {
	r := question("Where is the turbine?")
	m := builtin.New(builtin.Options{Offer: "Take another."})
	answer := llmtest.Collect(m.Stream(t.Context(), r))
	said, results := llm.Message{Role: llm.RoleAssistant}, llm.Message{Role: llm.RoleUser}
	for _, d := range answer.Ends {
		said.Parts = append(said.Parts, llmtest.Replayed(d))
		results.Parts = append(results.Parts, llm.Result{
			CallID: d.ID, IsError: true, Parts: []llm.Part{llm.Text{Text: "not allowed\nat all"}},
		})
	}
	r.Messages = append(r.Messages, said, results)
	text := llmtest.Collect(m.Stream(t.Context(), r)).Text()
	if !strings.Contains(text, "Take another.") || !strings.Contains(text, ": not allowed.\n") {
		t.Errorf("the answer is\n%s", text)
	}
}

func TestFillsSchemas(t *testing.T) {
	r := question("Explain the turbine of the second engine room, and please do so slowly")
	r.Schema = jsontext.Value(`{"type":"object","required":["titles","n","deep"],"properties":{
		"titles":{"type":"array","minItems":2,"items":{"type":"string"}},
		"n":{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}]},
		"deep":{"type":"object","required":["on","kind"],"properties":{
			"on":{"type":["boolean","null"]},"kind":{"enum":["a","b"]}}},
		"optional":{"type":"string"}}}`)
	answer := llmtest.Collect(builtin.New(builtin.Options{}).Stream(t.Context(), r))
	ev, ok := answer.Ends[0].Event.(*events.ChatResponse)
	const title = `"Explain the turbine of the second engine room"`
	want := `{"deep":{"kind":"a","on":false},"n":3,"titles":[` + title + `,` + title + `]}`
	if !ok || ev.Form != events.FormData || string(ev.Data) != want {
		t.Errorf("the answer is %s", ev.Data)
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := llmtest.Collect(builtin.New(builtin.Options{}).Stream(ctx, question("open index")))
	if !errors.Is(answer.Err, context.Canceled) {
		t.Errorf("canceled, the stream ends with %v", answer.Err)
	}
	n := 0
	for range builtin.New(builtin.Options{}).Stream(t.Context(), question("open index")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d deltas after the break", n)
	}
}
