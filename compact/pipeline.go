package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// Names of strategies.
const (
	StripReasoning   = "strip-reasoning"
	StripToolResults = "strip-tool-results"
	DedupTools       = "dedup-tools"
	StripAttachments = "strip-attachments"
	PruneTools       = "prune-tools"
	TrimSuperseded   = "trim-superseded"
	Summarize        = "summarize"
	ClassifyTangents = "classify-tangents"
	Auto             = "auto"
)

// Names returns the names of all strategies.
func Names() []string {
	return []string{
		Auto, StripReasoning, StripToolResults, DedupTools, StripAttachments, PruneTools,
		TrimSuperseded, Summarize, ClassifyTangents,
	}
}

// Mechanical returns the strategies that need no model.
func Mechanical() []string {
	return []string{
		StripReasoning, DedupTools, TrimSuperseded, StripToolResults, StripAttachments, PruneTools,
	}
}

// ErrUnknown reports a strategy that does not exist.
var ErrUnknown = errors.New("no such strategy")

// ErrNoModel reports a strategy that needs a model if there is none.
var ErrNoModel = errors.New("it needs a model")

// Options selects how a stream is compacted. The zero value of each field but Now works.
type Options struct {
	Strategies []string // from left to right; empty means auto
	KeepLast   int      // number of turns at the end that are left alone
	KeepCalls  int      // or, if not 0, number of calls
	Now        time.Time
	Base       settings.Config // of the conversation, before the deltas of the stream
	Contents   blobs.Reader
	Dedup      dedup.Options // as for building requests
	// Hint returns the hint of a tool; nil means [DefaultHint].
	Hint func(tool string) Hint
	// Rules returns the rules for superseded results of a tool; nil means [DefaultRules].
	Rules func(tool string) []dedup.Rule
	// Offered holds the tools that a request would offer, with the size of their definitions in
	// bytes, whether the configuration of the conversation declares them or not.
	Offered  map[string]int64
	System   int64    // bytes of the system prompt
	Limits   Limits   // for superseded content
	Subsumer Subsumer // asks the tools themselves; may be nil

	Summarizer Summarizer // nil for a summary by rules
	Classifier Classifier // nil to skip classification
	// Confirm chooses among the turns that were found tangential; nil chooses none.
	Confirm func([]Tangent) []Tangent
	// Raw looks for the events that an earlier summary replaced; nil finds none.
	Raw func(Summary) ([]*events.Element, bool)

	Budget    int64   // tokens at which auto stops; 0 for as far as possible
	Window    int64   // of the model, in tokens; 0 if unknown
	Threshold float64 // share of the window above which auto summarizes; 0 always does
	Most      int64   // tokens above which it does in any window; 0 for the share alone

	// Market has the prices for the report.
	Market Market
	// Cold reports whether the provider has evicted the prompt.
	Cold bool
}

// A Result is the result of compacting a stream.
type Result struct {
	Stream *events.Stream
	Report Report
	// Stages holds the intermediate results of the strategies.
	Stages []Stage
}

// A Stage is the stream after a step that changed it.
type Stage struct {
	By     string // the step: a strategy, or a description of an overlay
	Stream *events.Stream
}

// Run compacts a stream, which is not changed. If nothing changes the result has the same stream.
func Run(ctx context.Context, s *events.Stream, o Options) (*Result, error) {
	o = o.withDefaults()
	j := &job{Options: o, source: s, stream: s}
	if err := j.begin(); err != nil {
		return nil, err
	}
	for n, name := range o.Strategies {
		j.later = o.Strategies[n+1:]
		if err := j.apply(ctx, name, "asked for"); err != nil {
			return nil, err
		}
	}
	if j.report.Changed() {
		j.remember()
	}
	if err := j.stream.Validate(); err != nil {
		return nil, fmt.Errorf("compact: %w", err)
	}
	j.finish()
	return &Result{Stream: j.stream, Report: j.report, Stages: j.stages}, nil
}

