package dedup

import (
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A history is what the model was given of one URI so far.
type history struct {
	latest *delivered                // the latest whole delivery
	whole  map[blobs.Hash]*delivered // the latest whole delivery of each content
	missed map[blobs.Hash]int        // element that last answered a call without it
}

// A delivered is one whole delivery.
type delivered struct {
	at       Place
	turn     int
	call     string
	attached bool
	resource *events.Resource
	table    *lineTable // nil until it is needed
}

// A verdict is the stored mark of an element.
type verdict struct {
	known bool
	short []int
}

// A planner goes through a stream once.
type planner struct {
	options Options
	reader  blobs.Reader
	seen    map[string]*history
	plan    *Plan
}

// arrive decides about the resources of one element.
func (p *planner) arrive(a arrival, v verdict) error {
	var short []int
	contested := false
	for _, f := range a.found {
		if f.resource.URI == "" || f.resource.Content.IsZero() || !p.given(f.resource) {
			continue
		}
		h := p.of(f.resource.URI)
		contested = contested || h.latest != nil
		d, err := p.deliver(a, f, h, v)
		if err != nil {
			return fmt.Errorf("deduplicate %s: %w", f.resource.URI, err)
		}
		h.record(a, f, d)
		if d.Form == Whole {
			continue
		}
		short = append(short, f.block)
		p.plan.short[Place{a.element, f.block}] = d
		p.plan.saved += delivery(f.resource).Size() - int64(len(d.Text))
	}
	// Where nothing came before, no options could ever have another outcome.
	if contested && !v.known {
		p.plan.marks[a.element] = short
	}
	return nil
}

func (p *planner) given(r *events.Resource) bool {
	return p.options.Given == nil || p.options.Given(r)
}

func (p *planner) of(uri string) *history {
	h := p.seen[uri]
	if h == nil {
		h = &history{whole: map[blobs.Hash]*delivered{}, missed: map[blobs.Hash]int{}}
		p.seen[uri] = h
	}
	return h
}

// deliver decides about one resource.
func (p *planner) deliver(a arrival, f found, h *history, v verdict) (Delivery, error) {
	if v.known && !slices.Contains(v.short, f.block) || !v.known && !p.wanted(a, f, h) {
		return Delivery{}, nil
	}
	// The same content is never told as lines, so that a mark needs not say which form
	// it stands for.
	hash := f.resource.Content.Ref().Hash
	if same := h.whole[hash]; same != nil {
		if !v.known && !p.near(a, same) {
			return Delivery{}, nil
		}
		return Delivery{Form: Reference, Text: p.reference(f, same), Referent: same.at}, nil
	}
	if h.latest != nil && (v.known || p.options.Lines && p.near(a, h.latest)) {
		return p.lines(f, h.latest)
	}
	return Delivery{}, nil
}

// wanted reports whether the options and the model want f shortened.
func (p *planner) wanted(a arrival, f found, h *history) bool {
	o := p.options
	if !o.Enabled || f.resource.Content.Size() <= o.MinBytes {
		return false
	}
	if !a.tool {
		return true
	}
	missed, ok := h.missed[f.resource.Content.Ref().Hash]
	askedAgain := ok && a.call.Request > missed
	return !askedAgain && (o.Tool == nil || a.call.Name == "" || o.Tool(a.call.Name))
}

func (p *planner) near(a arrival, d *delivered) bool {
	return a.turn-d.turn <= p.options.Lookback
}

// record enters the delivery d of f.
func (h *history) record(a arrival, f found, d Delivery) {
	hash := f.resource.Content.Ref().Hash
	if d.Form != Whole {
		if a.tool {
			h.missed[hash] = a.element
		}
		return
	}
	h.latest = &delivered{
		at: Place{a.element, f.block}, turn: a.turn, call: a.call.ID, attached: !a.tool,
		resource: f.resource,
	}
	h.whole[hash] = h.latest
	delete(h.missed, hash)
}
