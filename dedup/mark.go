package dedup

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// Mark is the key of an event's metadata that holds what was decided about it: the
// indexes of the blocks, or of the resources of a request, that were not delivered
// whole. An event without it was never decided about, or had nothing to decide.
const Mark = events.MetadataPrefix + "dedup"

// Marked returns what was decided about an event, and whether anything was.
func Marked(md events.Metadata) ([]int, bool) {
	v, ok := md.Value(Mark)
	if !ok {
		return nil, false
	}
	var blocks []int
	if json.Unmarshal(v, &blocks) != nil || blocks == nil {
		return nil, false
	}
	return blocks, true
}

// WithMark returns md with a decision.
func WithMark(md events.Metadata, blocks []int) events.Metadata {
	if blocks == nil {
		blocks = []int{}
	}
	v, err := json.Marshal(blocks)
	if err != nil {
		return md // integers always marshal
	}
	return md.With(Mark, v)
}

// Marks returns the elements about which this plan decided something that would not
// be decided again for certain, in order, each with its mark. Store them before the
// request is sent.
func (p *Plan) Marks() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		for _, i := range slices.Sorted(maps.Keys(p.marks)) {
			if !yield(i, p.marks[i]) {
				return
			}
		}
	}
}

// Store sets the marks in stored, the stream that planned was projected from: every
// element of it that planned took over as it is. It returns how many it set.
func (p *Plan) Store(planned, stored *events.Stream) int {
	marks := map[*events.Element][]int{}
	for i, blocks := range p.marks {
		marks[planned.At(i)] = blocks
	}
	n := 0
	for i, e := range stored.Clone().All() {
		if blocks, ok := marks[e]; ok {
			stored.Set(i, e.WithMetadata(WithMark(e.Metadata(), blocks)))
			n++
		}
	}
	return n
}

// Trimmed is the key of an event's metadata that says what of it was taken out of requests
// because something later made it obsolete: the whole of a result, as true, or the indexes of
// resources of a request. It stays for as long as what made it obsolete is given, since prompts
// that were sent lack it.
const Trimmed = events.MetadataPrefix + "trimmed"

// Unmarked returns md without decisions about contents that are not there any more.
func Unmarked(md events.Metadata) events.Metadata {
	return md.Without(Mark).Without(Trimmed).Without(trimmedFor).Without(trimmedRoom)
}