func (o Options) withDefaults() Options {
	if len(o.Strategies) == 0 {
		o.Strategies = []string{Auto}
	}
	if o.Hint == nil {
		o.Hint = DefaultHint
	}
	if o.Rules == nil {
		o.Rules = DefaultRules
	}
	if o.Summarizer == nil {
		o.Summarizer = Extractive{}
	}
	o.KeepLast, o.KeepCalls = max(o.KeepLast, 0), max(o.KeepCalls, 0)
	return o
}

// A job is one run of a pipeline.
type job struct {
	Options
	source    *events.Stream
	stream    *events.Stream
	estimator Estimator
	size      Measure // of stream
	first     Measure // of source
	report    Report
	decided   bool // strip only tools with a hint
	gentle    bool // keep the last read of each file
	later     []string
	stages    []Stage
	curated   bool // turns were selected from the source
}

func (j *job) begin() error {
	var err error
	if j.estimator, err = Calibrate(j.source, j.measureOptions()); err != nil {
		return err
	}
	j.first, err = j.measure(j.source)
	j.size = j.first
	j.report = Report{
		TokensBefore: j.first.Tokens, EventsBefore: j.first.Events, BytesBefore: j.first.Bytes,
		Error: j.estimator.Error, Samples: j.estimator.Samples, Strategies: j.Strategies,
		KeepLast: j.KeepLast, Steps: []Step{}, Tools: []ToolSaving{},
	}
	return err
}

// apply runs one strategy and records the result.
func (j *job) apply(ctx context.Context, name, reason string) error {
	run, ok := j.strategies()[name]
	if !ok {
		return fmt.Errorf("compact: %q: %w", name, ErrUnknown)
	}
	if name == Auto {
		return j.auto(ctx)
	}
	before, size := j.stream, j.size
	step := Step{Strategy: name, Reason: reason}
	if err := run(ctx, &step); err != nil {
		return fmt.Errorf("compact: %s: %w", name, err)
	}
	if j.stream != before {
		j.stages = append(j.stages, Stage{name, j.stream})
		var err error
		if j.size, err = j.measure(j.stream); err != nil {
			return err
		}
	}
	step.EventsRemoved = size.Events - j.size.Events
	step.Changed = changedEvents(before, j.stream)
	step.Bytes, step.Tokens = size.Bytes-j.size.Bytes, size.Tokens-j.size.Tokens
	step.Tools = savings(size.Tools, j.size.Tools)
	j.report.Steps = append(j.report.Steps, step)
	return nil
}

func (j *job) strategies() map[string]func(context.Context, *Step) error {
	return map[string]func(context.Context, *Step) error{
		StripReasoning:   j.stripReasoning,
		StripToolResults: j.stripToolResults,
		DedupTools:       j.dedupTools,
		StripAttachments: j.stripAttachments,
		PruneTools:       j.pruneTools,
		TrimSuperseded:   j.trimSuperseded,
		Summarize:        j.summarize,
		ClassifyTangents: j.classify,
		Auto:             nil,
	}
}

// limit returns the first element that is left alone: the beginning of the last KeepLast turns, or
// of the last KeepCalls calls.
func (j *job) limit() int {
	if j.KeepCalls == 0 {
		return boundary(j.stream, j.KeepLast)
	}
	calls := j.stream.Calls()
	if len(calls) < j.KeepCalls {
		return 0
	}
	return calls[len(calls)-j.KeepCalls].Request
}

// closed returns the first element that must not be removed: until the model has answered, the
// reasoning and calls since the last request belong together.
func (j *job) closed() int {
	if !awaitsAnswer(j.stream) {
		return j.limit()
	}
	last := 0
	if requests := places(j.stream, events.KindChatRequest); requests != nil {
		last = requests[len(requests)-1]
	}
	return min(j.limit(), turnOpening(j.stream, last))
}

// closedTurns returns the element before which entire turns may be removed.
func (j *job) closedTurns() int {
	limit := j.closed()
	if j.KeepCalls == 0 || limit == j.stream.Len() {
		return limit
	}
	last := 0
	for _, at := range openings(j.stream) {
		if at <= limit {
			last = at
		}
	}
	return last
}

