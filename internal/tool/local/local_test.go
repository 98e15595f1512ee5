//go:build unix

package local

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/tool/process"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

const testValues = `{"tool":{"name":"t","arguments":{"s":"a b","n":12345678901234567890,` +
	`"f":1.50,"b":true,"z":null,"l":[1,"x"],"o":{"z":1,"a":"<"},"hostile":"{{context.root}} '; rm"}},` +
	`"context":{"root":"/ws","access":null}}`

func TestTemplates(t *testing.T) {
	tests := []struct{ in, want string }{
		{"{{tool.arguments.s}}", "a b"},
		{"x={{ tool.arguments.n }};", "x=12345678901234567890;"},
		{"{{tool.arguments.f}}", "1.50"},
		{"{{tool.arguments.b}}", "true"},
		{"{{tool.arguments.z}}", ""},
		{"{{context.access}}", ""},
		{"{{tool.arguments.l}}", `[1,"x"]`},
		{"{{tool.arguments.o}}", `{"z":1,"a":"<"}`},
		{"{{-context.root-}}", "/ws"},
		{"{{tool.arguments.hostile}}", "{{context.root}} '; rm"},
		{"{{tool.arguments.mmm | default('')}}", ""},
		{"{{tool.arguments.mmm | default('x')}}", "x"},
		{"{{tool.arguments.s | upper}}", "A B"},
		{"{{tool.arguments.hostile | upper}}", "{{CONTEXT.ROOT}} '; RM"},
		{"{{tool.arguments.b and 'yes'}}", "yes"},
		{"{% if tool.arguments.b %}{{tool.arguments.s}}{% endif %}", "a b"},
		{"no template }}", "no template }}"},
		{"open {{ here", "open {{ here"},
		{"{{tool.arguments.missing}}", "!"},
		{"{{nothing}}", "!"},
		{"{{tool.arguments.s.deeper}}", "!"},
		{"{{tool.arguments.missing | upper}}", "!"},
		{"{% include '/etc/passwd' %}", "!"},
		{"{{ ( }}", "!"},
	}
	for _, tt := range tests {
		got, err := parseWord(tt.in).render(jsontext.Value(testValues))
		if err != nil {
			got = "!"
		}
		if got != tt.want {
			t.Errorf("%s: %q (%v), want %q", tt.in, got, err, tt.want)
		}
	}
}

