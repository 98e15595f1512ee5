package llmtest

import (
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/google/go-cmp/cmp"
)

// A Player compares an adapter with a recorded conversation: it sends the recorded questions,
// answers calls with the recorded results, and compares the answers with the events that must be
// stored.
type Player struct {
	Format   wire.Format
	Cassette string // the recorded exchanges
	Snapshot string // the events that must be stored
	Chunk    func(int) int
	Model    func(at llm.Endpoint) llm.Model
	// Prepare completes a request, which has its messages, from the recorded body of its
	// first exchange: tools, choice, parameters, attachments.
	Prepare func(recorded []byte, r *llm.Request)
	// Same makes an expected and an actual event equal where they may differ; nil allows no
	// difference.
	Same func(want, got *Stored)
	// Bodies is called with the recorded and the sent body of each exchange; it may be nil.
	Bodies func(exchange int, recorded, sent []byte)
}

// Stored is an event of an answer in a comparable form.
type Stored struct {
	Kind     events.Kind
	Form     events.Form
	Text     string
	ID, Name string
	Metadata map[string]string
}

// Play plays the conversation.
func (p Player) Play(t *testing.T) {
	t.Helper()
	exchanges := Cassette(t, p.Cassette)
	server := Serve(t, Script(exchanges, p.Chunk)...)
	s := &session{p: p, t: t, exchanges: exchanges, server: server}
	s.model = p.Model(server.Endpoint(t, p.Format))
	for _, e := range Stream(t, p.Snapshot).All() {
		s.element(e)
	}
	s.finish()
	sent := server.Sent()
	if len(sent) != len(exchanges) {
		t.Errorf("%d exchanges, want the %d that were recorded", len(sent), len(exchanges))
	}
	for i := range min(len(sent), len(exchanges)) {
		if sent[i].Path != exchanges[i].Path || sent[i].Method != exchanges[i].Method {
			t.Errorf("exchange %d: %s %s, want %s %s", i,
				sent[i].Method, sent[i].Path, exchanges[i].Method, exchanges[i].Path)
		}
		if p.Bodies != nil {
			p.Bodies(i, exchanges[i].Request, sent[i].Body)
		}
	}
}

// A session is a conversation while it is played.
type session struct {
	p         Player
	t         *testing.T
	model     llm.Model
	exchanges []Exchange
	server    *Server
	messages  []llm.Message
	calls     []llm.Call // not answered yet
	asked     bool       // a question is not answered yet
	got       []Stored
	want      []Stored
}

// element processes the next event that must be stored.
func (s *session) element(e *events.Element) {
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		s.compare()
		s.user(llm.Text{Text: ev.Content})
	case *events.ToolCallResponse:
		s.compare()
		text, err := ev.Text(nil)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(s.calls) == 0 {
			s.t.Fatalf("the recorded result %q has no call", ev.ID)
		}
		call := s.calls[0]
		s.calls = s.calls[1:]
		s.user(llm.Result{
			CallID: call.ID, Name: call.Name, IsError: ev.IsError,
			Parts: []llm.Part{llm.Text{Text: text}},
		})
	case *events.ChatResponse, *events.ToolCallRequest:
		s.ask()
		s.want = append(s.want, stored(ev, e.Metadata()))
	}
}

func (s *session) user(p llm.Part) {
	s.messages = append(s.messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{p}})
	s.asked = true
}

func (s *session) finish() {
	s.ask()
	s.compare()
}

func (s *session) compare() {
	s.t.Helper()
	for i := range min(len(s.want), len(s.got)) {
		if s.p.Same != nil {
			s.p.Same(&s.want[i], &s.got[i])
		}
	}
	if diff := cmp.Diff(s.want, s.got); diff != "" {
		s.t.Errorf("stored (-want +got):\n%s", diff)
	}
	s.want, s.got = nil, nil
}

// ask sends the current question, unless it is answered.
func (s *session) ask() {
	s.t.Helper()
	if !s.asked {
		return
	}
	s.asked = false
	r := &llm.Request{Messages: append([]llm.Message(nil), s.messages...)}
	if n := len(s.server.Sent()); n < len(s.exchanges) && s.p.Prepare != nil {
		s.p.Prepare(s.exchanges[n].Request, r)
	}
	answer := Collect(s.model.Stream(s.t.Context(), r))
	if answer.Err != nil || len(answer.Faults) > 0 {
		s.t.Fatalf("the stream ends with %v, faults %q", answer.Err, answer.Faults)
	}
	s.answered(answer)
}

func (s *session) answered(answer Transcript) {
	m := llm.Message{Role: llm.RoleAssistant, Model: s.model.ID()}
	for _, d := range answer.Ends {
		s.got = append(s.got, stored(d.Event, d.Metadata))
		p := Replayed(d)
		m.Parts = append(m.Parts, p)
		if call, ok := p.(llm.Call); ok {
			s.calls = append(s.calls, call)
		}
	}
	s.messages = append(s.messages, m)
}

// Replayed returns the part for the next request that corresponds to a DeltaEnd.
func Replayed(d llm.Delta) llm.Part {
	switch ev := d.Event.(type) {
	case *events.ToolCallRequest:
		return llm.Call{ID: ev.ID, Name: ev.Name, Args: ev.Arguments, Metadata: d.Metadata}
	case *events.ChatResponse:
		switch ev.Form {
		case events.FormReasoning:
			return llm.Reasoning{Text: ev.Text, Metadata: d.Metadata}
		case events.FormData:
			return llm.Data{Value: ev.Data, Metadata: d.Metadata}
		default:
			return llm.Text{Text: ev.Text, Metadata: d.Metadata}
		}
	}
	return nil
}

func stored(ev events.Event, md events.Metadata) Stored {
	s := Stored{Kind: ev.Kind()}
	switch ev := ev.(type) {
	case *events.ChatResponse:
		s.Form, s.Text = ev.Form, ev.Text
		if ev.Form == events.FormData {
			s.Text = canonical(ev.Data)
		}
	case *events.ToolCallRequest:
		s.ID, s.Name, s.Text = ev.ID, ev.Name, canonical(ev.Arguments)
	}
	for _, k := range md.Keys() {
		if s.Metadata == nil {
			s.Metadata = map[string]string{}
		}
		v, _ := md.Value(k)
		s.Metadata[k] = canonical(v)
	}
	return s
}
