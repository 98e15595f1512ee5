package check

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
)

// A part is the blobs of a top-level directory of a store that holds nothing else.
type part struct {
	tree  gitint.OID
	blobs []*blob
}

// survey examines entire directories of the store if content is not read anyway: whether the blobs
// are here and are not Git LFS pointers. The cache records the result for each directory, so that
// the next check reads none. Anything unusual is left to judge.
func (v *verifier) survey(ctx context.Context, src Source, parts <-chan part) error {
	o, ok := src.(objectSource)
	ok = ok && !v.opts.Content && v.opts.Select == nil
	var group []part
	var err error
	size := 0
	for p := range parts {
		if !ok || err != nil {
			continue
		}
		group, size = append(group, p), size+len(p.blobs)
		if size >= surveyedAtOnce {
			err = v.surveyParts(ctx, o, group)
			group, size = nil, 0
		}
	}
	if err == nil && size > 0 {
		err = v.surveyParts(ctx, o, group)
	}
	return err
}

const (
	// objectsAtOnce limits the ids that are collected for one step.
	objectsAtOnce = 1 << 15
	// pathsAtOnce is that limit if each is looked up by its path: in a lazy clone all are missing.
	pathsAtOnce = 1 << 13
	// surveyedAtOnce is that limit for steps that read a pack from its beginning to its end,
	// because the blobs of one store directory are spread all over it.
	surveyedAtOnce = 1 << 17
)

func (v *verifier) surveyParts(ctx context.Context, o objectSource, parts []part) error {
	var known, all []*blob
	var unknown []part
	for _, p := range parts {
		if v.cache.IsPlain(p.tree) {
			known = append(known, p.blobs...)
		} else {
			all, unknown = append(all, p.blobs...), append(unknown, p)
		}
	}
	err := v.stillHere(ctx, o, known)
	if err != nil || len(unknown) == 0 {
		return err
	}
	err = o.ReadObjectsOf(ctx, idsOf(all), isSuspect,
		func(i int, size int64, data []byte, err error) error {
			pointer := isSuspect(size) && blobs.IsPointer(data)
			switch { // anything else is left to judge
			case err == nil && size > 0 && !pointer:
				all[i].look = sound
			case err == nil && size < 0:
				all[i].look = away
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("look into %d blobs: %w", len(all), err)
	}
	for _, p := range unknown {
		if p.sound() {
			v.cache.SetPlain(p.tree)
		}
	}
	return nil
}

// stillHere looks up blobs that were found to be neither pointers nor empty: their ids prove that
// forever, but not that the objects are still here.
func (v *verifier) stillHere(ctx context.Context, o objectSource, known []*blob) error {
	if len(known) == 0 {
		return nil
	}
	gone, err := o.Gone(ctx, idsOf(known))
	if err != nil {
		return fmt.Errorf("look for %d blobs: %w", len(known), err)
	}
	for _, b := range known {
		if !gone[b.id] {
			b.look = sound
		}
	}
	return nil
}

// isSuspect reports whether a file of this size may be a Git LFS pointer.
func isSuspect(size int64) bool { return size >= minPointer && size <= maxPointer }

func (p part) sound() bool {
	for _, b := range p.blobs {
		if b.look != sound {
			return false
		}
	}
	return true
}

func idsOf(all []*blob) []gitint.OID {
	return lists.Map(all, func(b *blob) gitint.OID { return b.id })
}
