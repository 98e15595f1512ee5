package dedup

import (
	"iter"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Options are the settings of conversation.deduplication, together with facts about the model that
// only the caller knows.
type Options struct {
	Enabled  bool  // whether anything new is shortened
	MinBytes int64 // only content larger than this is shortened
	Lookback int   // the most turns between a delivery and its referent
	Lines    bool  // whether line runs are used

	// Tool reports whether results of a tool are deduplicated; nil means all are.
	Tool func(name string) bool
	// URI formats a URI for the model; nil leaves it unchanged.
	URI func(string) string
}

// A Form is how a resource is delivered.
type Form int

// The forms.
const (
	Whole     Form = iota
	Reference      // a message that says where the same content is
	Lines          // the new lines, and where the others are
)

// A Place identifies a resource of a stream: the element and the index of the block in a tool's
// result, or of the resource in a request.
type Place struct{ Element, Block int }

// A Delivery is the form of a resource that a model is given.
type Delivery struct {
	Form  Form
	Text  string // in place of the content, "" if that is delivered whole
	Saved int64  // bytes that the model is not given
	// Referents are the whole deliveries to which Text refers.
	Referents []Place
}

// A Plan holds the deliveries of one stream.
type Plan struct {
	short map[Place]Delivery
	marks map[int][]int
	saved int64
	again struct {
		count int
		bytes int64
	}
}

// New decides about every resource of a stream, which is the projected and sanitized one from which
// a request is built. It reads content through rd only to compare lines.
func New(s *events.Stream, o Options, rd blobs.Reader) (*Plan, error) {
	p := planner{
		options: o, reader: rd,
		seen: map[string]*history{}, files: map[string]*shelf{},
		plan: &Plan{short: map[Place]Delivery{}, marks: map[int][]int{}},
	}
	for _, batch := range batches(s) {
		for _, a := range batch {
			mark, marked := Marked(s.At(a.element).Metadata())
			if err := p.arrive(a, verdict{marked, mark}); err != nil {
				return nil, err
			}
		}
	}
	return p.plan, nil
}

// Block returns how a block of an element, or a resource of a request, is delivered.
func (p *Plan) Block(element, block int) Delivery { return p.short[Place{element, block}] }

// All yields the deliveries that are not whole, in order.
func (p *Plan) All() iter.Seq2[Place, Delivery] {
	return func(yield func(Place, Delivery) bool) {
		for _, at := range slices.SortedFunc(maps.Keys(p.short), Place.compare) {
			if !yield(at, p.short[at]) {
				return
			}
		}
	}
}

// Saved returns how many bytes the model is not given.
func (p *Plan) Saved() int64 { return p.saved }

// Again returns how often content is delivered whole because the model requested it again after it
// was given a reference, and how many bytes that is.
func (p *Plan) Again() (count int, bytes int64) { return p.again.count, p.again.bytes }

func (a Place) compare(b Place) int {
	if a.Element != b.Element {
		return a.Element - b.Element
	}
	return a.Block - b.Block
}
