package query_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/google/go-cmp/cmp"
)

// said shows the messages of a request, a line for each part.
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

// stream decodes elements that are written as kind and members.
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

// settings is configuration as JSON.
type settings string

func (s settings) Decode(v any, path ...string) bool {
	raw := json.RawMessage(s)
	for _, key := range path {
		var table map[string]json.RawMessage
		if json.Unmarshal(raw, &table) != nil || table[key] == nil {
			return false
		}
		raw = table[key]
	}
	return json.Unmarshal(raw, v) == nil
}

func TestSetup(t *testing.T) {
	s := query.ReadSetup(settings(`{
		"assistant": {
			"system_prompt": "You help.\n",
			"system_prompt_sections": [
				{"content": "Write well.", "title": "Style", "position": 5},
				{"content": "a < b", "tag": "rules", "title": "R"},
				{"content": "plain"}
			],
			"instructions": [{"title": "How", "items": ["Be brief", "No <b>"], "position": -1}],
			"tool_choice": "required",
			"model": {"id": "opus", "parameters": {
				"max_tokens": 4000, "temperature": 0.5, "stop_words": ["END"],
				"reasoning": {"effort": "high", "exclude": true}}},
			"request": {"cache": "long"}
		},
		"providers": {"llm": {"aliases": {
			"opus": "claude", "claude": {"provider": "anthropic", "name": "claude-opus-5"}}}},
		"user": {"name": "Ada"}
	}`))
	want := []string{
		"You help.",
		"<instruction title=\"How\">\n- Be brief\n- <![CDATA[No <b>]]>\n</instruction>",
		"<rules title=\"R\">\n<![CDATA[a < b]]>\n</rules>",
		"plain",
		"# Style\n\nWrite well.",
	}
	if diff := cmp.Diff(want, s.System); diff != "" {
		t.Errorf("system (-want +got)\n%s", diff)
	}
	if s.Model != "anthropic/claude-opus-5" || s.Author != "Ada" || s.Choice.Mode != llm.ChoiceRequired {
		t.Errorf("got %+v", s)
	}
	p := s.Params
	if p.MaxTokens != 4000 || *p.Temperature != 0.5 || len(p.Stop) != 1 || s.Cache.TTL == 0 ||
		p.Reasoning != (llm.ReasoningParams{Mode: llm.ReasoningEffort, Effort: llm.EffortHigh, Exclude: true}) {
		t.Errorf("got %+v", p)
	}
}

func TestModelID(t *testing.T) {
	aliases := query.Aliases(settings(`{"providers":{"llm":{"aliases":{"a":"b","b":"a","c":"x/y"}}}}`))
	for v, want := range map[string]string{
		`"p/n"`: "p/n", `"c"`: "x/y", `"a"`: "", `"z"`: "", `3`: "", `{"provider":"p"}`: "",
	} {
		if got := query.ModelID([]byte(v), aliases); got != want {
			t.Errorf("%s: got %q, want %q", v, got, want)
		}
	}
}
