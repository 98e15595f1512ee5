package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// What pieces are.
const (
	PieceQuestion   = "question"
	PieceAttachment = "attachment"
	PieceAnswer     = "answer"
	PieceReasoning  = "reasoning"
	PieceCall       = "call"
	PieceResult     = "result"
	PieceSummary    = "summary"
	PieceDefinition = "definition" // of a tool
)

// A Piece is one thing of a conversation that a model is given.
type Piece struct {
	What string
	Tool string // of a call or its result, as are its id and, of an attachment, its URI
	Call string
	URI  string
	// From and To are the turns that it stands in, or in the place of, counted from 1.
	From, To int
}

// A Change is a piece that a model is given otherwise, or no more, after a compaction.
type Change struct {
	Piece
	By []string // the steps that changed it
	// Was and Is are what the model is given; nil for nothing.
	Was, Is *string
}

// WithoutTools returns the changes of a prompt that does not offer some tools.
func WithoutTools(pruned []string) []Change {
	all := make([]Change, len(pruned))
	for i := range pruned {
		all[i] = Change{
			Piece: Piece{What: PieceDefinition, Tool: pruned[i]},
			By:    []string{compact.PruneTools}, Was: &pruned[i],
		}
	}
	return all
}

// maxPiece is how much of one thing is compared: no model takes as much.
const maxPiece = 1 << 20

// Patch returns a unified diff of what a model is given before and after.
func (c Change) Patch() string {
	side := func(name string, text *string) (string, string) {
		if text == nil {
			return "/dev/null", "" // as in a patch of git
		}
		t := *text
		if len(t) > maxPiece {
			t = t[:maxPiece]
		}
		if !strings.HasSuffix(t, "\n") {
			t += "\n" // a text is no file: its last line is one like any other
		}
		return name, t
	}
	from, was := side("before", c.Was)
	to, is := side("after", c.Is)
	return udiff.Unified(from, to, was, is)
}

// Changes returns what a model is given otherwise of a stored stream after all stages of a
// compaction, in the order of the conversation: what a step puts in the place of others comes
// behind them. What the model was not given before is no change.
func Changes(
	stored *events.Stream, stages []compact.Stage, o dedup.Options, rd blobs.Reader,
) ([]Change, error) {
	var h histories
	now, err := fragments(stored, o, rd)
	if err != nil {
		return nil, err
	}
	for i := range now {
		h.all = append(h.all, &history{first: &now[i], last: &now[i]})
	}
	h.current = slices.Clone(h.all)
	for _, st := range stages {
		if now, err = fragments(st.Stream, o, rd); err != nil {
			return nil, fmt.Errorf("after %s: %w", st.By, err)
		}
		h.enter(st.By, now)
	}
	return h.changes(), nil
}

// A fragment is a piece with its text. Its key is the same whatever becomes of the text.
type fragment struct {
	Piece
	key, text string
}

// A history is what became of one fragment.
type history struct {
	first, last *fragment // nil where there was none, or there is none any more
	by          []string
}

// histories are those of all fragments, in the order in which they stand.
type histories struct {
	all     []*history
	current []*history // of the fragments of the last stage
}

// enter goes on with the fragments of the next stage.
func (h *histories) enter(by string, now []fragment) {
	before := h.current
	h.current = make([]*history, len(now))
	kept := map[*history]bool{}
	for i, n := range pairs(before, now) {
		if n < 0 {
			continue
		}
		t := before[n]
		h.current[i], kept[t] = t, true
		if t.last.text != now[i].text {
			t.by = append(t.by, by)
		}
		t.last = &now[i]
	}
	for _, t := range before {
		if !kept[t] {
			t.last, t.by = nil, append(t.by, by)
		}
	}
	h.insert(by, now)
}

// insert enters the fragments that have no history, each before the next one that has.
func (h *histories) insert(by string, now []fragment) {
	var next *history
	for i, t := range slices.Backward(h.current) {
		if t == nil {
			at := len(h.all)
			if next != nil {
				at = slices.Index(h.all, next)
			}
			t = &history{last: &now[i], by: []string{by}}
			h.all, h.current[i] = slices.Insert(h.all, at, t), t
		}
		next = t
	}
}

// pairs returns for each fragment of a stage which one of the stage before it was, -1 for none.
// Of several with one key, those with the same text are the same.
func pairs(before []*history, now []fragment) []int {
	same, alike := map[[2]string][]int{}, map[string][]int{}
	for i, t := range before {
		k := [2]string{t.last.key, t.last.text}
		same[k] = append(same[k], i)
	}
	out := make([]int, len(now))
	taken := make([]bool, len(before))
	for i, f := range now {
		out[i] = -1
		k := [2]string{f.key, f.text}
		if q := same[k]; len(q) > 0 {
			out[i], same[k], taken[q[0]] = q[0], q[1:], true
		}
	}
	for i, t := range before {
		if !taken[i] {
			alike[t.last.key] = append(alike[t.last.key], i)
		}
	}
	for i, f := range now {
		if q := alike[f.key]; out[i] < 0 && len(q) > 0 {
			out[i], alike[f.key] = q[0], q[1:]
		}
	}
	return out
}

