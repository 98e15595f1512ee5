package dedup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A history holds the content of one URI that the model was given so far.
type history struct {
	last   *delivered                // the latest delivery, whole or not
	latest *delivered                // the latest whole delivery
	whole  map[blobs.Hash]*delivered // the latest whole delivery of each content
	// missed holds the call that last requested content and got a reference, and again the content
	// that was delivered whole to a model that requested it once more.
	missed map[blobs.Hash]asked
	again  map[blobs.Hash]bool
}

// asked is where content was requested.
type asked struct {
	turn, response int
	tool           string
}

// A delivered is a whole delivery.
type delivered struct {
	at       Place
	turn     int
	call     string
	attached bool
	resource *events.Resource
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
	seen    map[string]*history // by URI
	files   map[string]*shelf   // by URI without lines
	plan    *Plan
}

// arrive decides about the resources of one element.
func (p *planner) arrive(a arrival, v verdict) error {
	var short []int
	contested := false
	for _, f := range a.found {
		if f.resource.URI == "" || f.resource.Content.IsZero() {
			continue
		}
		h := p.of(f.resource.URI)
		contested = contested || len(p.shelf(f.resource.URI).whole) > 0
		d, err := p.deliver(a, f, h, v)
		if err != nil {
			return fmt.Errorf("deduplicate %s: %w", f.resource.URI, err)
		}
		if d.Form == Whole && h.asksAgain(a, f) {
			p.plan.again.count++
			p.plan.again.bytes += f.resource.Delivered().Size()
		}
		h.record(a, f, d)
		if d.Form == Whole {
			s := p.shelf(f.resource.URI)
			s.whole = append(s.whole, h.latest)
			continue
		}
		short = append(short, f.block)
		d.Saved = f.resource.Delivered().Size() - int64(len(d.Text))
		p.plan.short[Place{a.element, f.block}] = d
		p.plan.saved += d.Saved
	}
	// Without earlier deliveries the outcome does not depend on options, so no mark is needed.
	if contested && !v.known {
		p.plan.marks[a.element] = short
	}
	return nil
}

// shelf returns the deliveries of the file of a URI, whichever lines the URI names.
func (p *planner) shelf(uri string) *shelf {
	if base, fragment, part := strings.Cut(uri, "#"); part {
		if _, _, ok := fragmentLines(fragment); ok {
			uri = base
		}
	}
	s := p.files[uri]
	if s == nil {
		s = &shelf{}
		p.files[uri] = s
	}
	return s
}

func (p *planner) of(uri string) *history {
	h := p.seen[uri]
	if h == nil {
		h = &history{whole: map[blobs.Hash]*delivered{}, missed: map[blobs.Hash]asked{}}
		h.again = map[blobs.Hash]bool{}
		p.seen[uri] = h
	}
	return h
}

// deliver decides about one resource.
func (p *planner) deliver(a arrival, f found, h *history, v verdict) (Delivery, error) {
	if v.known && !slices.Contains(v.short, f.block) || !v.known && !p.wanted(a, f, h) {
		return Delivery{}, nil
	}
	// The same content is never sent as line runs, so a mark need not say which form it means.
	if same := h.whole[f.hash()]; same != nil {
		if f.showsMoreThan(same.resource) || !v.known && !p.near(a, same) {
			return Delivery{}, nil
		}
		return Delivery{
			Form: Reference, Text: p.reference(f, same), Referents: []Place{same.at},
		}, nil
	}
	if len(p.shelf(f.resource.URI).whole) > 0 && (v.known || p.options.Lines) {
		return p.lines(a, f, h, v.known)
	}
	return Delivery{}, nil
}

// wanted reports whether the options and the model's behavior allow f to be shortened.
func (p *planner) wanted(a arrival, f found, h *history) bool {
	o := p.options
	if !o.Enabled || f.resource.Content.Size() <= o.MinBytes {
		return false
	}
	if !a.tool {
		return true
	}
	return !h.asksAgain(a, f) && (o.Tool == nil || a.call.Name == "" || o.Tool(a.call.Name))
}

// asksAgain reports whether a model indicates that it lacks the content that it was referred to:
// the tool whose result was shortened is called for the same again, in the same turn. That works
// once; otherwise every second call would be answered in full.
func (h *history) asksAgain(a arrival, f found) bool {
	missed, ok := h.missed[f.hash()]
	return ok && !h.again[f.hash()] && a.tool && a.turn == missed.turn &&
		a.call.Name == missed.tool && a.call.Request > missed.response
}

// hash returns the hash of the content.
func (f found) hash() blobs.Hash { return f.resource.Content.Ref().Hash }

// showsMoreThan reports whether a model is given more of the content than of another delivery of it
// that was truncated.
func (f found) showsMoreThan(r *events.Resource) bool {
	return r.Formatted != nil && r.Formatted.Size() < r.Content.Size() &&
		f.resource.Delivered().Size() > r.Formatted.Size()
}

func (p *planner) near(a arrival, d *delivered) bool {
	return a.turn-d.turn <= p.options.Lookback
}

// record records the delivery d of f.
func (h *history) record(a arrival, f found, d Delivery) {
	hash := f.hash()
	h.last = &delivered{
		at: Place{a.element, f.block}, turn: a.turn, call: a.call.ID, attached: !a.tool,
		resource: f.resource,
	}
	if d.Form != Whole {
		if a.tool {
			h.missed[hash] = asked{turn: a.turn, response: a.element, tool: a.call.Name}
		}
		return
	}
	h.again[hash] = h.asksAgain(a, f)
	h.latest = h.last
	h.whole[hash] = h.latest
	delete(h.missed, hash)
}
