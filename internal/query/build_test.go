package query_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/google/go-cmp/cmp"
)

// said returns the messages of a request as text, a line for each part.
func said(r *llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "%s: %s\n", who(m), part(p))
		}
	}
	return b.String()
}

func who(m llm.Message) string {
	if m.Model == "" {
		return string(m.Role)
	}
	return m.Model
}

func part(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Reasoning:
		return fmt.Sprintf("(%s) %d", p.Text, p.Metadata.Len())
	case llm.Data:
		return "data " + string(p.Value)
	case llm.Call:
		return fmt.Sprintf("%s %s%s", p.ID, p.Name, p.Args)
	case llm.Resource:
		return fmt.Sprintf("<%s %s> %s", p.URI, p.MIME, p.Text)
	case llm.Result:
		var parts []string
		for _, q := range p.Parts {
			parts = append(parts, part(q))
		}
		return fmt.Sprintf("%s %s error=%t -> %s", p.CallID, p.Name, p.IsError,
			strings.Join(parts, " | "))
	default:
		return fmt.Sprintf("%T", p)
	}
}

// stream decodes elements that are given as their kind and members.
func stream(t *testing.T, elems ...string) *events.Stream {
	t.Helper()
	for i, e := range elems {
		kind, members, _ := strings.Cut(e, " ")
		if members != "" {
			members = "," + members
		}
		elems[i] = fmt.Sprintf(`{"timestamp":"2026-01-01 00:00:%02d.0","type":%q%s}`, i, kind, members)
	}
	s, err := events.Decode([]byte("[" + strings.Join(elems, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func call(id, path string) string {
	return fmt.Sprintf(`tool_call_request "id":%q,"name":"read","arguments":{"path":%q}`, id, b64(path))
}

func result(id, text string) string {
	return fmt.Sprintf(`tool_call_response "id":%q,"content":%q,"is_error":false`, id, b64(text))
}

func TestBuild(t *testing.T) {
	const ask = `chat_request "content":"q"`
	long := strings.Repeat("long ", 20)
	file := fmt.Sprintf(`{"uri":"file:///$WORKSPACE/a.txt","mimeType":"text/plain","content":{"text":%q}}`, long)
	for name, c := range map[string]struct {
		elems []string
		want  string
	}{
		"parallel calls, results mixed up and one not there": {
			[]string{
				"turn_start", ask, call("a", "1"), call("b", "2"), call("c", "3"),
				result("c", "third"), result("a", "first"),
			},
			`user: q
assistant: a read{"path":"1"}
assistant: b read{"path":"2"}
assistant: c read{"path":"3"}
user: a read error=false -> first
user: b read error=true -> Tool call was interrupted.
user: c read error=false -> third
`,
		},
		"turns of two branches": {
			[]string{
				"turn_start", `chat_request "content":"a"`, `chat_response "message":"1"`,
				"turn_start", `chat_request "content":"b"`, `chat_response "message":"2"`,
				`turn_start "metadata":{"git_jp_parent":[""]}`, `chat_request "content":"c"`,
				`chat_response "message":"3"`, "turn_start", `chat_request "content":"d"`,
			},
			"user: a\nassistant: 1\nuser: b\nassistant: 2\n" +
				"user: [This question was asked on another branch of the conversation, in parallel: it " +
				"and what answers it were written without knowledge of the 2 exchanges directly above.]\n" +
				"user: c\nassistant: 3\nuser: d\n",
		},
		"a turn that is parallel to a summary": {
			[]string{
				"turn_start", `chat_request "content":"a"`, `chat_response "message":"1"`,
				"turn_start", `chat_request "content":"b"`, `chat_response "message":"2"`,
				`turn_start "metadata":{"git_jp_parent":[""]}`, `chat_request "content":"c"`,
				`compaction "from_turn":0,"to_turn":1,"summary":{"summary":"s"}`,
			},
			"user: [Summary of previous conversation]\nassistant: s\nuser: c\n",
		},
		"a result after the next question": {
			[]string{"turn_start", ask, call("a", "1"), `chat_request "content":"and?"`, result("a", "late")},
			`user: q
assistant: a read{"path":"1"}
user: a read error=false -> late
user: and?
`,
		},
		"a killed turn and the next one": {
			[]string{"turn_start", ask, call("a", "1"), "turn_start", ask, call("a", "2"), result("a", "two")},
			`user: q
assistant: a read{"path":"1"}
user: a read error=true -> Tool call was interrupted.
user: q
assistant: a read{"path":"2"}
user: a read error=false -> two
`,
		},
		"a result that answers nothing": {
			[]string{"turn_start", ask, result("z", "what?"), `chat_response "message":"m"`, "turn_start", ask},
			"user: q\nassistant: m\nuser: q\n",
		},
		"an answer cut off": {
			[]string{"turn_start", ask, `chat_response "message":"so far"`},
			"user: q\nassistant: so far\nuser: " + goOn + "\n",
		},
		"models that change": {
			[]string{
				`config_delta "delta":{"assistant":{"model":{"id":"fast"}},"providers":{"llm":{"aliases":{"fast":"anthropic/haiku"}}}}`,
				"turn_start", ask,
				fmt.Sprintf(`chat_response "reasoning":"hm","metadata":{"anthropic_thinking_signature":%q}`, b64("s")),
				`chat_response "message":"m"`,
				`config_delta "delta":{"assistant":{"model":{"id":{"provider":"ollama","name":"qwen"}}}}`,
				`chat_response "message":"n"`, "turn_start", ask,
			},
			"user: q\nanthropic/haiku: (hm) 1\nanthropic/haiku: m\nollama/qwen: n\nuser: q\n",
		},
		"resources before the question, the second time as a reference": {
			[]string{
				"turn_start", `chat_request "content":"q","resources":[` + file + `]`,
				`chat_response "message":"m"`, "turn_start", ask,
				call("a", "a.txt"),
				`tool_call_response "id":"a","is_error":false,"content":[{"type":"resource","resource":` + file + `}]`,
			},
			"user: <file:///p/a.txt text/plain> " + long + "\nuser: q\nassistant: m\nuser: q\n" +
				"assistant: a read{\"path\":\"a.txt\"}\n" +
				"user: a read error=false -> The content of file:///$WORKSPACE/a.txt is identical to the " +
				"attachment at turn 1 (checksum: sha256:" + sum(long) + "). The file has not changed. " +
				"Refer to the attached content.\n",
		},
		"nothing that says nothing": {
			[]string{
				"turn_start", `chat_request "content":" "`, `chat_response "message":"\n"`,
				`chat_response "reasoning":""`, `chat_response "message":"m"`, `turn_start`, ask,
			},
			"user: (no text)\nassistant: m\nuser: q\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, stream(t, c.elems...))
			src.Root = "/p"
			r, err := query.Build(src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(r)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNothingAsked(t *testing.T) {
	_, err := query.Build(source(t, stream(t, "turn_start")))
	if !errors.Is(err, query.ErrNothingAsked) {
		t.Errorf("got %v", err)
	}
}

// speaker returns the model that a configuration names, as internal/jpconfig does.
func speaker(c settings.Config) string {
	s, ok := c.Setting("assistant", "model", "id")
	if !ok {
		return ""
	}
	var text string
	if json.Unmarshal(s.Value(), &text) == nil {
		if alias, ok := c.Setting("providers", "llm", "aliases", text); ok {
			_ = json.Unmarshal(alias.Value(), &text) // a table is ignored here
		}
		return text
	}
	var id struct{ Provider, Name string }
	if json.Unmarshal(s.Value(), &id) != nil {
		return ""
	}
	return id.Provider + "/" + id.Name
}

func TestWords(t *testing.T) {
	for word, want := range map[string]llm.ReasoningParams{
		"": {}, "off": {Mode: llm.ReasoningOff}, "auto": {Mode: llm.ReasoningAuto},
		"High": {Mode: llm.ReasoningEffort, Effort: llm.EffortHigh},
		"2000": {Mode: llm.ReasoningBudget, Budget: 2000}, "lots": {},
	} {
		if got := query.ParseReasoning(word); got != want {
			t.Errorf("reasoning %q is %+v, want %+v", word, got, want)
		}
	}
	for word, want := range map[string]llm.CachePolicy{
		"": {}, "short": {}, "off": {Off: true}, "long": {TTL: time.Hour},
		"45m": {TTL: 45 * time.Minute},
	} {
		if got := query.ParseCache(word); got != want {
			t.Errorf("cache %q is %+v, want %+v", word, got, want)
		}
	}
	for word, want := range map[string]llm.ToolChoice{
		"auto": {}, "none": {Mode: llm.ChoiceNone}, "required": {Mode: llm.ChoiceRequired},
		"git_commit": {Mode: llm.ChoiceTool, Name: "git_commit"},
	} {
		if got := query.ParseChoice(word); got != want {
			t.Errorf("choice %q is %+v, want %+v", word, got, want)
		}
	}
}

// TestAnAnswerOfAnAgentIsOneMessage verifies that calls which an agent made in one answer, and
// whose results it had one by one, are one message, and their results the next.
func TestAnAnswerOfAnAgentIsOneMessage(t *testing.T) {
	md := `"metadata":{"git_jp_source":"k"}`
	call := `"name":"Bash","arguments":{},`
	r, err := query.Build(source(t, stream(t,
		`chat_request "content":"q"`,
		`tool_call_request "id":"1",`+call+md,
		`tool_call_response "id":"1","content":"one","is_error":false,`+md,
		`tool_call_request "id":"2",`+call+md,
		`tool_call_response "id":"2","content":"two","is_error":false,`+md,
		`tool_call_request "id":"3",`+call+`"metadata":{"git_jp_source":"k","git_jp_usage":{"input":1,"output":1}}`,
		`tool_call_response "id":"3","content":"three","is_error":false,`+md,
		`chat_request "content":"and now?"`)))
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range r.Messages {
		roles = append(roles, fmt.Sprint(m.Role, len(m.Parts)))
	}
	if got := strings.Join(roles, " "); got != "user1 assistant3 user3 user1" {
		t.Errorf("the messages are %s:\n%s", got, said(r))
	}
}