func config(t *testing.T, body string) tool.Config {
	t.Helper()
	c, err := tool.ParseConfig("t", jsontext.Value(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Policy.Run = tool.Unattended
	return c
}

// newTool returns the tool of a configuration.
func newTool(t *testing.T, env Environment, body string) tool.Tool {
	t.Helper()
	it, err := New(config(t, body), env)
	if err != nil {
		t.Fatal(err)
	}
	return it.Tool
}

// recorder starts processes and records the commands.
type recorder struct {
	next     tool.Starter
	refuse   error
	commands []tool.Command
}

func (r *recorder) Start(ctx context.Context, c tool.Command) (tool.Process, error) {
	r.commands = append(r.commands, c)
	if r.refuse != nil {
		return nil, r.refuse
	}
	return r.next.Start(ctx, c)
}

func environment(t *testing.T) (Environment, *recorder) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	space, err := file.NewSpace(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{next: process.Launcher{
		Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: 100 * time.Millisecond,
	}}
	return Environment{
		Starter: r, Root: dir, Space: space, WorkspaceID: "abcde", ConversationID: "jp-c1",
	}, r
}

// runScript runs a tool with a shell script, which gets args as its words.
func runScript(t *testing.T, script, args string, call tool.Call) (tool.Result, *recorder) {
	t.Helper()
	env, r := environment(t)
	if err := os.WriteFile(filepath.Join(env.Root, "script"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := config(t, `{"source":"local","command":"sh script `+args+`",
		"questions":{"set":{"answer":true},"bad":{"answer":"x"}}}`)
	it, err := New(c, env)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tool.NewExecutor([]tool.Item{{Tool: open{it.Tool}, Policy: it.Policy}}, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call.Name = "t"
	rs, err := x.Run(t.Context(), []tool.Call{call}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rs[0], r
}

// open is a tool that accepts any arguments in tests.
type open struct{ tool.Tool }

func (o open) Definition() tool.Definition {
	d := o.Tool.Definition()
	d.Open, d.Schema = true, nil
	return d
}

func shows(t *testing.T, r tool.Result) string {
	t.Helper()
	s, err := (&events.ToolCallResponse{Blocks: r.Blocks}).Text(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError {
		s = "!" + s
	}
	return s
}

func TestOutcomes(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"text", `echo hello`, "hello\n"},
		{"not an outcome", `echo '{"type":"other","content":"x"}'`, `{"type":"other","content":"x"}` + "\n"},
		{"json", `echo '[1]'`, "[1]\n"},
		{"no text", `printf 'a\377b'`, "a\uFFFDb"},
		{"success", `echo '{"type":"success","content":"fine"}'`, "fine"},
		{"error", `echo '{"type":"error","message":"bad","trace":[],"transient":true}'`, "!bad"},
		{"trace", `echo '{"type":"error","message":"bad","trace":["a","b"],"transient":false}'`, "!bad\n\nTrace:\n  a\n  b"},
		{
			"exit", `echo out; echo err >&2; exit 4`,
			"!{\n  \"message\": \"command failed: exit status 4\",\n  \"stderr\": \"err\\n\",\n  \"stdout\": \"out\\n\"\n}",
		},
		{"typed", `echo '{"content":[{"type":"text","text":"a"},{"type":"resource","resource":` +
			`{"uri":"file:src/../b","mimeType":"text/plain","text":"B"},"formatted":"<b>"}]}'`, "a\n\n<b>"},
		{"typed error", `echo '{"content":[{"type":"text","text":"a"}],"isError":true}'`, "!a"},
		{"typed in an outcome", `echo '{"type":"success","content":[{"type":"text","text":"a"}]}'`, "a"},
		{"content that is no blocks", `echo '{"content":[{"x":1}]}'`, `{"content":[{"x":1}]}` + "\n"},
		{
			"no answer type is known", `echo '{"type":"needs_input","question":{"id":"a","answer_type":"Colour"}}'`,
			`{"type":"needs_input","question":{"id":"a","answer_type":"Colour"}}` + "\n",
		},
	}
	for _, tt := range tests {
		r, _ := runScript(t, tt.script, "", tool.Call{})
		if got := shows(t, r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestBlocksKeepWhatWeDoNotKnow(t *testing.T) {
	r, _ := runScript(t, `echo '{"content":[{"type":"resource","resource":{"uri":"file:x","text":"B",`+
		`"annotations":{"priority":0.50},"_meta":{"k":1}}},{"type":"video","frames":[1]},`+
		`{"type":"resource_link","uri":"https://a.example/","name":"n","size":3},`+
		`{"type":"image","data":"AAE=","mimeType":"image/png"}]}'`, "", tool.Call{})
	if len(r.Blocks) != 4 {
		t.Fatalf("%+v", r)
	}
	res := r.Blocks[0].Resource
	if res.URI != "file:///$WORKSPACE/x" || string(res.Annotations) != `{"priority":0.50}` ||
		!strings.Contains(string(res.Raw), `"_meta"`) {
		t.Errorf("%+v", res)
	}
	if r.Blocks[1].Type != "video" || !strings.Contains(string(r.Blocks[1].Raw), "frames") ||
		r.Blocks[2].Resource.URI != "https://a.example/" || r.Blocks[3].Content.Size() != 2 {
		t.Errorf("%+v", r.Blocks)
	}
	s := events.New(events.NewElement(time.Unix(0, 0),
		&events.ToolCallResponse{ID: "1", Blocks: r.Blocks}, events.Metadata{}))
	for _, want := range []string{`file:///$WORKSPACE/x`, `"_meta"`, `"frames"`, `"size"`} {
		if !strings.Contains(string(s.Encode()), want) {
			t.Errorf("no %s in\n%s", want, s.Encode())
		}
	}
}

// asker answers from a script.
type asker struct {
	answers map[string]string
	asked   []tool.Question
}

var errNoIdea = errors.New("no idea")

func (a *asker) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	a.asked = append(a.asked, q)
	if s, ok := a.answers[q.ID]; ok {
		return jsontext.Value(s), nil
	}
	return nil, errNoIdea
}

func TestQuestions(t *testing.T) {
	needs := func(q string) string { return `echo '{"type":"needs_input","question":` + q + `}'` }
	// The script asks until it has all answers.
	script := `case "$1" in
		*'"sel":'*) echo "$1" ;;
		*'"set":'*) ` + needs(`{"id":"sel","text":"Which?","answer_type":{"Select":{"options":["x","y"]}},"default":"x"}`) + ` ;;
		*) ` + needs(`{"id":"set","text":"Sure?","pre_amble":"Look","answer_type":"Boolean","default":null}`) + ` ;;
	esac`
	a := &asker{answers: map[string]string{"sel": `"y"`}}
	r, rec := runScript(t, script, "{{tool.answers}}", tool.Call{ID: "call_1", Asker: a})
	if got := shows(t, r); got != `{"sel":"y","set":true}`+"\n" {
		t.Errorf("%q", got)
	}
	if len(rec.commands) != 3 || len(a.asked) != 1 {
		t.Fatalf("%d runs, asked %+v", len(rec.commands), a.asked)
	}
	q := a.asked[0]
	if q.Tool != "t" || q.Call != "call_1" || q.Type != tool.AnswerSelect ||
		!slices.Equal(q.Options, []string{"x", "y"}) || string(q.Default) != `"x"` {
		t.Errorf("%+v", q)
	}
	failing := []struct{ name, question, answer, want string }{
		{"nobody knows", `{"id":"a","text":"A?","answer_type":"Text"}`, "", "no idea"},
		{"wrong option", `{"id":"a","answer_type":{"Select":{"options":["x"]}}}`, `"z"`, "not of type select"},
		{"wrong type", `{"id":"a","answer_type":"Boolean"}`, `"yes"`, "not of type boolean"},
		{"wrong configured answer", `{"id":"bad","answer_type":"Boolean"}`, "", "not of type boolean"},
		{"asks for ever", `{"id":"set","answer_type":"Boolean"}`, "", "again"},
	}
	for _, tt := range failing {
		a := &asker{answers: map[string]string{}}
		if tt.answer != "" {
			a.answers["a"] = tt.answer
		}
		r, _ := runScript(t, needs(tt.question), "", tool.Call{Asker: a})
		if got := shows(t, r); !r.IsError || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	r, _ = runScript(t, needs(`{"id":"a","text":"A?","answer_type":"Text"}`), "", tool.Call{})
	if got := shows(t, r); !strings.Contains(got, "no user could be asked") {
		t.Errorf("without an asker: %q", got)
	}
	r, _ = runScript(t, `case "$1" in '{}') echo '{"content":[{"type":"question","question":`+
		`{"id":"set","text":"?","answer_type":{"type":"boolean"}}}]}' ;; *) echo "$1" ;; esac`,
		"{{tool.answers}}", tool.Call{})
	if got := shows(t, r); got != `{"set":true}`+"\n" {
		t.Errorf("a question block: %q", got)
	}
}

// TestAProgramIsPermittedAgain checks that a program which asked is not started again without a
// look at what it would run now.
func TestAProgramIsPermittedAgain(t *testing.T) {
	env, r := environment(t)
	env.Permit = func(context.Context) error { return errNoIdea }
	asks := newTool(t, env, `{"source":"local","questions":{"a":{"answer":true}},"command":{"program":"echo",
		"args":["{\"type\":\"needs_input\",\"question\":{\"id\":\"a\",\"answer_type\":\"Boolean\"}}"]}}`)
	_, err := asks.Run(t.Context(), tool.Call{Name: "t"})
	if !errors.Is(err, errNoIdea) || len(r.commands) != 1 {
		t.Errorf("%d runs, %v", len(r.commands), err)
	}
}

func TestWhatAModelWritesIsOneWord(t *testing.T) {
	hostile := "a b; touch pwned $(touch pwned) `touch pwned` '\" {{context.root}} \n*"
	args, err := json.Marshal(map[string]string{"x": hostile})
	if err != nil {
		t.Fatal(err)
	}
	r, rec := runScript(t, `printf '%s|%s' "$#" "$1"`, "{{tool.arguments.x}}", tool.Call{Arguments: args})
	if got := shows(t, r); got != "1|"+hostile {
		t.Errorf("%q", got)
	}
	if c := rec.commands[0]; c.Program != "sh" || !slices.Equal(c.Args, []string{"script", hostile}) {
		t.Errorf("started %q %q", c.Program, c.Args)
	}

	env, _ := environment(t)
	shell := newTool(t, env, `{"source":"local","command":{"program":"printf '%s' {{tool.arguments.x}};",
		"args":["echo","$((1+1))"],"shell":true}}`)
	res, err := shell.Run(t.Context(), tool.Call{Name: "t", Arguments: args})
	if got := shows(t, res); err != nil || got != hostile+"2\n" {
		t.Errorf("in a shell: %q (%v)", got, err)
	}
	if _, err := os.Stat(filepath.Join(env.Root, "pwned")); err == nil {
		t.Error("a model's text was run")
	}
}

// TestLargeValues checks that a value too large for a command line is passed in a file, which is
// removed afterwards.
func TestLargeValues(t *testing.T) {
	large := strings.Repeat("large ", 40_000)
	args, err := json.Marshal(map[string]string{"x": large})
	if err != nil {
		t.Fatal(err)
	}
	script := `case "$1" in @*) cat "${1#@}"; echo "|${1#@}" ;; *) echo "no file" ;; esac`
	r, _ := runScript(t, script, "{{tool.arguments.x}}", tool.Call{Arguments: args})
	text, name, _ := strings.Cut(shows(t, r), "|")
	if text != large {
		t.Errorf("%d bytes, want %d", len(text), len(large))
	}
	if _, err := os.Stat(strings.TrimSpace(name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q is still there (%v)", name, err)
	}
}

func TestARefusalIsTheResult(t *testing.T) {
	env, rec := environment(t)
	rec.refuse = errors.New("not approved: git jp trust")
	if _, err := newTool(t, env, `{"source":"local","command":"true"}`).Run(t.Context(), tool.Call{Name: "t"}); !errors.Is(err, rec.refuse) {
		t.Errorf("%v", err)
	}
}

func TestInterruptAndBoundedOutput(t *testing.T) {
	env, _ := environment(t)
	env.MaxOutput = 1000
	long := newTool(t, env, `{"source":"local","command":"sh -c 'yes x | head -c 5000'"}`)
	r, err := long.Run(t.Context(), tool.Call{Name: "t"})
	if got := shows(t, r); err != nil || len(got) > 1100 || !strings.Contains(got, "[cut: the last 4000 bytes") {
		t.Errorf("%d bytes (%v)", len(got), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	slow := newTool(t, env, `{"source":"local","command":"sh -c 'echo half; sleep 100'"}`)
	r, err = slow.Run(ctx, tool.Call{Name: "t"})
	if got := shows(t, r); !errors.Is(err, context.DeadlineExceeded) || got != "half\n" {
		t.Errorf("%q (%v)", got, err)
	}
}

func TestFormatArguments(t *testing.T) {
	env, rec := environment(t)
	f, ok := newTool(t, env, `{"source":"local","command":"true","style":
		{"parameters":"echo {{context.action}} {{tool.arguments.x}}"}}`).(tool.Formatter)
	if !ok {
		t.Fatal("no formatter")
	}
	got, err := f.FormatArguments(t.Context(), tool.Call{Name: "t", Arguments: jsontext.Value(`{"x":"y"}`)})
	if err != nil || got != "format_arguments y\n" || rec.commands[0].Program != "echo" {
		t.Errorf("%q (%v)", got, err)
	}
	plain := newTool(t, env, `{"source":"local","command":"true","style":{"parameters":"json"}}`)
	if _, ok := plain.(tool.Formatter); ok {
		t.Error("a formatter for json")
	}
}

func TestBrokenCommands(t *testing.T) {
	env, _ := environment(t)
	for _, body := range []string{
		`{"source":"local"}`, `{"source":"local","command":"a 'b"}`, `{"source":"local","command":" "}`,
		`{"source":"local","command":"a","style":{"parameters":"'"}}`,
	} {
		if _, err := New(config(t, body), env); err == nil {
			t.Errorf("%s: accepted", body)
		}
	}
}

// TestRealCommands renders every command of a real workspace.
func TestRealCommands(t *testing.T) {
	env, rec := environment(t)
	rec.refuse = errors.New("not here")
	dir := realdata.Dir(t, "jp-config", "mcp", "tools")
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.toml"))
	if err != nil || len(names) < 40 {
		t.Fatalf("%d files (%v)", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Conversation struct {
				Tools map[string]any `toml:"tools"`
			} `toml:"conversation"`
		}
		if err := toml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		for tn, v := range doc.Conversation.Tools {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			c, err := tool.ParseConfig(tn, raw, nil)
			if err != nil || c.Source.Kind != tool.Local {
				continue // a second file for the same tool, or a tool of a server
			}
			checkReal(t, env, rec, c)
		}
	}
}

func checkReal(t *testing.T, env Environment, rec *recorder, c tool.Config) {
	t.Helper()
	it, err := New(c, env)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	args := `{"nnn":"1","mmm":"2 3","variant":"v","title":"A title"}`
	rec.commands = nil
	_, err = it.Tool.Run(t.Context(), tool.Call{Name: c.Name, Arguments: jsontext.Value(args)})
	if !errors.Is(err, rec.refuse) || len(rec.commands) != 1 {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	cmd := rec.commands[0]
	if cmd.Program != "just" || strings.Contains(strings.Join(cmd.Args, " "), "{{") || cmd.Dir != env.Root {
		t.Errorf("%s: %q", c.Name, cmd.Args)
	}
	if !strings.Contains(c.Command.Line, "{{context}} {{tool}}") {
		return
	}
	var ctx, tl map[string]any
	if len(cmd.Args) != 3 || json.Unmarshal([]byte(cmd.Args[1]), &ctx) != nil ||
		json.Unmarshal([]byte(cmd.Args[2]), &tl) != nil {
		t.Errorf("%s: %q", c.Name, cmd.Args)
		return
	}
	if ctx["action"] != "run" || ctx["root"] != env.Root || ctx["workspace_id"] != "abcde" ||
		tl["name"] != c.Name || tl["options"] == nil {
		t.Errorf("%s: %v %v", c.Name, ctx, tl)
	}
}

// TestSubsumes checks the protocol of RFD 036: the input of the tool, and that only its explicit
// answer counts.
func TestSubsumes(t *testing.T) {
	env, rec := environment(t)
	script := `case "$1" in *'"action":"subsumes"'*) ;; *) echo "unasked: $1"; exit 0;; esac
case "$1" in
	*'"arguments":{"earlier":{"n":1},"later":{"n":2}}'*) echo '{"type":"success","content":"true"}';;
	*'"later":{"n":3}'*) echo '{"type":"error","message":"no"}';;
	*'"later":{"n":4}'*) exit 3;;
	*) echo '{"type":"success","content":"false"}';;
esac
`
	if err := os.WriteFile(filepath.Join(env.Root, "script"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	subsuming := newTool(t, env, `{"source":"local","command":"sh script {{tool}}"}`).(*Tool)
	for later, want := range map[string]bool{
		`{"n":2}`: true, `{"n":1}`: false, `{"n":3}`: false, `{"n":4}`: false,
	} {
		got, err := subsuming.Subsumes(t.Context(), jsontext.Value(`{"n":1}`), jsontext.Value(later))
		if err != nil || got != want {
			t.Errorf("%s: %t, %v", later, got, err)
		}
	}
	rec.refuse = errors.New("not approved")
	if _, err := subsuming.Subsumes(t.Context(), nil, nil); !errors.Is(err, rec.refuse) {
		t.Errorf("error is %v", err)
	}
}

// A hanging starts processes that do not end by themselves.
type hanging struct{}

func (hanging) Start(ctx context.Context, _ tool.Command) (tool.Process, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSubsumesIsBounded checks that a tool that does not answer is ended.
func TestSubsumesIsBounded(t *testing.T) {
	env, _ := environment(t)
	env.Starter = hanging{}
	asked := newTool(t, env, `{"source":"local","command":"sh script {{tool}}"}`).(*Tool)
	synctest.Test(t, func(t *testing.T) {
		if _, err := asked.Subsumes(t.Context(), nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}
