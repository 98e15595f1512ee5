package query

import (
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
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultCycles   = 200
	defaultContinue = 5
	// maxResumed is how often an answer that broke off is asked for again in one turn.
	maxResumed = 3
)

// MetadataInterrupted marks a message that was not said to its end.
const MetadataInterrupted = events.MetadataPrefix + "interrupted"

// ErrCycles is the error of a model that calls tools without end.
var ErrCycles = errors.New("the model goes on calling tools")

// Tools run what a model calls. *tool.Executor is one.
type Tools interface {
	Definitions() []tool.Definition
	Run(
		ctx context.Context, calls []tool.Call, arrived func(i int, r tool.Result) error,
	) ([]tool.Result, error)
}

// A Watcher is told what happens, as it happens, and shows it to somebody. Its methods are
// called from one goroutine at a time.
type Watcher interface {
	// Sending is called before a request is sent.
	Sending(r *llm.Request)
	// Delta is called with every step of an answer.
	Delta(d llm.Delta)
	// Saved is called with every event that is in the record.
	Saved(e *events.Element)
	// Notice is called with what somebody should know.
	Notice(text string)
}

// A Turn is one question, its answer, and all that lies between.
type Turn struct {
	Record Record           // required
	Model  llm.Model        // required
	Now    func() time.Time // required; called from several goroutines at once
	Tools  Tools            // nil for none
	Setup  Setup
	Base   settings.Config // base configuration of the conversation
	Dedup  dedup.Options   // without URI, which follows from Root
	Trim   *Trim           // nil trims nothing
	Root   string          // of the workspace
	// Session names the conversation for providers that route by it, "" before it has a
	// name; nil names none.
	Session func() string
	Watch   Watcher // nil for nobody
	Cycles  int     // requests at most; 0 for many
	// Continue is how often an answer that was cut off at its limit is continued; 0 for five
	// times, negative for never, where the model does it itself.
	Continue int
	// Asker is the person who answers the questions of tools; nil for nobody.
	Asker tool.Asker
	// Assistant returns the model that answers a question for which settings name another
	// one; it is given the target that the tool's configuration has. Nil, or a nil model, is
	// the model of the turn.
	Assistant func(target jsontext.Value) (llm.Model, error)
	Control   *Control // nil when nobody interrupts
	// Resume asks for the rest of an answer that was cut off after some of it was shown; else
	// that is a [*PartialError].
	Resume bool
	// Budget says what requests cost; nil does not reckon.
	Budget *Budget
}

// A PartialError says that an answer was cut off after some of it was shown. That part is kept.
type PartialError struct{ Err error }

// Error implements error.
func (e *PartialError) Error() string { return e.Err.Error() + "; what was said is kept" }

// Unwrap returns what lies below.
func (e *PartialError) Unwrap() error { return e.Err }

// A Prompt is what opens a turn.
type Prompt struct {
	Delta   jsontext.Value      // a change of the configuration; nil or {} for none
	Request *events.ChatRequest // nil: what the record ends with is asked
	// Attached are the attachments that the request has the resources of.
	Attached []string
}

// An Answer is what came of a turn.
type Answer struct {
	Text  string         // the last message
	Data  jsontext.Value // where a schema was to be followed
	Stop  llm.Stop
	Usage llm.Usage // of all requests
	Cost  float64   // of all requests, in USD, by the budget
	Saved int64     // bytes that the model was not given again, in the last request
	// Ended says that somebody ended the turn, through its Control.
	Ended bool
	// Dropped says that the answer was taken back as well.
	Dropped bool
}

