package events

import (
	"fmt"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Inline reads references through r and replaces them by their content, in the form that today's jp
// reads: the content of a tool's result is base64 of its [ToolCallResponse.Text], and the rest is
// kept in the event's metadata as [metadataBlocks] and [metadataResources]. It returns the number
// of pieces of content that it moved. On an error the stream is unchanged.
//
// [Decode] prefers the metadata as long as the text still matches its rendering. If the text was
// edited, the text counts.
func (s *Stream) Inline(r blobs.Reader) (n int, err error) {
	x := &exchange{swap: func(c blobs.Content) (blobs.Content, error) {
		if !c.IsRef() {
			return c, nil
		}
		b, err := c.Bytes(r)
		if err != nil {
			return c, err
		}
		return blobs.Loaded(b), nil
	}}
	return s.replace(0, x, func(e *Element) (*Element, error) { return e.inlined(x) })
}

// inlined returns the element in the form that today's jp reads.
func (e *Element) inlined(x *exchange) (*Element, error) {
	if e.isBroken() {
		return e, nil
	}
	switch ev := e.event.(type) {
	case *ToolCallResponse:
		if e.view.blocks || len(ev.Blocks) == 1 && ev.Blocks[0].isLegacy() {
			return e, nil
		}
	case *ChatRequest:
		if e.view.resources || ev.Resources == nil {
			return e, nil
		}
	default:
		return e, nil
	}
	ev, err := x.event(e.event)
	if err != nil {
		return nil, err
	}
	if r, ok := ev.(*ToolCallResponse); ok {
		return e.inlinedResult(r)
	}
	return e.inlinedRequest(ev.(*ChatRequest))
}

func (e *Element) inlinedResult(r *ToolCallResponse) (*Element, error) {
	if err := noHiddenReference(encodeBlocks(r.Blocks)); err != nil {
		return nil, err
	}
	rendered, _ := r.Text(nil) // cannot fail: everything is in memory
	plain := appendBase64(nil, []byte(inUTF8(rendered)))
	md := e.meta.Without(metadataBlocks)
	if !isPlain(r.Blocks) {
		md = md.With(metadataBlocks, encodeBlocks(r.Blocks))
	}
	ev := *r
	ev.Blocks = []Block{legacyBlock(plain)}
	return e.splice(e.time, &ev, md), nil
}

func (e *Element) inlinedRequest(r *ChatRequest) (*Element, error) {
	v := encodeResources(r.Resources)
	if err := noHiddenReference(v); err != nil {
		return nil, err
	}
	ev := *r
	ev.Resources = nil
	return e.splice(e.time, &ev, e.meta.With(metadataResources, v)), nil
}

// isPlain reports whether text alone can represent the blocks.
func isPlain(blocks []Block) bool {
	if len(blocks) != 1 || blocks[0].Type != BlockText {
		return false
	}
	b := blocks[0]
	if jsonspan.IsObject(b.Raw) && len(jsonspan.Members(b.Raw)) != 2 {
		return false // it has members besides type and content
	}
	return utf8.Valid(loadedBytes(b.Content))
}

// noHiddenReference refuses to move an unknown reference into the metadata, where strings are
// encoded and garbage collection would not find it.
func noHiddenReference(v jsontext.Value) error {
	if refs := looseReferences(v); len(refs) > 0 {
		return fmt.Errorf("a newer version's reference to %s cannot be moved", refs[0].ref.Hash)
	}
	return nil
}
