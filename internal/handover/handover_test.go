package handover_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/go-json-experiment/json/jsontext"
)

var dialects = map[sessions.Agent]sessions.Dialect{
	sessions.ClaudeCode: claude.Dialect{}, sessions.Codex: codex.Dialect{},
}

// reader reads the contents that an import wrote.
type reader struct{ sessionstest.Contents }

func (r reader) Read(ref blobs.Ref) ([]byte, error) {
	if b, ok := r.Contents[ref.Hash]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

const (
	root = "/home/ann/src"
	home = "/home/ann"
)

func conversation(c *sessions.Conversation, kept sessionstest.Contents) handover.Conversation {
	return handover.Conversation{
		ID: 17528832001, Stream: c.Stream, Details: c.Details, BaseConfig: c.BaseConfig,
		Contents: reader{kept}, Root: root,
		Places: sessions.Places{Home: home, Getenv: func(string) string { return "" }},
	}
}

// gist returns the messages in a form in which two conversations can be compared. Reasoning that is
// not in both is left out.
func gist(t *testing.T, c handover.Conversation, without ...string) (all []string) {
	t.Helper()
	base, err := settings.Parse(c.BaseConfig, 0)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := query.Messages(query.Source{
		View: query.View(c.Stream), Contents: c.Contents, Base: base, Root: root,
		Setup: query.Setup{Speaker: jpconfig.Speaker},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range llm.UniqueIDs(messages, wire.WordRule(64)) {
		for _, p := range m.Parts {
			text := strings.NewReplacer("$WORKSPACE", root, "$HOME", home).Replace(said(p))
			if text != "" {
				all = append(all, string(m.Role)+" "+text)
			}
		}
	}
	return all
}

func said(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return "says " + strings.TrimSpace(p.Text)
	case llm.Call:
		args := jsontext.Value(bytes.Clone(p.Args))
		_ = args.Canonicalize() // an object, by [query.Build]
		return "calls " + p.ID + " " + p.Name + " " + string(args)
	case llm.Result:
		var texts []string
		for _, inner := range p.Parts {
			texts = append(texts, said(inner))
		}
		return "results " + p.CallID + " " + strings.Join(texts, "|")
	case llm.Resource:
		if p.Bytes == nil {
			return "says " + strings.TrimSpace(p.Text)
		}
		return fmt.Sprintf("shows %s %x", p.MIME, p.Bytes)
	case llm.Media:
		return fmt.Sprintf("shows %s %x", p.MIME, p.Bytes)
	case llm.Reasoning:
		if p.Metadata.Len() == 0 {
			return ""
		}
	}
	return ""
}

// again writes a conversation for an agent and reads what the agent would have.
func again(t *testing.T, agent sessions.Agent, c handover.Conversation) (*handover.Session, handover.Conversation) {
	t.Helper()
	out, err := handover.Write(agent, c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(out.Path))
	if err := os.WriteFile(path, out.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	if !dialects[agent].Recognize(out.Data) {
		t.Errorf("%s does not know its own", agent)
	}
	listed, err := dialects[agent].List(t.Context(), path)
	if err != nil || len(listed) != 1 {
		t.Fatalf("%d sessions: %v", len(listed), err)
	}
	s := listed[0]
	if s.Name != (sessions.Name{Agent: agent, ID: out.ID}) || s.Dir != root {
		t.Errorf("it is %v in %s, and was written as %s in %s", s.Name, s.Dir, out.ID, root)
	}
	all, kept := sessionstest.Read(t, dialects[agent], s, sessions.Options{Root: root, Home: home})
	if len(all) != 1 {
		t.Fatalf("%d conversations", len(all))
	}
	if all[0].Report.Broken != nil {
		t.Errorf("broken lines: %v", all[0].Report.Broken)
	}
	return out, conversation(all[0], kept)
}

// Recordings of agents, written for each agent that takes sessions and read again, have the same
// messages.
func TestWhatWasSaidStays(t *testing.T) {
	tried := 0
	for from, d := range dialects {
		names, err := filepath.Glob("../sessions/testdata/recorded/" + string(from) + "/*/.c*/*/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range names {
			_ = filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
				if err != nil || filepath.Ext(name) != ".jsonl" {
					return err
				}
				listed, err := d.List(t.Context(), name)
				if err != nil || len(listed) == 0 {
					t.Fatalf("%s: %v", name, err)
				}
				all, kept := sessionstest.Read(t, d, listed[0], sessions.Options{Root: listed[0].Dir})
				for to := range dialects {
					tried++
					in := conversation(all[0], kept)
					_, out := again(t, to, in)
					if was, is := gist(t, in), gist(t, out); !slices.Equal(was, is) {
						t.Errorf("%s for %s was\n%s\nand is\n%s", name, to,
							strings.Join(was, "\n"), strings.Join(is, "\n"))
					}
				}
				return nil
			})
		}
	}
	if tried < 30 {
		t.Errorf("only %d conversations", tried)
	}
}

var start = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// made returns a conversation of our own with content that agents have no form for.
func made(t *testing.T, extra ...*events.Element) handover.Conversation {
	t.Helper()
	kept := sessionstest.Contents{}
	content := func(b string) blobs.Content {
		ref, _ := kept.Write([]byte(b)) // it only records
		return blobs.Refer(ref)
	}
	signed := events.Metadata{}.WithText(llm.MetadataAnthropicSignature, "c2ln")
	sealed := events.Metadata{}.WithText(llm.MetadataOpenAIEncrypted, "c2VhbGVk")
	element := func(e events.Event, md events.Metadata) *events.Element {
		return events.NewElement(start, e, md)
	}
	think := func(text string, md events.Metadata) *events.Element {
		return element(&events.ChatResponse{Form: events.FormReasoning, Text: text}, md)
	}
	none := events.Metadata{}
	all := []*events.Element{
		element(&events.TurnStart{}, none),
		element(&events.ChatRequest{Content: "Look in $HOME.", Resources: []events.Resource{
			{URI: "file:///$WORKSPACE/a.txt", Content: content("alpha")},
			{URI: "attachment:1", MIMEType: "image/png", Content: content("\x89PNG")},
			{URI: "file:///$WORKSPACE/b.pdf", MIMEType: "application/pdf", Content: content("%PDF\x00")},
			{URI: "file:///$WORKSPACE/c.wav", MIMEType: "audio/wav", Content: content("RIFF\x00")},
		}}, none),
		think("unsigned", none), think("$HOME is signed", signed), think("sealed", sealed),
		element(&events.ToolCallRequest{
			ID: "1", Name: "read", Arguments: jsontext.Value(`{"path":"$HOME/x"}`),
		}, none),
		element(&events.ToolCallRequest{
			ID: "2", Name: "apply_patch", Arguments: jsontext.Value(`{"input":"*** Begin"}`),
		}, none),
		element(&events.ToolCallResponse{ID: "1", Blocks: []events.Block{
			{Type: events.BlockResource, Resource: &events.Resource{
				URI: "file:///$WORKSPACE/a.txt", Content: content("alpha"),
			}},
			{Type: events.BlockImage, MIMEType: "image/png", Content: content("\x89PNG")},
		}}, none),
	}
	all = append(append(all, extra...),
		element(&events.ChatResponse{Form: events.FormMessage, Text: "Done."}, none),
		think("to nothing", signed))
	title := "Look"
	return handover.Conversation{
		ID: 17528832001, Stream: events.New(all...), Details: &events.Details{Title: &title},
		BaseConfig: []byte(`{"assistant":{"model":{"id":{"provider":"anthropic","name":"claude-x"}}}}`),
		Contents:   reader{kept}, Root: root,
		Places: sessions.Places{Home: home, Getenv: func(string) string { return "" }},
	}
}

func TestClaude(t *testing.T) {
	s, err := handover.Write(sessions.ClaudeCode, made(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := home + "/.claude/projects/-home-ann-src/" + s.ID + ".jsonl"; s.Path != want {
		t.Errorf("it is in %s, not %s", s.Path, want)
	}
	for _, want := range []string{
		`"customTitle":"Look"`, `"parentUuid":null`, `"type":"image"`, `"type":"document"`,
		`"thinking":"$HOME is signed","signature":"c2ln"`, `"cwd":"` + root + `"`,
		`[resource file:///home/ann/src/c.wav (audio/wav, 5 bytes)]`,
		`"tool_use_id":"2"`, `"is_error":true`, `Look in $HOME.`,
	} {
		if !bytes.Contains(s.Data, []byte(want)) {
			t.Errorf("it has no %s", want)
		}
	}
	for _, no := range []string{"unsigned", "sealed", "to nothing", "attachment:"} {
		if bytes.Contains(s.Data, []byte(no)) {
			t.Errorf("it has %q", no)
		}
	}
	want := map[string]int{
		"audio/wav": 1, "reasoning without a signature": 2, "reasoning that led to nothing": 1,
	}
	if !maps.Equal(s.Left, want) {
		t.Errorf("left out: %v, not %v", s.Left, want)
	}
}

func TestCodex(t *testing.T) {
	c := made(t)
	c.BaseConfig = []byte(`{"assistant":{"model":{"id":{"provider":"openai","name":"gpt-5"}}}}`)
	s, err := handover.Write(sessions.Codex, c)
	if err != nil {
		t.Fatal(err)
	}
	at := c.Details.CreatedAt(c.ID).UTC()
	want := home + at.Format("/.codex/sessions/2006/01/02/rollout-2006-01-02T15-04-05-") + s.ID + ".jsonl"
	if s.Path != want {
		t.Errorf("it is in %s, not %s", s.Path, want)
	}
	for _, want := range []string{
		`"input_image"`, `"encrypted_content":"c2VhbGVk"`, `"type":"custom_tool_call"`,
		`"type":"custom_tool_call_output","call_id":"2"`, `"input":"*** Begin"`,
		`"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"alpha"},{"type":"input_image"`,
		`"type":"user_message"`, `"type":"agent_message"`, `(application/pdf, 5 bytes)`,
	} {
		if !bytes.Contains(s.Data, []byte(want)) {
			t.Errorf("it has no %s", want)
		}
	}
	left := map[string]int{
		"audio/wav": 1, "application/pdf": 1, "reasoning without a signature": 3,
	}
	if !maps.Equal(s.Left, left) {
		t.Errorf("left out: %v, not %v", s.Left, left)
	}
}

// The id follows from the conversation: the same conversation has the same id, a changed one
// another.
func TestID(t *testing.T) {
	for agent := range dialects {
		first, err := handover.Write(agent, made(t))
		if err != nil {
			t.Fatal(err)
		}
		second, err := handover.Write(agent, made(t))
		if err != nil || second.ID != first.ID || !bytes.Equal(second.Data, first.Data) {
			t.Errorf("%s: %s and then %s: %v", agent, first.ID, second.ID, err)
		}
		more, err := handover.Write(agent, made(t, events.NewElement(start,
			&events.ChatResponse{Form: events.FormMessage, Text: "More."}, events.Metadata{})))
		if err != nil || more.ID == first.ID {
			t.Errorf("%s: %s for another conversation: %v", agent, more.ID, err)
		}
	}
}

// Directories that an import replaced in texts are restored to this machine's, but not in signed
// text.
func TestPlaces(t *testing.T) {
	c := made(t)
	c.Details.Labels = map[string]string{sessions.LabelSession: "claude-code-1"}
	s, err := handover.Write(sessions.ClaudeCode, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Look in /home/ann.", `{"path":"/home/ann/x"}`, "$HOME is signed",
	} {
		if !bytes.Contains(s.Data, []byte(want)) {
			t.Errorf("it has no %s", want)
		}
	}
}

// In a conversation of our own that holds for the messages of an agent that continued it.
func TestPlacesBehindAnExport(t *testing.T) {
	imported := events.Metadata{}.WithText(events.MetadataSource, "1")
	c := made(t, events.NewElement(start, &events.ChatResponse{
		Form: events.FormMessage, Text: "It is in $HOME/y.",
	}, imported))
	s, err := handover.Write(sessions.ClaudeCode, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Look in $HOME.", `{"path":"$HOME/x"}`, "It is in /home/ann/y."} {
		if !bytes.Contains(s.Data, []byte(want)) {
			t.Errorf("it has no %s", want)
		}
	}
}

func TestRefuses(t *testing.T) {
	if _, err := handover.Write(sessions.Gemini, made(t)); err == nil {
		t.Error("Gemini CLI takes sessions")
	}
	c := made(t)
	c.Stream = events.New()
	if _, err := handover.Write(sessions.Codex, c); err == nil {
		t.Error("nobody asked anything")
	}
	c = made(t)
	c.Root = "/" + strings.Repeat("long/", 50)
	if _, err := handover.Write(sessions.ClaudeCode, c); err == nil {
		t.Error("nobody knows the directory")
	}
}