// Run asks and returns when the model has answered. Beside an error it returns what there is;
// the record has everything that was completed.
func (t *Turn) Run(ctx context.Context, p Prompt) (Answer, error) {
	s := &session{Turn: t, watch: t.Watch, control: t.Control, first: first(p)}
	if s.watch == nil {
		s.watch = silent{}
	}
	if s.control == nil {
		s.control = new(Control)
	}
	limit := t.Cycles
	if limit == 0 {
		limit = defaultCycles
	}
	err := s.takes(p)
	if err == nil {
		err = s.affords(p)
	}
	if err == nil {
		err = s.open(p)
	}
	for range limit {
		if err != nil {
			return s.answer, err
		}
		var done bool
		if done, err = s.cycle(ctx); done && err == nil {
			return s.answer, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("ask %s: %w, after %d requests", t.Model.ID(), ErrCycles, limit)
	}
	return s.answer, err
}

// Explain returns the request that Run would send first, and its plan. Nothing is saved.
func (t *Turn) Explain(p Prompt) (*llm.Request, *dedup.Plan, error) {
	s := &session{Turn: t, watch: silent{}}
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

// Forgotten reports whether the provider has surely forgotten what it was sent of the
// conversation, or was sent nothing.
func (t *Turn) Forgotten() bool {
	s := &session{Turn: t, watch: silent{}, prior: t.Record.Stream()}
	// Without a Trim nothing is known of what the provider keeps.
	return s.prior.Len() == 0 || t.Trim != nil && s.cold()
}

type silent struct{}

func (silent) Sending(*llm.Request)  {}
func (silent) Delta(llm.Delta)       {}
func (silent) Saved(*events.Element) {}
func (silent) Notice(string)         {}

// A session is a turn while it runs.
type session struct {
	*Turn
	watch   Watcher
	control *Control
	first   events.ChatRequest // what the turn was opened with

	// mu is held while something is saved and told: the calls of a batch may ask questions
	// side by side.
	mu     sync.Mutex
	asked  map[string]int // questions, by the id of their inquiry
	answer Answer

	view      *events.Stream // of the next request, when it was planned already
	planned   *dedup.Plan
	notices   []string // of what was decided about it
	cycles    int
	resumed   int // answers that broke off
	limited   int // answers that were cut at their limit
	repaired  bool
	continued *continued // the message that the next one continues

	untaken map[string]bool // attachments that no model takes, by their names

	told        int64 // tokens of the conversation in the request, by what was measured
	room        int64 // tokens that the provider takes, where it said so; 0 for the window
	overflows   int   // requests that it found too large
	overflowed  error // that of the last one
	askedWindow bool  // the provider said how large the model's window is, or did not

	prior *events.Stream // what there was before the turn
	sent  time.Time      // when something was last heard of the provider, in this turn
}

// first is the request of a prompt: a reply during the turn is from the same person, and for
// an answer of the same form.
func first(p Prompt) events.ChatRequest {
	if p.Request == nil {
		return events.ChatRequest{}
	}
	return *p.Request
}

// takes returns why the model cannot be asked about what is attached, before the question is
// saved: it would stay as a turn that nobody can answer.
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

// open saves the question, with what was decided about it.
func (s *session) open(p Prompt) error {
	elems := s.elements(p)
	return s.keep("the question", func(stream *events.Stream) error {
		s.prior = stream.Clone()
		stream.Append(elems...)
		return s.decide(stream)
	}, elems...)
}

func (s *session) elements(p Prompt) []*events.Element {
	var all []*events.Element
	add := func(ev events.Event, md events.Metadata) {
		all = append(all, events.NewElement(s.Now(), ev, md))
	}
	if len(p.Delta) > 0 && string(p.Delta) != "{}" {
		add(&events.ConfigDelta{Delta: p.Delta}, events.Metadata{})
	}
	if p.Request != nil {
		add(&events.TurnStart{}, events.Metadata{})
		add(p.Request, withAttached(events.Metadata{}, p.Attached))
	}
	return all
}

// decide plans the next request and stores what was decided in the stream, so that the
// request after it says the same.
func (s *session) decide(stream *events.Stream) error {
	view, plan, err := s.prepare(stream)
	if err != nil {
		return err
	}
	s.view, s.planned = view, plan
	return nil
}

func (s *session) plan(stream *events.Stream) (*events.Stream, *dedup.Plan, error) {
	view, o := View(stream), s.Dedup
	o.URI = func(uri string) string { return file.Expand(s.Root, uri) }
	plan, err := dedup.New(view, o, s.Record.Contents())
	return view, plan, err
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
		src.Setup.Choice = llm.ToolChoice{} // a tool was forced once; again would be for ever
	}
	return Build(src)
}

// request returns the next request. What was decided about it is saved.
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

// cycle sends one request and takes its answer. It is done when nothing remains to be asked.
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
	s.spent(h.usage)
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
	s.answer.Stop = h.stop
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
	return true, nil
}

// obey does with an answer what somebody wanted while it was said. The answer may have come
// to its end all the same.
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

// notSaved says what could not be saved. That a request is too large is no fault of the disk.
func notSaved(what string, err error) error {
	if crowded, ok := errors.AsType[*CrowdedError](err); ok {
		return crowded
	}
	return fmt.Errorf("save %s: %w", what, err)
}

// keep saves a change and tells of what it added.
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

// spent adds up what requests cost.
func (s *session) spent(u llm.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer.Usage = s.answer.Usage.Add(u)
	if s.Budget != nil {
		s.answer.Cost += s.Budget.Cost(u)
	}
}

// leftOut reports whether an error says that nothing was sent because of an attachment that no
// model could look at. It is named to the model from now on, as it is in later turns: one file
// of a directory must not stop the question. Of a picture the person is asked for another
// model.
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

// looksAt reports whether there are models that look at content of a type.
func looksAt(mime string) bool {
	kind, _, _ := strings.Cut(mime, "/")
	return kind == "image" || kind == "audio" || kind == "video" || llm.IsPDF(mime) ||
		!strings.Contains(mime, "/")
}

// broken decides what to do after an answer that broke off: go on from what it said, if that
// may help.
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

// cut goes on after an answer that reached its limit, and reports whether that was enough.
func (s *session) cut(h *recorder) (done bool) {
	limit := s.Continue
	if limit == 0 {
		limit = defaultContinue
	}
	if s.continued = h.end(); s.continued == nil || s.limited >= limit {
		s.continued = nil
		s.watch.Notice("the answer was cut off at its limit")
		return true
	}
	s.limited++
	return false
}

// refused takes back what the refused answer had said: a provider wants it not to be sent
// again. What was said before it was continued was no part of the refusal, and stays.
func (s *session) refused(h *recorder) error {
	err := s.Record.Save(func(stream *events.Stream) error {
		s.answer.Text = h.takeBack(stream)
		return nil
	})
	return errors.Join(&llm.RefusalError{
		Model: s.Model.ID(), Category: h.stop.Category, Explanation: h.stop.Explanation,
	}, err)
}

// structured holds an answer against the schema. The model may mend it once.
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
