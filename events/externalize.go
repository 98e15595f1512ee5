package events

import (
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// A Writer stores content, and does not keep b. [*blobs.Store] is one.
type Writer interface {
	Write(b []byte) (blobs.Ref, error)
}

// ExternalizeOptions selects what [Stream.Externalize] changes.
type ExternalizeOptions struct {
	// Legacy also externalizes content in jp's form: base64 strings, which become one text block or
	// the blocks in the metadata, and resources in the metadata.
	Legacy bool
}

// Externalize stores the content that is in the stream through w and replaces it by references,
// except for content of imports that belongs in the stream, see [StaysInline]. It returns the
// number of replacements. On an error the stream is unchanged, but some content may have been
// stored.
func (s *Stream) Externalize(w Writer, o ExternalizeOptions) (n int, err error) {
	var md Metadata // of the event whose content is being exchanged
	x := &exchange{swap: func(c blobs.Content) (blobs.Content, error) {
		if !md.toStore(c) {
			return c, nil
		}
		ref, err := w.Write(loadedBytes(c))
		if err != nil {
			return c, err
		}
		return blobs.Refer(ref), nil
	}}
	s.learn()
	defer s.learn()
	from := s.known.n
	if o.Legacy {
		from = 0
	}
	return s.replace(from, x, func(e *Element) (*Element, error) {
		if md = e.meta; !e.toStore(o) {
			return e, nil
		}
		ev, err := x.event(e.event)
		if err != nil {
			return nil, err
		}
		return e.asArray(ev), nil
	})
}

// toStore reports whether [Stream.Externalize] changes the element.
func (e *Element) toStore(o ExternalizeOptions) bool {
	return o.Legacy && e.view != view{} || slices.ContainsFunc(e.slots, func(s slot) bool {
		if s.legacy {
			return o.Legacy
		}
		return e.meta.toStore(s.content)
	})
}

// asArray is With for an event whose content was exchanged. It converts jp's form to an array of
// blocks even if there was no content to exchange.
func (e *Element) asArray(ev Event) *Element {
	md := e.meta
	if e.view.blocks {
		md = md.Without(metadataBlocks)
	}
	if e.view.resources {
		md = md.Without(metadataResources)
	}
	if r, ok := ev.(*ToolCallResponse); ok {
		for i := range r.Blocks {
			if jsonspan.IsString(r.Blocks[i].Raw) {
				r.Blocks[i].Raw = nil
			}
		}
	}
	before := elementFields(e.time, e.event, e.meta)
	if e.view.blocks || e.view.resources {
		before = slices.DeleteFunc(before, func(f jsonspan.Field) bool {
			return f.Name == "content" && e.view.blocks || f.Name == "resources" && e.view.resources
		})
	}
	raw := jsonspan.Splice(e.raw, before, elementFields(e.time, ev, md), 1)
	return built(raw, e.time, ev, md)
}

// replace calls f for every element from index one on and puts the result in its place, for all
// elements or for none. It counts the references that x exchanged, and one for an element that f
// changed without exchanging any.
func (s *Stream) replace(
	from int, x *exchange, f func(*Element) (*Element, error),
) (int, error) {
	next := map[int]*Element{}
	n := 0
	for i := from; i < s.Len(); i++ {
		e := s.At(i)
		before := x.n
		changed, err := f(e)
		if err != nil {
			return 0, fmt.Errorf("element %d (%s): %w", i, printable(string(e.kind)), err)
		}
		if changed != e {
			next[i] = changed
			n += max(1, x.n-before)
		}
	}
	for i, e := range next {
		s.Set(i, e)
	}
	return n, nil
}

// An exchange replaces the content of an event.
type exchange struct {
	swap func(blobs.Content) (blobs.Content, error)
	n    int // pieces of content replaced
}

func (x *exchange) event(ev Event) (Event, error) {
	var err error
	switch ev := ev.(type) {
	case *ChatRequest:
		next := *ev
		next.Resources, err = x.resources(ev.Resources)
		return &next, err
	case *ToolCallResponse:
		next := *ev
		next.Blocks, err = x.blocks(ev.Blocks)
		return &next, err
	default:
		return ev, nil
	}
}

func (x *exchange) blocks(blocks []Block) ([]Block, error) {
	next := slices.Clone(blocks)
	for i := range next {
		b := &next[i]
		if err := x.content(&b.Content); err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
		if b.Resource == nil {
			continue
		}
		res, err := x.resource(*b.Resource)
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
		b.Resource = &res
	}
	return next, nil
}

func (x *exchange) resources(rs []Resource) ([]Resource, error) {
	next := slices.Clone(rs)
	for i, res := range next {
		var err error
		if next[i], err = x.resource(res); err != nil {
			return nil, fmt.Errorf("resource %d: %w", i, err)
		}
	}
	return next, nil
}

func (x *exchange) resource(res Resource) (Resource, error) {
	if res.Formatted != nil {
		formatted := *res.Formatted
		if err := x.content(&formatted); err != nil {
			return res, err
		}
		res.Formatted = &formatted
	}
	return res, x.content(&res.Content)
}

func (x *exchange) content(c *blobs.Content) error {
	next, err := x.swap(*c)
	if err != nil {
		return err
	}
	if next.IsRef() != c.IsRef() {
		x.n++
	}
	*c = next
	return nil
}