// changes returns the histories in which something changed.
func (h *histories) changes() []Change {
	var all []Change
	from, to := 0, 0 // the turns of what went since something stayed
	for _, t := range h.all {
		switch {
		case t.first == nil && t.last == nil:
			continue
		case t.first == nil:
			c := Change{Piece: t.last.Piece, By: t.by, Is: &t.last.text}
			if from > 0 {
				c.From, c.To = from, to
			}
			all = append(all, c)
			continue
		case t.last == nil:
			all = append(all, Change{Piece: t.first.Piece, By: t.by, Was: &t.first.text})
			if from == 0 {
				from = t.first.From
			}
			to = t.first.To
			continue
		case t.first.text != t.last.text:
			all = append(all, Change{t.first.Piece, t.by, &t.first.text, &t.last.text})
		}
		from = 0
	}
	return all
}

// fragments returns what a model is given of a stored stream.
func fragments(stored *events.Stream, o dedup.Options, rd blobs.Reader) ([]fragment, error) {
	p, err := Given(stored, o, rd)
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, c := range p.Stream.Calls() {
		names[c.Request], names[c.Response] = c.Name, c.Name
	}
	var all []fragment
	turns := p.Stream.TurnOf()
	for i, e := range p.Stream.All() {
		if t := turns[i]; e.Kind().IsEvent() && t >= 0 {
			at := p.Origins[t]
			f := fragmenter{
				e, Piece{From: at.From + 1, To: at.To + 1, Tool: names[i]}, at.Summary, rd,
			}
			all = append(all, f.fragments()...)
		}
	}
	return all, nil
}

// A fragmenter takes one event apart.
type fragmenter struct {
	element    *events.Element
	piece      Piece
	summarizes bool // the turn is a summary of others
	reader     blobs.Reader
}

func (f fragmenter) fragments() []fragment {
	switch ev := f.element.Event().(type) {
	case *events.ChatRequest:
		var all []fragment
		if ev.Content != events.SummaryRequest { // that frames a summary
			all = append(all, f.fragment(PieceQuestion, ev.Content))
		}
		for i := range ev.Resources {
			f.piece.URI = ev.Resources[i].URI
			all = append(all, f.fragment(PieceAttachment, f.resource(&ev.Resources[i])))
		}
		return all
	case *events.ChatResponse:
		return []fragment{f.fragment(f.said(ev), ev.Text+string(ev.Data))}
	case *events.ToolCallRequest:
		f.piece.Call = ev.ID
		return []fragment{f.fragment(PieceCall, ev.Name+" "+string(ev.Arguments))}
	case *events.ToolCallResponse:
		f.piece.Call = ev.ID
		texts := make([]string, len(ev.Blocks))
		for i := range ev.Blocks {
			texts[i] = f.block(&ev.Blocks[i])
		}
		return []fragment{f.fragment(PieceResult, strings.Join(texts, "\n"))}
	default:
		return nil
	}
}

// said is what a response is.
func (f fragmenter) said(r *events.ChatResponse) string {
	_, summary := compact.SummaryOf(f.element)
	switch {
	case summary || f.summarizes:
		return PieceSummary
	case r.Form == events.FormReasoning:
		return PieceReasoning
	default:
		return PieceAnswer
	}
}

// fragment returns a fragment that is known again by its call, or by its time.
func (f fragmenter) fragment(what, text string) fragment {
	f.piece.What = what
	name := f.piece.Call
	if name == "" {
		name = f.element.Time().Format(time.RFC3339Nano)
	}
	return fragment{f.piece, strings.Join([]string{what, name, f.piece.URI}, "\x00"), text}
}

func (f fragmenter) block(b *events.Block) string {
	switch {
	case b.Resource != nil:
		return f.resource(b.Resource)
	case b.Content.IsZero():
		return string(b.Raw)
	default:
		return f.text(b.Content, b.MIMEType)
	}
}

func (f fragmenter) resource(r *events.Resource) string {
	if r.Formatted != nil {
		return f.text(*r.Formatted, "")
	}
	return f.text(r.Content, r.MIMEType)
}

// text is what a content says; of one that is no text, or cannot be read, that it is there.
func (f fragmenter) text(c blobs.Content, mime string) string {
	if c.IsZero() {
		return ""
	}
	data, err := c.Bytes(f.reader)
	if err == nil && file.IsText(data) {
		return string(data)
	}
	if mime == "" {
		mime = "binary"
	}
	return fmt.Sprintf("[%s, %d bytes, sha256:%s]", mime, c.Size(), c.Ref().Hash)
}
