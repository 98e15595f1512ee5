package dedup

import (
	"encoding/json"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Stub returns what stands in the place of a superseded result.
func Stub(tool string) string { return "[superseded] " + tool + ": a later result has this" }

// WithTrimmed marks an element of which something was superseded, see [Trimmed].
func WithTrimmed(e *events.Element, blocks ...int) *events.Element {
	md := e.Metadata()
	v := []byte("true")
	if e.Kind() == events.KindChatRequest {
		all := slices.Concat(trimmedBlocks(md), blocks)
		slices.Sort(all)
		encoded, err := json.Marshal(slices.Compact(all))
		if err != nil {
			return e // integers always marshal
		}
		v = encoded
	}
	return e.WithMetadata(md.With(Trimmed, v))
}

func trimmedBlocks(md events.Metadata) []int {
	v, ok := md.Value(Trimmed)
	if !ok {
		return nil
	}
	var blocks []int
	if json.Unmarshal(v, &blocks) != nil {
		return nil
	}
	return blocks
}

// Trim returns a stream without what was marked as superseded. Elements without a mark are
// those of s.
func Trim(s *events.Stream) *events.Stream {
	var out *events.Stream
	names := map[int]string{}
	for i, e := range s.All() {
		v, ok := e.Metadata().Value(Trimmed)
		if !ok {
			continue
		}
		if out == nil {
			out = s.Clone()
			for _, c := range s.Calls() {
				names[c.Response] = c.Name
			}
		}
		switch ev := e.Event().(type) {
		case *events.ToolCallResponse:
			if string(v) == "true" {
				out.Set(i, trimmedResult(e, ev, names[i]))
			}
		case *events.ChatRequest:
			out.Set(i, trimmedRequest(e, ev))
		}
	}
	if out == nil {
		return s
	}
	return out
}

func trimmedResult(e *events.Element, r *events.ToolCallResponse, tool string) *events.Element {
	short := *r
	short.Blocks = []events.Block{{
		Type: events.BlockText, Content: blobs.Loaded([]byte(Stub(tool))),
	}}
	return e.With(&short).WithMetadata(Unmarked(e.Metadata()))
}

func trimmedRequest(e *events.Element, r *events.ChatRequest) *events.Element {
	gone := trimmedBlocks(e.Metadata())
	short := *r
	short.Resources = nil
	var lost []events.Resource
	marked, known := Marked(e.Metadata())
	var moved []int
	for n, res := range r.Resources {
		if slices.Contains(gone, n) {
			lost = append(lost, res)
			continue
		}
		if slices.Contains(marked, n) {
			moved = append(moved, len(short.Resources))
		}
		short.Resources = append(short.Resources, res)
	}
	md := Unmarked(e.Metadata()).WithStripped(lost...)
	if known { // what was decided about the others stays decided
		md = WithMark(md, moved)
	}
	return e.With(&short).WithMetadata(md)
}
