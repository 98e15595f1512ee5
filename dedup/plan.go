package dedup

import (
	"iter"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Options are the settings of [conversation.deduplication] and what only the caller
// knows of the model.
type Options struct {
	Enabled  bool  // whether anything new is shortened
	MinBytes int64 // only contents larger than this are
	Lookback int   // the most turns between a delivery and its referent
	Lines    bool  // whether line runs are looked for

	// Tool reports whether the results of a tool take part; nil says that all do.
	Tool func(name string) bool
	// Given reports whether the model is given the content of a resource at all and
	// not a placeholder; nil says that it always is.
	Given func(*events.Resource) bool
	// URI spells a URI for the model; nil leaves it as it is.
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

// A Place is a resource of a stream: the element and, in it, the index of the block of
// a tool's result or of the resource of a request.
type Place struct{ Element, Block int }

// A Delivery is what a model is given of a resource.
type Delivery struct {
	Form  Form
	Text  string // instead of the content, "" when that is whole
	Saved int64  // bytes that the model is not given
	// Referents are the whole deliveries that Text speaks of.
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

// New decides about every resource of a stream, which is the projected and sanitized
// one that a request is built from. Contents are read through rd only to compare
// lines.
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

// Block returns how a block of an element is delivered, or a resource of a request.
func (p *Plan) Block(element, block int) Delivery { return p.short[Place{element, block}] }

// All returns the incomplete deliveries, in order.
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

// Again returns how often the model is given a content whole because it asked for it once more
// after it was told where it has it, and how many bytes these are.
func (p *Plan) Again() (count int, bytes int64) { return p.again.count, p.again.bytes }

func (a Place) compare(b Place) int {
	if a.Element != b.Element {
		return a.Element - b.Element
	}
	return a.Block - b.Block
}
