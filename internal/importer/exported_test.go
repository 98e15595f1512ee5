package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/workspace"
)

// resumable has the agents for which conversations can be exported.
var resumable = []sessions.Dialect{claude.Dialect{}, codex.Dialect{}}

// clock is later than everything that is exported here.
var clock = time.Date(2027, 1, 1, 10, 0, 0, 0, time.UTC)

// An exported session is an exported conversation that an agent continues in a file.
type exported struct {
	sessions.Dialect
	path  string
	turns int
}

// export exports a conversation for an agent.
func export(t *testing.T, w *workspace.Workspace, id events.ID, d sessions.Dialect) *exported {
	t.Helper()
	c := loaded(t, w, id)
	s, err := handover.Write(d.Agent(), handover.Conversation{
		ID: id, Stream: c.Stream, Details: c.Details, BaseConfig: c.BaseConfig,
		Contents: w.BlobsOf(c.Entry), Root: w.Root(),
		Places: sessions.Places{Home: "/home/ada", Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := &exported{Dialect: d, path: filepath.Join(t.TempDir(), filepath.Base(s.Path))}
	x.write(t, s.Data)
	return x
}

func (x *exported) write(t *testing.T, data []byte) {
	t.Helper()
	if err := os.WriteFile(x.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (x *exported) data(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(x.path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (x *exported) session(t *testing.T) sessions.Session {
	t.Helper()
	found, err := x.List(t.Context(), x.path)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d sessions, %v", len(found), err)
	}
	return found[0]
}

var uuid = regexp.MustCompile(`"uuid":"([^"]+)"`)

// last returns the uuid of the nth record from the end.
func (x *exported) last(t *testing.T, n int) string {
	t.Helper()
	all := uuid.FindAllStringSubmatch(string(x.data(t)), -1)
	return all[len(all)-n][1]
}

// asks appends a question as the agent does, and an answer if there is one.
func (x *exported) asks(t *testing.T, question, answer string) {
	t.Helper()
	parent := ""
	if x.Agent() == sessions.ClaudeCode {
		parent = x.last(t, 1)
	}
	x.asksBehind(t, parent, question, answer)
}

func (x *exported) asksBehind(t *testing.T, parent, question, answer string) {
	t.Helper()
	x.turns++
	id, name := x.turns, x.session(t).Name.ID
	at := func(s int) string {
		return clock.Add(time.Duration(id*60+s) * time.Second).Format(time.RFC3339)
	}
	var out strings.Builder
	if x.Agent() == sessions.ClaudeCode {
		head := func(n int, parent string) string {
			return fmt.Sprintf(`"uuid":"00000000-0000-4000-8000-%04d%08d","parentUuid":%q,"sessionId":%q,`+
				`"timestamp":%q,"cwd":%q`, n, id, parent, name, at(n), x.session(t).Dir)
		}
		fmt.Fprintf(&out, `{"type":"mode","mode":"normal","sessionId":%q}`+"\n", name)
		fmt.Fprintf(&out, `{"type":"user",%s,"message":{"role":"user","content":%q}}`+"\n",
			head(1, parent), question)
		if answer != "" {
			fmt.Fprintf(&out, `{"type":"assistant",%s,"message":{"id":"m%d","model":"claude-y",`+
				`"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":%q}],`+
				`"usage":{"input_tokens":9,"output_tokens":4}}}`+"\n",
				head(2, fmt.Sprintf("00000000-0000-4000-8000-0001%08d", id)), id, answer)
		}
	} else {
		line := func(s int, kind, payload string) {
			fmt.Fprintf(&out, `{"timestamp":%q,"type":%q,"payload":{%s}}`+"\n", at(s), kind, payload)
		}
		// Like a UUID's, the last 12 digits are unique: they are the keys of its turns.
		turn := fmt.Sprintf(`"turn_id":"01a2085a-0000-7000-8000-7e57%08d"`, id)
		line(0, "event_msg", `"type":"thread_settings_applied","x":1`)
		line(0, "event_msg", `"type":"task_started",`+turn)
		line(0, "response_item", `"type":"message","role":"developer","content":[{"type":"input_text",`+
			`"text":"<permissions instructions>"}]`)
		line(0, "turn_context", turn+`,"model":"gpt-9"`)
		line(1, "response_item", fmt.Sprintf(
			`"type":"message","role":"user","content":[{"type":"input_text","text":%q}]`, question))
		line(1, "event_msg", fmt.Sprintf(`"type":"user_message","message":%q`, question))
		if answer != "" {
			line(2, "response_item", fmt.Sprintf(
				`"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]`, answer))
			line(2, "event_msg", `"type":"task_complete",`+turn)
		}
	}
	x.write(t, append(x.data(t), out.String()...))
}

// takes imports the session.
func (x *exported) takes(t *testing.T, im *Importer) Outcome {
	t.Helper()
	s := x.session(t)
	out, err := im.Import(t.Context(), x.Dialect, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func loaded(t *testing.T, w *workspace.Workspace, id events.ID) *workspace.Conversation {
	t.Helper()
	copies, err := w.Copies(id)
	if err != nil || len(copies) != 1 {
		t.Fatalf("%d directories of %s, %v", len(copies), id, err)
	}
	c, err := w.Load(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func count(t *testing.T, w *workspace.Workspace) int {
	t.Helper()
	all, err := w.AllCopies()
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// ours creates a conversation of jp with answered questions.
func ours(t *testing.T, w *workspace.Workspace, questions ...string) events.ID {
	t.Helper()
	s := events.New()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, q := range questions {
		at = ask(s, at, q)
	}
	e, err := w.Create(t.Context(), &workspace.NewConversation{
		ID: 17528832001, Details: &events.Details{LastActivatedAt: at}, Stream: s,
		BaseConfig: []byte(`{"assistant":{"name":"Ann","model":{"id":{"provider":"openai","name":"gpt-5"}}}}` + "\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// ask adds a turn to a stream.
func ask(s *events.Stream, at time.Time, question string) time.Time {
	none := events.Metadata{}
	s.Append(
		events.NewElement(at, &events.TurnStart{}, none),
		events.NewElement(at.Add(time.Millisecond), &events.ChatRequest{Content: question}, none),
		events.NewElement(at.Add(time.Second), &events.ChatResponse{
			Form: events.FormMessage, Text: "Answer to " + question,
		}, none))
	return at.Add(time.Minute)
}

func change(t *testing.T, w *workspace.Workspace, id events.ID, f func(*events.Stream)) {
	t.Helper()
	err := w.Update(t.Context(), id, func(c *workspace.Conversation) error {
		f(c.Stream)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// said returns the questions and answers, in order.
func said(s *events.Stream) (all []string) {
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			all = append(all, ev.Content)
		case *events.ChatResponse:
			all = append(all, ev.Text)
		}
	}
	return all
}

func raws(s *events.Stream) (all []string) {
	for _, e := range s.All() {
		all = append(all, string(e.Raw()))
	}
	return all
}
