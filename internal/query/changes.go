package query

import (
	"cmp"
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

// The kinds of a [Piece].
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

// A Piece is one part of a conversation as a model is given it.
type Piece struct {
	What string
	Tool string // of a call or a result, as is Call; URI is that of an attachment
	Call string
	URI  string
	// From and To are the turns that contain the piece, or that it replaces, counted from 1.
	From, To int
}

// A Change is a piece that a compaction changes or removes.
type Change struct {
	Piece
	By []string // the steps that changed it
	// Was and Is are the text that the model is given before and after; nil for nothing.
	Was, Is *string
}

// WithoutTools returns the changes for tools that a prompt no longer offers.
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

// maxPiece limits how much of one piece is compared: no model takes as much.
const maxPiece = 1 << 20

// Patch returns a unified diff of the text before and after.
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
			t += "\n" // no file: a missing newline at the end means nothing
		}
		return name, t
	}
	from, was := side("before", c.Was)
	to, is := side("after", c.Is)
	return udiff.Unified(from, to, was, is)
}

// Changes returns how all stages of a compaction change the view of a stored stream, in the order
// of the conversation. A replacement follows the pieces that it replaces. Pieces that were not part
// of the view before cause no change.
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

// A fragment is a piece with its text. Its key stays the same when the text changes.
type fragment struct {
	Piece
	key, text string
}

// A history follows one fragment through the stages.
type history struct {
	first, last *fragment // first is nil for an added fragment, last for a removed one
	by          []string
}

// histories holds the histories of all fragments, in the order of the conversation.
type histories struct {
	all     []*history
	current []*history // of the fragments of the last stage
}

// enter adds the fragments of the next stage.
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

// insert adds fragments without a history, each before the next fragment that has one.
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

// pairs returns for each fragment of a stage the index of the same fragment in the stage before, -1
// for a new one. Fragments that share a key are paired by their text first.
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

// changes returns the histories with a change.
func (h *histories) changes() []Change {
	var all []Change
	from, to := 0, 0 // the turns of the fragments removed since the last kept one
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
			from = cmp.Or(from, t.first.From)
			to = t.first.To
			continue
		case t.first.text != t.last.text:
			all = append(all, Change{t.first.Piece, t.by, &t.first.text, &t.last.text})
		}
		from = 0
	}
	return all
}

// fragments returns the fragments of the view of a stored stream.
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

// A fragmenter splits one event into fragments.
type fragmenter struct {
	element    *events.Element
	piece      Piece
	summarizes bool // the turn is a summary of other turns
	reader     blobs.Reader
}

func (f fragmenter) fragments() []fragment {
	switch ev := f.element.Event().(type) {
	case *events.ChatRequest:
		var all []fragment
		if ev.Content != events.SummaryRequest { // otherwise it frames a summary
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

// said returns the kind of a response.
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

// fragment returns a fragment whose key has the id of its call, or else its time.
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

// text returns a content as text. Binary or unreadable content is replaced by its type, size and
// hash.
func (f fragmenter) text(c blobs.Content, mime string) string {
	if c.IsZero() {
		return ""
	}
	data, err := c.Bytes(f.reader)
	if err == nil && file.IsText(data) {
		return string(data)
	}
	mime = cmp.Or(mime, "binary")
	return fmt.Sprintf("[%s, %d bytes, sha256:%s]", mime, c.Size(), c.Ref().Hash)
}
