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

// A planner decides what the requests of a turn leave out.
type planner struct {
	*Turn
	prior   *events.Stream // the stream from before the turn
	sent    time.Time      // when the provider answered last in this turn
	notices []string       // about decisions for the next request

	room        int64 // tokens that the provider accepts, if it said so; 0 for the window
	overflows   int   // requests that were too large for the provider
	overflowed  error // error of the last of these
	askedWindow bool  // the provider was asked for the model's window
}

// prepare plans the next request of a stream and stores the decisions in the stream. It can run
// again for the same request, see [Record.Save].
func (p *planner) prepare(stream *events.Stream) (*events.Stream, *dedup.Plan, error) {
	p.notices = nil
	view, plan, err := p.plan(stream)
	if err != nil {
		return nil, nil, err
	}
	plan.Store(view, stream)
	trimmed, err := p.trim(stream)
	if err != nil {
		return nil, nil, err
	}
	roomier, err := p.makeRoom(stream)
	if err != nil || !trimmed && !roomier {
		return view, plan, err
	}
	// The texts for the other elements may have changed.
	if view, plan, err = p.plan(stream); err != nil {
		return nil, nil, err
	}
	plan.Store(view, stream)
	return view, plan, nil
}

// plan plans what is sent again, without decisions about the rest.
func (p *planner) plan(stream *events.Stream) (*events.Stream, *dedup.Plan, error) {
	view, o := View(stream), p.Dedup
	o.URI = func(uri string) string { return file.Expand(p.Root, uri) }
	plan, err := dedup.New(view, o, p.Record.Contents())
	return view, plan, err
}

// trim marks obsolete results if the schedule says so, and reports whether it did.
func (p *planner) trim(stream *events.Stream) (bool, error) {
	if p.Trim == nil {
		return false, nil
	}
	cold := p.cold()
	view := View(stream)
	if !cold && !p.mayTrimWarm(view) {
		return false, nil
	}
	w, err := p.weigh(stream, view, cold)
	if err != nil {
		return false, err
	}
	trim, why := p.Trim.Schedule.Decide(w.pending, p.Trim.Market)
	if !trim {
		return false, nil
	}
	if w.question < 0 && len(w.attached) > 0 {
		w.question = p.turnTo(stream)
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
		p.notices = append(p.notices, fmt.Sprintf("%d superseded results are no longer sent"+
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
func (p *planner) weigh(stream, view *events.Stream, cold bool) (weighed, error) {
	h, err := compact.HistoryOf(view, p.obsolete(stream))
	if err != nil {
		return weighed{}, fmt.Errorf("look for what is superseded: %w", err)
	}
	question, answered := lastQuestion(stream)
	w := weighed{
		question: question,
		now:      lookup{look: p.Trim.Current, found: map[string]events.Resource{}},
	}
	if question >= 0 || answered {
		h.Current = w.now.tokens
	}
	h.Window = float64(p.window(view))
	w.pending, w.attached = h.Pending(question >= 0, cold)
	w.obsolete = h.Obsolete
	return w, nil
}

// obsolete returns the options for finding obsolete results in the view of a stream.
func (p *planner) obsolete(stream *events.Stream) compact.ObsoleteOptions {
	return compact.ObsoleteOptions{
		Rules: p.Trim.Rules, Limits: p.Trim.Limits, Dedup: p.Dedup, Contents: p.Record.Contents(),
		Shown: asStored(stream), Stale: func(string) bool { return true }, Beside: p.beside(),
	}
}

// beside estimates the tokens of a request outside the conversation.
func (p *planner) beside() float64 {
	var tools int64
	if p.Tools != nil {
		for _, d := range p.Tools.Definitions() {
			tools += int64(len(d.Name) + len(d.Brief()) + len(d.Schema))
		}
	}
	return compact.SortSystem.Tokens(p.Setup.SystemBytes()) + compact.SortTools.Tokens(tools)
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
func (p *planner) turnTo(stream *events.Stream) (question int) {
	stream.Append(events.NewElement(p.Now(), &events.ChatRequest{}, events.Metadata{}))
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
func (p *planner) mayTrimWarm(view *events.Stream) bool {
	if p.Trim.Schedule == compact.Balanced || p.Trim.Schedule == compact.Eager {
		return true
	}
	window := p.window(view)
	return window > 0 && size(view) > leastBytesPerToken*window
}

// smallWindow is a window that every model has, in tokens.
const smallWindow = 4096

// window returns the model's window. The provider is asked once, when the view may come near the
// known window.
func (p *planner) window(view *events.Stream) int64 {
	if p.room > 0 {
		return p.room
	}
	near := max(p.Trim.Window/2, smallWindow)
	if !p.askedWindow && p.Trim.Offered != nil && size(view) > leastBytesPerToken*near {
		p.Trim.Window, p.askedWindow = p.Trim.Offered(), true
	}
	return p.Trim.Window
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
func (p *planner) cold() bool {
	m := p.Trim.Market
	if !p.sent.IsZero() {
		return m.Gone > 0 && p.Now().Sub(p.sent) > m.Gone
	}
	return p.prior != nil && compact.IsCold(p.prior, p.sending(), m)
}

// sending returns the description of a request that is sent now.
func (p *planner) sending() compact.Sent {
	id := ""
	if p.Model != nil {
		id = p.Model.ID()
	}
	var tools strings.Builder
	if p.Tools != nil {
		for _, d := range p.Tools.Definitions() {
			fmt.Fprintf(&tools, "%s\x00%s\x00%s\x00", d.Name, d.Brief(), d.Schema)
		}
	}
	lifetime := int64(0)
	if p.Trim != nil {
		lifetime = int64(p.Trim.Market.TTL / time.Second)
	}
	return compact.Sent{
		Lifetime: lifetime, At: p.Now().UTC(), Model: id, Tools: short(tools.String()),
		Prefix: short(strings.Join(p.Setup.System, "\x00")),
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