// awaitsAnswer reports whether the last question is unanswered.
func awaitsAnswer(s *events.Stream) bool {
	if _, unfinished := s.Incomplete(); unfinished {
		return true
	}
	for i := s.Len() - 1; i >= 0; i-- {
		if e := s.At(i); e.Kind().IsEvent() {
			r, ok := e.Event().(*events.ChatResponse)
			return !ok || r.Form == events.FormReasoning
		}
	}
	return true
}

// turnOpening returns the turn_start directly before a request, or else the request.
func turnOpening(s *events.Stream, request int) int {
	for i := request - 1; i >= 0; i-- {
		switch kind := s.At(i).Kind(); {
		case kind == events.KindTurnStart:
			return i
		case kind.IsEvent():
			return request
		}
	}
	return request
}

// boundary returns the element at which the last n turns begin.
func boundary(s *events.Stream, n int) int {
	starts := openings(s)
	switch {
	case n <= 0:
		return s.Len()
	case n > len(starts):
		return 0
	default:
		return starts[len(starts)-n]
	}
}

// openings returns the elements at which turns begin. Without any turn_start, each request of the
// user begins one.
func openings(s *events.Stream) []int {
	if starts := places(s, events.KindTurnStart); starts != nil {
		return starts
	}
	return places(s, events.KindChatRequest)
}

// places returns the elements of a kind.
func places(s *events.Stream, kind events.Kind) (all []int) {
	for i, e := range s.All() {
		if e.Kind() == kind {
			all = append(all, i)
		}
	}
	return all
}

// revise replaces elements and removes events, together with reasoning that led to nothing else.
// Pinned elements are kept.
func (j *job) revise(with map[int]*events.Element, gone map[int]bool) {
	for i := range pinnedPlaces(j.stream) {
		delete(with, i)
		delete(gone, i)
	}
	if len(with) == 0 && len(gone) == 0 {
		return
	}
	withResults(j.stream, gone)
	withInquiries(j.stream, gone)
	unbind(j.stream, gone)
	j.stream = j.stream.Revise(func(i int, e *events.Element) *events.Element {
		if gone[i] {
			return nil
		}
		if r, ok := with[i]; ok {
			return r
		}
		return e
	})
}

// withResults adds the results of removed calls to gone, wherever they are.
func withResults(s *events.Stream, gone map[int]bool) {
	if len(gone) == 0 {
		return
	}
	for _, c := range s.Calls() {
		if gone[c.Request] && !c.Open() {
			gone[c.Response] = true
		}
	}
}

// withInquiries adds to gone the questions that removed calls asked, with their answers. The id of
// an inquiry begins with that of its call; inquiries whose id also matches a remaining call are
// kept.
func withInquiries(s *events.Stream, gone map[int]bool) {
	if len(gone) == 0 {
		return
	}
	goes := map[string]bool{}
	for _, c := range s.Calls() {
		if before, known := goes[c.ID]; !known || before {
			goes[c.ID] = gone[c.Request]
		}
	}
	for i, e := range s.All() {
		id := ""
		switch ev := e.Event().(type) {
		case *events.InquiryRequest:
			id = ev.ID
		case *events.InquiryResponse:
			id = ev.ID
		}
		for ; id != "" && !gone[i]; id = id[:max(strings.LastIndexByte(id, '.'), 0)] {
			if goes[id] {
				gone[i] = true
			}
		}
	}
}

// unbind adds to gone the reasoning that nothing follows any more within the same output of the
// model: providers require reasoning together with the output that follows it, or not at all.
func unbind(s *events.Stream, gone map[int]bool) {
	bound, touched := false, false
	for i := s.Len() - 1; i >= 0; i-- {
		switch ev := s.At(i).Event().(type) {
		case *events.ToolCallRequest:
			bound, touched = bound || !gone[i], touched || gone[i]
		case *events.ChatResponse:
			if ev.Form != events.FormReasoning {
				bound, touched = bound || !gone[i], touched || gone[i]
			} else if !bound && touched {
				gone[i] = true
			}
		case *events.ToolCallResponse, *events.ChatRequest, *events.TurnStart:
			bound, touched = false, false
		}
	}
}
