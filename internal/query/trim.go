package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// A Trim says when results that a later result made obsolete are left out of requests. Results that
// were left out once stay out, so that the prompt keeps its bytes.
type Trim struct {
	Schedule compact.Schedule
	Market   compact.Market // of the model
	Window   int64          // of the model; 0 if unknown
	// Offered asks the provider for the window. It may be nil.
	Offered func() int64
	Rules   func(tool string) []dedup.Rule
	Limits  compact.Limits
	// Current reads the current content of a file, by the URI that its reads have, with the
	// approval that reading it needs. If nil, no file is read.
	Current func(uri string) (events.Resource, error)
}

// prepare plans the next request of a stream and stores the decisions in the stream. It can run
// again for the same request, see [Record.Save].
func (s *session) prepare(stream *events.Stream) (*events.Stream, *dedup.Plan, error) {
	s.notices = nil
	view, plan, err := s.plan(stream)
	if err != nil {
		return nil, nil, err
	}
	plan.Store(view, stream)
	trimmed, err := s.trim(stream)
	if err != nil {
		return nil, nil, err
	}
	roomier, err := s.makeRoom(stream)
	if err != nil || !trimmed && !roomier {
		return view, plan, err
	}
	// The texts for the other elements may have changed.
	if view, plan, err = s.plan(stream); err != nil {
		return nil, nil, err
	}
	plan.Store(view, stream)
	return view, plan, nil
}

// trim marks obsolete results if the schedule says so, and reports whether it did.
func (s *session) trim(stream *events.Stream) (bool, error) {
	if s.Trim == nil {
		return false, nil
	}
	cold := s.cold()
	view := View(stream)
	if !cold && !s.mayTrimWarm(view) {
		return false, nil
	}
	w, err := s.weigh(stream, view, cold)
	if err != nil {
		return false, err
	}
	trim, why := s.Trim.Schedule.Decide(w.pending, s.Trim.Market)
	if !trim {
		return false, nil
	}
	if w.question < 0 && len(w.attached) > 0 {
		w.question = s.turnTo(stream)
	}
	t := trimming{
		view: view, stream: stream, question: w.question, room: w.pending.Overflows(),
	}
	t.attach(w.now, w.attached)
	n := t.mark(w.obsolete)
	if n > 0 {
		if t.room {
			why += "; 'git jp compact --undo' restores them"
		}
		s.notices = append(s.notices, fmt.Sprintf("%d superseded results are no longer sent"+
			" (about %.0f tokens): %s", n, w.pending.Tokens, why))
	}
	return n > 0, nil
}

// A weighed holds what could be trimmed from the next request.
type weighed struct {
	pending  compact.Pending
	obsolete []dedup.Superseded
	attached map[string]float64 // tokens of files that must be attached for that
	now      lookup
	question int // that opens the turn, -1 for none
}

// weigh finds what could be trimmed from a stream and its view.
func (s *session) weigh(stream, view *events.Stream, cold bool) (weighed, error) {
	h, err := compact.HistoryOf(view, s.obsolete(stream))
	if err != nil {
		return weighed{}, fmt.Errorf("look for what is superseded: %w", err)
	}
	question, answered := lastQuestion(stream)
	w := weighed{
		question: question,
		now:      lookup{look: s.Trim.Current, found: map[string]events.Resource{}},
	}
	if question >= 0 || answered {
		h.Current = w.now.tokens
	}
	h.Window = float64(s.window(view))
	w.pending, w.attached = h.Pending(question >= 0, cold)
	w.obsolete = h.Obsolete
	return w, nil
}

// obsolete returns the options for finding obsolete results in the view of a stream.
func (s *session) obsolete(stream *events.Stream) compact.ObsoleteOptions {
	return compact.ObsoleteOptions{
		Rules: s.Trim.Rules, Limits: s.Trim.Limits, Dedup: s.Dedup, Contents: s.Record.Contents(),
		Shown: asStored(stream), Stale: func(string) bool { return true }, Beside: s.beside(),
	}
}

// beside estimates the tokens of a request outside the conversation.
func (s *session) beside() float64 {
	var tools int64
	if s.Tools != nil {
		for _, d := range s.Tools.Definitions() {
			tools += int64(len(d.Name) + len(d.Brief()) + len(d.Schema))
		}
	}
	return compact.SortSystem.Tokens(s.Setup.SystemBytes()) + compact.SortTools.Tokens(tools)
}

// lastQuestion returns the question that a stream ends with, -1 if it ends with another event, and
// whether it ends with the result of a tool.
func lastQuestion(stream *events.Stream) (question int, answered bool) {
	for i := stream.Len() - 1; i >= 0; i-- {
		switch kind := stream.At(i).Kind(); {
		case kind == events.KindChatRequest:
			return i, false
		case kind.IsEvent():
			return -1, kind == events.KindToolCallResponse
		}
	}
	return -1, false
}

// turnTo adds an empty request to a turn, so that files can be attached to it. Every provider
// accepts a user's message after the results of tools, like a reply that came while they ran; none
// accepts anything between calls and their results.
func (s *session) turnTo(stream *events.Stream) (question int) {
	stream.Append(events.NewElement(s.Now(), &events.ChatRequest{}, events.Metadata{}))
	return stream.Len() - 1
}

// A lookup reads the current content of files, each file once.
type lookup struct {
	look  func(uri string) (events.Resource, error)
	found map[string]events.Resource
}

