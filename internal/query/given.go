package query

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// Given returns a stored stream as a model is given it, for people to read: compactions are
// applied, and content that is not delivered is replaced by the text that a request has in its
// place. Turns keep their numbers of the stored stream. The options say how URIs are spelled.
func Given(stored *events.Stream, o dedup.Options, rd blobs.Reader) (events.Projection, error) {
	p := stored.Project()
	marked := untrimmed(p)
	view := dedup.Trim(marked)
	plan, err := dedup.New(view, o, rd)
	if err != nil {
		return events.Projection{}, err
	}
	out := view.Clone()
	for i, e := range view.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			out.Set(i, e.With(givenRequest(ev, e.Metadata().Stripped(), instead(plan, i), o.URI)))
		case *events.ToolCallResponse:
			out.Set(i, e.With(givenResult(ev, instead(plan, i))))
		}
	}
	return events.Projection{Stream: out, Origins: origins(p, marked)}, nil
}

// instead returns the text by which a plan replaces the blocks of an element.
func instead(p *dedup.Plan, element int) func(block int) (string, bool) {
	return func(block int) (string, bool) {
		if p == nil {
			return "", false
		}
		d := p.Block(element, block)
		return d.Text, d.Form != dedup.Whole
	}
}

func givenRequest(
	r *events.ChatRequest, stripped []events.Resource, short func(int) (string, bool),
	spell func(string) string,
) *events.ChatRequest {
	out := *r
	out.Resources = nil
	for _, res := range stripped {
		out.Resources = append(out.Resources, inPlaceOf(res, takenOut(spell(res.URI))))
	}
	for n, res := range r.Resources {
		if text, ok := short(n); ok {
			res = inPlaceOf(res, text)
		}
		out.Resources = append(out.Resources, res)
	}
	return &out
}

func inPlaceOf(r events.Resource, text string) events.Resource {
	return events.Resource{URI: r.URI, Content: blobs.Loaded([]byte(text))}
}

// takenOut returns the text for an attachment whose content a compaction removed.
func takenOut(uri string) string { return "[attachment " + uri + ": taken out since]" }

func givenResult(
	r *events.ToolCallResponse, short func(int) (string, bool),
) *events.ToolCallResponse {
	out := *r
	out.Blocks = nil
	for n, b := range r.Blocks {
		if text, ok := short(n); ok {
			b = events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte(text))}
		}
		out.Blocks = append(out.Blocks, b)
	}
	return &out
}

// origins returns for each turn of a view the stored turns that it comes from. The view was
// repaired for providers, which can remove a turn.
func origins(p events.Projection, view *events.Stream) []events.Origin {
	turn := make(map[*events.Element]int, p.Stream.Len())
	for i, t := range p.Stream.TurnOf() {
		turn[p.Stream.At(i)] = t
	}
	all := make([]events.Origin, len(view.Turns()))
	for i, t := range view.TurnOf() {
		if from, ok := turn[view.At(i)]; ok && t >= 0 && from >= 0 {
			all[t] = p.Origins[from]
		}
	}
	return all
}
