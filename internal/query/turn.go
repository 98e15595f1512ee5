package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultCycles   = 200
	defaultContinue = 5
	// maxResumed limits how often one turn requests the rest of answers whose connection was lost.
	maxResumed = 3
)

// MetadataInterrupted marks a message that is incomplete.
const MetadataInterrupted = events.MetadataPrefix + "interrupted"

// ErrCycles is the error for a model that keeps calling tools.
var ErrCycles = errors.New("the model keeps calling tools")

// Tools runs the calls of a model. *tool.Executor implements it.
type Tools interface {
	Definitions() []tool.Definition
	Run(
		ctx context.Context, calls []tool.Call, arrived func(i int, r tool.Result) error,
	) ([]tool.Result, error)
}

// A Watcher shows the progress of a turn. Its methods are called from one goroutine at a time.
type Watcher interface {
	// Sending is called before a request is sent.
	Sending(r *llm.Request)
	// Delta is called with every step of an answer.
	Delta(d llm.Delta)
	// Saved is called with every event after it was saved.
	Saved(e *events.Element)
	// Notice is called with messages for the user.
	Notice(text string)
}

// A Turn is one question, its answer, and everything between them.
type Turn struct {
	Record Record           // required
	Model  llm.Model        // required
	Now    func() time.Time // required; called from several goroutines at once
	Tools  Tools            // nil for none
	Setup  Setup
	Base   settings.Config // base configuration of the conversation
	Dedup  dedup.Options   // without URI, which is derived from Root
	Trim   *Trim           // nil trims nothing
	Root   string          // of the workspace
	// Session names the conversation for providers that route by it, "" before it has a name. It
	// may be nil.
	Session func() string
	Watch   Watcher // nil for none
	Cycles  int     // limit of requests; 0 for the default
	// Continue limits how often an answer that was cut off at its limit is continued: 0 for five
	// times, negative for never, if the model continues by itself.
	Continue int
	// Asker is the person who answers the questions of tools; nil for nobody.
	Asker tool.Asker
	// Assistant returns the model for a question whose target names a model by settings; it is
	// called with the target from the tool's configuration. If it is nil or returns nil, the model
	// of the turn answers.
	Assistant func(target jsontext.Value) (llm.Model, error)
	Control   *Control // nil if nothing interrupts
	// Resume requests the rest of an answer that was cut off after some of it was shown. If false,
	// such an answer is a [*PartialError].
	Resume bool
	// Budget limits the cost of the turn; nil computes none.
	Budget *Budget
}

// An AskedError is the error of a turn whose question is in the conversation.
type AskedError struct{ Err error }

// Error implements error.
func (e *AskedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AskedError) Unwrap() error { return e.Err }

// A PartialError says that an answer was cut off after some of it was shown. That part is saved.
type PartialError struct{ Err error }

// Error implements error.
func (e *PartialError) Error() string { return e.Err.Error() + "; the partial answer is saved" }

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error { return e.Err }

// An EmptyError says that a model ended a turn without an answer.
type EmptyError struct {
	Model string
	Stop  llm.Stop
}

// Error implements error.
func (e *EmptyError) Error() string {
	return e.Model + " ended without an answer" + because(e.Stop)
}

// because returns the provider's words for the reason of an end that is not a regular one.
func because(s llm.Stop) (why string) {
	if s.Reason != llm.StopOther {
		return ""
	}
	if s.Native != "" {
		why = " (" + s.Native + ")"
	}
	if s.Explanation != "" {
		why += ": " + s.Explanation
	}
	return why
}

// A Prompt opens a turn.
type Prompt struct {
	Delta   jsontext.Value      // a change of the configuration; nil or {} for none
	Request *events.ChatRequest // nil asks what the record ends with
	// Attached are the attachments whose resources the request has.
	Attached []string
}

// An Answer is the result of a turn.
type Answer struct {
	Text  string         // the last message
	Data  jsontext.Value // if a schema was requested
	Usage llm.Usage      // of all requests
	Cost  float64        // of all requests, in USD, by the budget
	Saved int64          // bytes that deduplication saved in the last request
	// Ended says that the user ended the turn, through its Control.
	Ended bool
	// Dropped says that the partial answer was discarded as well.
	Dropped bool
}