// tokens returns the current size of a file in tokens; false if it cannot be attached.
func (l lookup) tokens(uri string, _ int) (float64, bool) {
	if l.look == nil || events.URIScheme(uri) != "file" {
		return 0, false
	}
	r, err := l.look(uri)
	if err != nil || r.URI != uri || r.Content.IsZero() || r.Content.IsRef() {
		return 0, false
	}
	// The model would get a text about a binary file, not its content: it keeps the old read.
	if data, err := r.Content.Bytes(nil); err != nil || !file.IsText(data) {
		return 0, false
	}
	l.found[uri] = r
	return compact.SortAttachment.Tokens(r.Content.Size()), true
}

// asStored returns a function that reports whether an element of a view is an element of the
// stream: the replacements of an overlay are neither calls nor results.
func asStored(stream *events.Stream) func(*events.Element) bool {
	all := make(map[*events.Element]bool, stream.Len())
	for _, e := range stream.All() {
		all[e] = true
	}
	return func(e *events.Element) bool { return all[e] }
}

// mayTrimWarm reports whether a schedule could trim what the provider has still cached. The search
// costs time, so that a schedule that never does so searches only if the window may be full.
func (s *session) mayTrimWarm(view *events.Stream) bool {
	if s.Trim.Schedule == compact.Balanced || s.Trim.Schedule == compact.Eager {
		return true
	}
	window := s.window(view)
	return window > 0 && size(view) > leastBytesPerToken*window
}

// smallWindow is a window that every model has, in tokens.
const smallWindow = 4096

// window returns the model's window. The provider is asked once, when the view may come near the
// known window.
func (s *session) window(view *events.Stream) int64 {
	if s.room > 0 {
		return s.room
	}
	near := max(s.Trim.Window/2, smallWindow)
	if !s.askedWindow && s.Trim.Offered != nil && size(view) > leastBytesPerToken*near {
		s.Trim.Window, s.askedWindow = s.Trim.Offered(), true
	}
	return s.Trim.Window
}

// size returns the approximate number of bytes in a view.
func size(view *events.Stream) (n int64) {
	for c := range view.Contents() {
		n += c.Content.Size()
	}
	for _, e := range view.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			n += int64(len(ev.Content))
		case *events.ChatResponse:
			n += int64(len(ev.Text) + len(ev.Data))
		case *events.ToolCallRequest:
			n += int64(len(ev.Arguments))
		}
	}
	return n
}

// cold reports whether the provider's cache of the prompt has certainly expired.
func (s *session) cold() bool {
	m := s.Trim.Market
	if !s.sent.IsZero() {
		return m.Gone > 0 && s.Now().Sub(s.sent) > m.Gone
	}
	return s.prior != nil && compact.IsCold(s.prior, s.sending(), m)
}

// sending returns the description of a request that is sent now.
func (s *session) sending() compact.Sent {
	id := ""
	if s.Model != nil {
		id = s.Model.ID()
	}
	var tools strings.Builder
	if s.Tools != nil {
		for _, d := range s.Tools.Definitions() {
			fmt.Fprintf(&tools, "%s\x00%s\x00%s\x00", d.Name, d.Brief(), d.Schema)
		}
	}
	lifetime := int64(0)
	if s.Trim != nil {
		lifetime = int64(s.Trim.Market.TTL / time.Second)
	}
	return compact.Sent{
		Lifetime: lifetime, At: s.Now().UTC(), Model: id, Tools: short(tools.String()),
		Prefix: short(strings.Join(s.Setup.System, "\x00")),
	}
}

// short returns a prefix of a hash that is long enough to distinguish prompts of one conversation.
func short(text string) string { return blobs.Sum([]byte(text)).String()[:16] }

// A trimming marks trimmed elements of a view in the stream that the view is of.
type trimming struct {
	view, stream *events.Stream
	question     int             // that the stream ends with, -1 for none
	given        map[string]bool // files that are attached to it
	room         bool            // it happens because the window is full
}

// attach adds the current content of the wanted files to the question.
func (t *trimming) attach(now lookup, wanted map[string]float64) {
	if t.question < 0 || len(wanted) == 0 {
		return
	}
	e := t.stream.At(t.question)
	r, ok := e.Event().(*events.ChatRequest)
	if !ok {
		return
	}
	t.given = map[string]bool{}
	asked := *r
	asked.Resources = slices.Clone(r.Resources)
	for _, uri := range slices.Sorted(maps.Keys(wanted)) {
		asked.Resources = append(asked.Resources, now.found[uri])
		t.given[uri] = true
	}
	t.stream.Set(t.question, e.With(&asked))
}

// mark marks obsolete results and returns their number.
func (t *trimming) mark(obsolete []dedup.Superseded) (n int) {
	at := map[*events.Element]int{}
	for i, e := range t.stream.All() {
		at[e] = i
	}
	for _, o := range obsolete {
		i, ok := at[t.view.At(o.Element)]
		if !ok {
			continue // a compaction changed it
		}
		n++
		e := t.marked(t.stream.At(i), o)
		if t.room {
			e = dedup.ForRoom(e)
		}
		t.stream.Set(i, e)
	}
	return n
}

func (t *trimming) marked(e *events.Element, o dedup.Superseded) *events.Element {
	var by []*events.Element
	by = append(by, lists.Map(o.Needs, t.view.At)...)
	given := t.given[o.Stale]
	if given {
		by = append(by, t.stream.At(t.question))
	}
	switch {
	case o.Block >= 0:
		return dedup.WithTrimmed(e, by, o.Block)
	case o.Stale != "":
		return dedup.WithStale(e, by, o.Stale, given)
	default:
		return dedup.WithTrimmed(e, by)
	}
}
