package dedup

import (
	"github.com/git-jp/git-jp/events"
)

// Mark is the key of an event's metadata that holds the decision about it: the indexes of the
// blocks, or of the resources of a request, that were not delivered whole. An event without it was
// never decided about, or had nothing to decide.
const Mark = events.MetadataPrefix + "dedup"

// Marked returns the decision about an event, and whether there is one.
func Marked(md events.Metadata) ([]int, bool) {
	var blocks []int
	if !md.JSON(Mark, &blocks) || blocks == nil {
		return nil, false
	}
	return blocks, true
}

// WithMark returns md with a decision added.
func WithMark(md events.Metadata, blocks []int) events.Metadata {
	if blocks == nil {
		blocks = []int{}
	}
	return md.WithJSON(Mark, blocks)
}

// Store marks the decisions of the plan that might not be repeated, before the request is sent. It
// sets the marks in stored, the stream from which planned was projected, on every element that
// planned shares with it. It returns how many it set.
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

// Trimmed is the key of an event's metadata that records the content that was removed from requests
// because a later element made it obsolete: true for an entire result, or the indexes of resources
// of a request. It is kept as long as that element is given, because prompts that were sent lack
// the content.
const Trimmed = events.MetadataPrefix + "trimmed"

// Unmarked returns md without decisions about content that was removed.
func Unmarked(md events.Metadata) events.Metadata {
	return md.Without(Mark).Without(Trimmed).Without(trimmedFor).Without(trimmedRoom)
}
