package events

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// given returns the element without reading its bytes back, if they are known to read back as the
// event that they were written from: usual JSON without anything that someone else wrote. It
// returns nil if that is not known. Reading back takes as long as writing. The element has a copy
// of the event, as if it were read back: who made the event may change it.
func (w composed) given() *Element {
	at := w.at.UTC().Round(0)
	if year := at.Year(); !w.usual || w.meta.err != nil || year < 1 || year > 9999 {
		return nil
	}
	ev, slots := w.event, []slot(nil)
	switch e := ev.(type) {
	case *TurnStart:
	case *ChatRequest:
		if _, inline := w.meta.find(metadataResources); inline {
			return nil
		}
		ev = new(*e)
	case *ChatResponse:
		if e.Form != FormMessage && e.Form != FormReasoning {
			return nil
		}
		ev = new(*e)
	case *ToolCallRequest:
		if !jsonspan.IsObject(e.Arguments) {
			return nil
		}
		ev = &ToolCallRequest{ID: e.ID, Name: e.Name, Arguments: respelled(e.Arguments)}
	case *ToolCallResponse:
		if slots = slotsOf(e.Blocks); slots == nil {
			return nil
		}
		ev = &ToolCallResponse{ID: e.ID, IsError: e.IsError, Blocks: cloned(e.Blocks)}
	default:
		return nil
	}
	el := &Element{
		raw: w.raw, kind: ev.Kind(), time: at, event: ev, meta: w.meta, slots: slots,
		unplaced: true,
	}
	for _, s := range slots {
		el.largest = max(el.largest, s.content.Size())
	}
	return el
}

// respelled returns arguments as they are read: compact, with strings in jp's spelling.
func respelled(v []byte) []byte {
	return jsonspan.Rewriter{Text: func(dst, quoted []byte) []byte {
		return jsonspan.Quote(dst, jsonspan.Unquote(quoted))
	}}.Rewrite(v)
}

// cloned returns blocks that share only contents with the caller's, which nobody changes.
func cloned(blocks []Block) []Block {
	all := slices.Clone(blocks)
	for i := range all {
		if r := all[i].Resource; r != nil {
			all[i].Resource = new(*r)
			if r.Formatted != nil {
				all[i].Resource.Formatted = new(*r.Formatted)
			}
		}
	}
	return all
}

// slotsOf returns the contents of blocks, without their offsets. It returns nil if there are no
// blocks, or if one would not be read back as it is.
func slotsOf(blocks []Block) []slot {
	all := make([]slot, 0, len(blocks))
	for i := range blocks {
		b := &blocks[i]
		part, content, r := Part(b.Type), b.Content, b.Resource
		switch b.Type {
		case BlockText, BlockImage, BlockAudio:
			if r != nil || b.Type == BlockText && b.MIMEType != "" {
				return nil
			}
		case BlockResource:
			if r == nil || b.MIMEType != "" || !b.Content.IsZero() {
				return nil
			}
			content = r.Content
		default:
			return nil
		}
		if !isReadBack(content) {
			return nil
		}
		if r == nil {
			all = append(all, slot{part: part, content: content})
			continue
		}
		all = append(all, slot{part: part, uri: r.URI, content: content})
		if r.Formatted != nil {
			if !isReadBack(*r.Formatted) {
				return nil
			}
			all = append(all, slot{part: PartFormatted, uri: r.URI, content: *r.Formatted})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// isReadBack reports whether a content reads back as it is.
func isReadBack(c blobs.Content) bool { return !c.IsZero() && c.Size() >= 0 }

// placed returns the slots with their offsets.
func (e *Element) placed() []slot {
	if !e.unplaced || len(e.slots) == 0 {
		return e.slots
	}
	return built(e.raw, e.time, e.event, e.meta).slots
}
