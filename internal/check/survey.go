package check

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/refs"
)

// survey looks at whole directories of the store for Git LFS pointers, where content is not
// read anyway. What it finds to have none the cache remembers by the directory, so that the
// next check needs no size and reads nothing. What it finds odd is left for judge to say.
func (v *verifier) survey(ctx context.Context, src Source, s *store) error {
	o, ok := src.(objectSource)
	if !ok || v.opts.Content || v.opts.Select != nil {
		return nil
	}
	var group []part
	size := 0
	for i, p := range s.parts {
		if v.cache.IsPlain(p.tree) {
			p.mark(plain)
		} else {
			group, size = append(group, p), size+len(p.blobs)
		}
		if size < objectsAtOnce && i < len(s.parts)-1 {
			continue
		}
		if err := v.surveyParts(ctx, o, group); err != nil {
			return err
		}
		group, size = nil, 0
		v.opts.progress("store", i+1, len(s.parts))
	}
	return nil
}

// objectsAtOnce bounds the names that are gathered for one step.
const objectsAtOnce = 1 << 15

func (p part) mark(as look) {
	for _, b := range p.blobs {
		b.look = as
	}
}

func (v *verifier) surveyParts(ctx context.Context, o objectSource, parts []part) error {
	var all []*blob
	for _, p := range parts {
		all = append(all, p.blobs...)
	}
	sizes, err := o.ObjectSizes(ctx, idsOf(all))
	if err != nil {
		return fmt.Errorf("look up %d blobs: %w", len(all), err)
	}
	var suspects []*blob
	for i, b := range all {
		switch n := sizes[i]; {
		case n < 0:
		case n < minPointer || n > maxPointer:
			b.look = sound
		default:
			suspects = append(suspects, b)
		}
	}
	err = o.ReadObjects(ctx, idsOf(suspects), func(i int, data []byte, err error) error {
		if err == nil && !blobs.IsPointer(data) {
			suspects[i].look = sound
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look into %d blobs: %w", len(suspects), err)
	}
	for _, p := range parts {
		if p.sound() {
			v.cache.SetPlain(p.tree)
		}
	}
	return nil
}

func (p part) sound() bool {
	for _, b := range p.blobs {
		if b.look != sound {
			return false
		}
	}
	return true
}

func idsOf(all []*blob) []refs.ObjectID {
	ids := make([]refs.ObjectID, len(all))
	for i, b := range all {
		ids[i] = b.id
	}
	return ids
}