// Run asks, and returns once the model has answered. With an error it returns the partial answer;
// the record has every completed event.
func (t *Turn) Run(ctx context.Context, p Prompt) (Answer, error) {
	s := &session{
		planner: planner{Turn: t}, watch: t.Watch, control: t.Control, first: first(p),
	}
	if s.watch == nil {
		s.watch = silent{}
	}
	if s.control == nil {
		s.control = new(Control)
	}
	err := s.takes(p)
	if err == nil {
		err = s.affords(p)
	}
	if err == nil {
		err = s.open(p)
	}
	if err != nil {
		return s.answer, err
	}
	err = s.ask(ctx)
	// The file may be an older one since the last save, see held.restore.
	if again := s.keep("the answer", func(*events.Stream) error { return nil }); err == nil {
		err = again
	}
	return s.answer, err
}

// ask sends requests until the model has answered.
func (s *session) ask(ctx context.Context) error {
	limit := cmp.Or(s.Cycles, defaultCycles)
	for range limit {
		if done, err := s.cycle(ctx); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("ask %s: %w, after %d requests", s.Model.ID(), ErrCycles, limit)
}

// Explain returns the request that Run would send first, and its plan. It saves nothing.
func (t *Turn) Explain(p Prompt) (*llm.Request, *dedup.Plan, error) {
	s := &session{planner: planner{Turn: t}}
	view, plan, err := s.foresee(p)
	if _, crowded := errors.AsType[*CrowdedError](err); err != nil && !crowded {
		return nil, nil, err
	}
	r, err := s.build(view, plan)
	return r, plan, err
}

// foresee plans the first request of a turn that is not saved yet.
func (s *session) foresee(p Prompt) (*events.Stream, *dedup.Plan, error) {
	stream := s.Record.Stream().Clone()
	stream.Append(s.elements(p)...)
	s.prior = s.Record.Stream()
	return s.prepare(stream)
}

// Forgotten reports whether the provider has certainly no cache of the conversation, because it
// expired or nothing was sent.
func (t *Turn) Forgotten() bool {
	p := planner{Turn: t, prior: t.Record.Stream()}
	// Without a Trim, the lifetime of the provider's cache is unknown.
	return p.prior.Len() == 0 || t.Trim != nil && p.cold()
}

type silent struct{}

func (silent) Sending(*llm.Request)  {}
func (silent) Delta(llm.Delta)       {}
func (silent) Saved(*events.Element) {}
func (silent) Notice(string)         {}

// A session is a running turn.
type session struct {
	planner
	watch   Watcher
	control *Control
	first   events.ChatRequest // the request that opened the turn

	// mu is held while something is saved and reported: the calls of a batch can ask questions side
	// by side.
	mu     sync.Mutex
	asked  map[string]int // how often each was asked, by the id of its inquiry
	answer Answer

	view      *events.Stream // of the next request, if planned already
	planned   *dedup.Plan
	cycles    int
	resumed   int // answers whose connection was lost
	limited   int // answers that were cut off at their limit
	repaired  bool
	continued *continued // the message that the next one continues

	untaken map[string]bool // attachments that no model accepts, by their names

	told int64 // estimated tokens of the conversation in the request
}

// first returns the request of a prompt: a reply during the turn has the same author, and asks for
// an answer of the same form.
func first(p Prompt) events.ChatRequest {
	if p.Request == nil {
		return events.ChatRequest{}
	}
	return *p.Request
}

// takes returns an error if the model cannot accept the attachments. It runs before the question is
// saved, which else would stay as a turn that no model can answer.
func (s *session) takes(p Prompt) error {
	if p.Request == nil || len(p.Request.Resources) == 0 {
		return nil
	}
	view, plan, err := s.foresee(p)
	if err != nil {
		return err
	}
	for {
		r, err := s.build(view, plan)
		if err != nil {
			return err
		}
		err = llm.Takes(s.Model, r)
		if err == nil || !s.leftOut(err) {
			return err
		}
	}
}

// open saves the question, with the decisions about its request.
func (s *session) open(p Prompt) error {
	elems := s.elements(p)
	return s.keep("the question", func(stream *events.Stream) error {
		s.prior = stream.Clone()
		stream.Append(elems...)
		return s.decide(stream)
	}, elems...)
}

// elements returns what a prompt adds to a stream.
func (t *Turn) elements(p Prompt) []*events.Element {
	var all []*events.Element
	add := func(ev events.Event, md events.Metadata) {
		all = append(all, events.NewElement(t.Now(), ev, md))
	}
	if len(p.Delta) > 0 && string(p.Delta) != "{}" {
		add(&events.ConfigDelta{Delta: p.Delta}, events.Metadata{})
	}
	if p.Request != nil {
		add(&events.TurnStart{}, events.Metadata{})
		var md events.Metadata
		if len(p.Request.Resources) > 0 {
			md = withAttached(md, p.Attached)
		}
		add(p.Request, md)
	}
	return all
}

// decide plans the next request and stores the decisions in the stream, so that the following
// request has the same text.
func (s *session) decide(stream *events.Stream) error {
	view, plan, err := s.prepare(stream)
	if err != nil {
		return err
	}
	s.view, s.planned = view, plan
	return nil
}

func (s *session) build(view *events.Stream, plan *dedup.Plan) (*llm.Request, error) {
	src := Source{
		View: view, Plan: plan, Contents: s.Record.Contents(), Base: s.Base, Setup: s.Setup,
		Root: s.Root, Untaken: s.untaken,
	}
	if s.Session != nil {
		src.Session = s.Session()
	}
	if s.Tools != nil {
		src.Tools = s.Tools.Definitions()
	}
	if s.cycles > 0 && src.Setup.Choice.Mode != llm.ChoiceNone {
		src.Setup.Choice = llm.ToolChoice{} // forced once; again would never end
	}
	return Build(src)
}

// request returns the next request. The decisions about it are saved.
func (s *session) request() (*llm.Request, error) {
	if s.view == nil {
		if err := s.Record.Save(s.decide); err != nil {
			return nil, notSaved("what is sent", err)
		}
	}
	for _, text := range s.notices {
		s.watch.Notice(text)
	}
	view, plan := s.view, s.planned
	s.view, s.planned, s.notices = nil, nil, nil
	s.told = compact.Told(view, plan)
	s.answer.Saved = plan.Saved()
	return s.build(view, plan)
}

// cycle sends one request and receives its answer. It returns true if the turn is over.
func (s *session) cycle(ctx context.Context) (done bool, err error) {
	r, err := s.request()
	if err == nil {
		err = s.afford(r)
	}
	if err != nil {
		return false, err
	}
	s.watch.Sending(r)
	h := &recorder{session: s, continued: s.continued, request: s.sending()}
	h.request.Size = s.told
	s.continued = nil
	s.cycles++
	during, end := s.control.begin(ctx, PhaseAnswer)
	err = h.listen(during, r)
	s.sent = s.Now()
	wish := end()
	if text := h.text(); text != "" {
		s.answer.Text = text
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return false, errors.Join(context.Cause(ctx), h.fault(err))
	case wish.Act != 0 && !h.unsaved:
		return s.obey(h, wish)
	case s.leftOut(err), s.shrink(err):
		s.cycles--
		return false, nil
	case err != nil:
		return s.broken(ctx, h, err)
	}
	s.overflowed = nil
	switch h.stop.Reason {
	case llm.StopRefusal:
		return false, s.refused(h)
	case llm.StopOverflow:
		return false, &llm.OverflowError{Model: s.Model.ID()}
	}
	if len(h.calls) > 0 {
		return s.call(ctx, h.calls)
	}
	if h.stop.Reason == llm.StopMaxTokens {
		return s.cut(h), nil
	}
	if r.Schema != nil {
		return s.structured(h, r.Schema)
	}
	return true, s.ended(h)
}

// ended reports an end that the user would not see: no answer, or an answer that is not complete.
// After calls of tools a model may have nothing to add to what it said before them.
func (s *session) ended(h *recorder) error {
	switch {
	case !h.answered && s.answer.Text == "":
		return &EmptyError{Model: s.Model.ID(), Stop: h.stop}
	case h.stop.Reason == llm.StopOther:
		s.watch.Notice("the answer ended early" + because(h.stop))
	}
	return nil
}

// obey applies the wish that interrupted an answer. The answer may have ended regardless.
func (s *session) obey(h *recorder, w Wish) (done bool, err error) {
	if w.Act == ActAbort {
		s.answer.Ended, s.answer.Dropped = true, true
		return true, s.keep("what is left", func(stream *events.Stream) error {
			s.answer.Text = h.takeBack(stream)
			return nil
		})
	}
	if err := s.batch(h.calls).close(); err != nil {
		return false, err
	}
	if w.Act != ActReply {
		s.answer.Ended = true
		return true, nil
	}
	reply := events.NewElement(s.Now(), &events.ChatRequest{
		Content: w.Reply, Author: s.first.Author, Schema: s.first.Schema,
	}, events.Metadata{})
	return false, s.keep("the reply", func(stream *events.Stream) error {
		stream.Append(reply)
		return s.decide(stream)
	}, reply)
}

// notSaved names what could not be saved. A request that is too large is no fault of the disk.
func notSaved(what string, err error) error {
	if crowded, ok := errors.AsType[*CrowdedError](err); ok {
		return crowded
	}
	return fmt.Errorf("save %s: %w", what, err)
}

// keep saves a change and reports the added elements to the watcher.
func (s *session) keep(
	what string, change func(*events.Stream) error, added ...*events.Element,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Record.Save(change); err != nil {
		return notSaved(what, err)
	}
	for _, e := range added {
		s.watch.Saved(e)
	}
	return nil
}

// spent adds the usage of a request.
func (s *session) spent(u llm.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer.Usage = s.answer.Usage.Add(u)
	if s.Budget != nil {
		s.answer.Cost += s.Budget.Cost(u)
	}
}

// leftOut reports whether nothing was sent because of an attachment that no model could read. It
// then passes that attachment by its name only, now and in later turns: one file of a directory
// must not stop the question. For a picture, the error asks the user for another model.
func (s *session) leftOut(err error) bool {
	no := new(llm.UnsupportedError)
	if !errors.As(err, &no) || no.Name == "" || s.untaken[no.Name] || looksAt(no.What) {
		return false
	}
	if s.untaken == nil {
		s.untaken = map[string]bool{}
	}
	s.untaken[no.Name] = true
	s.watch.Notice(no.Error() + "; the model gets only its name")
	return true
}

// looksAt reports whether there are models that accept content of a type.
func looksAt(mime string) bool {
	kind, _, _ := strings.Cut(mime, "/")
	return kind == "image" || kind == "audio" || kind == "video" || llm.IsPDF(mime) ||
		!strings.Contains(mime, "/")
}

// broken handles an answer whose connection was lost: it requests the rest if that may help.
func (s *session) broken(ctx context.Context, h *recorder, err error) (done bool, _ error) {
	said := len(h.saved.sums) > 0
	if !said || h.unsaved || !llm.Retryable(err) || s.resumed == maxResumed {
		return false, err
	}
	if !s.Resume {
		return false, &PartialError{err}
	}
	s.resumed++
	s.watch.Notice(fmt.Sprintf("%v; asking for the rest", err))
	if len(h.calls) > 0 {
		return s.call(ctx, h.calls)
	}
	s.continued = h.end()
	return false, nil
}

// cut continues an answer that was cut off at its limit, and returns true if it does not.
func (s *session) cut(h *recorder) (done bool) {
	limit := cmp.Or(s.Continue, defaultContinue)
	if s.continued = h.end(); s.continued == nil || s.limited >= limit {
		s.continued = nil
		s.watch.Notice("the answer was cut off at its limit")
		return true
	}
	s.limited++
	return false
}

// refused removes the refused answer: a provider requires that it is not sent again. The text from
// before it was continued was not part of the refusal, and stays.
func (s *session) refused(h *recorder) error {
	err := s.Record.Save(func(stream *events.Stream) error {
		s.answer.Text = h.takeBack(stream)
		return nil
	})
	return errors.Join(&llm.RefusalError{
		Model: s.Model.ID(), Category: h.stop.Category, Explanation: h.stop.Explanation,
	}, err)
}

// structured validates an answer by the schema. The model may correct it once.
func (s *session) structured(h *recorder, schema jsontext.Value) (done bool, err error) {
	data, err := conforms(h.said, schema)
	if err == nil {
		s.answer.Data = data
		return true, nil
	}
	if s.repaired {
		return false, &SchemaError{Model: s.Model.ID(), Err: err}
	}
	s.repaired = true
	s.watch.Notice(fmt.Sprintf("the answer does not follow the schema, asking again: %v", err))
	again := events.NewElement(s.Now(), &events.ChatRequest{
		Content: fmt.Sprintf("Your answer does not follow the schema: %v. Answer again, with"+
			" nothing but JSON that follows it.", err),
		Schema: schema,
	}, events.Metadata{})
	return false, s.keep("what is asked again", func(stream *events.Stream) error {
		stream.Append(again)
		return s.decide(stream)
	}, again)
}
