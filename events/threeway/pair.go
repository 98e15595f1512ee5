package threeway

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// A likeness defines which items of different versions match. same compares two items, and of
// returns hashes; matching items share at least one. Both exist for speed: most lists have one
// item, for which comparing bytes is enough, but in long lists comparing every pair takes too long.
type likeness[T any] struct {
	same func(a, b T) bool
	of   func(T) []blobs.Hash
}

// pairUp pairs items of two lists that match, each with the first free one. If rest is set it then
// pairs the remaining ones in order. It returns the items of bs without a partner.
func pairUp[T any](as, bs []T, like likeness[T], rest bool, pair func(a, b T)) []T {
	free := newFreeList(as, bs, like)
	var left []T
	for _, b := range bs {
		if i := free.take(b); i >= 0 {
			pair(as[i], b)
		} else {
			left = append(left, b)
		}
	}
	if !rest {
		return left
	}
	for i, a := range as {
		if !free.taken[i] && len(left) > 0 {
			pair(a, left[0])
			left = left[1:]
		}
	}
	return left
}

// A freeList finds the first free item of a list that matches another.
type freeList[T any] struct {
	as    []T
	taken []bool
	like  likeness[T]
	by    map[blobs.Hash][]int // ascending indexes; nil for short lists
}

func newFreeList[T any](as, bs []T, like likeness[T]) *freeList[T] {
	f := &freeList[T]{as: as, taken: make([]bool, len(as)), like: like}
	if len(as) <= 1 || len(bs) == 0 {
		return f
	}
	f.by = map[blobs.Hash][]int{}
	for i, a := range as {
		for _, h := range like.of(a) {
			f.by[h] = append(f.by[h], i)
		}
	}
	return f
}

// take returns the index of the first free item that matches b, or -1.
func (f *freeList[T]) take(b T) int {
	i := -1
	if f.by == nil {
		i = slices.IndexFunc(f.as, func(a T) bool { return !f.taken[0] && f.like.same(a, b) })
	} else {
		for _, h := range f.like.of(b) {
			list := f.by[h]
			for len(list) > 0 && f.taken[list[0]] { // each is skipped once: linear in total
				list = list[1:]
			}
			f.by[h] = list
			if len(list) > 0 && (i < 0 || list[0] < i) {
				i = list[0]
			}
		}
	}
	if i >= 0 {
		f.taken[i] = true
	}
	return i
}

// sameRequest matches turns that begin with the same request, or without one.
func (eq equality) sameRequest() likeness[*sideTurn] {
	return likeness[*sideTurn]{
		same: func(a, b *sideTurn) bool {
			p, q := firstRequest(a.events), firstRequest(b.events)
			return p == nil && q == nil || p != nil && q != nil && eq.same(p, q)
		},
		of: func(t *sideTurn) []blobs.Hash {
			if q := firstRequest(t.events); q != nil {
				return []blobs.Hash{eq.sum(q)}
			}
			return []blobs.Hash{{}}
		},
	}
}

// overlap matches turns that share an event.
func (eq equality) overlap() likeness[*sideTurn] {
	of := func(t *sideTurn) []blobs.Hash {
		var all []blobs.Hash
		for _, e := range t.events {
			if e.Kind() != events.KindTurnStart {
				all = append(all, eq.sum(e))
			}
		}
		return all
	}
	return likeness[*sideTurn]{of: of, same: func(a, b *sideTurn) bool {
		in := lists.Set(of(a))
		return slices.ContainsFunc(of(b), func(h blobs.Hash) bool { return in[h] })
	}}
}

// sameEvent matches cells whose events are equal.
func (eq equality) sameEvent() likeness[*cell] {
	return likeness[*cell]{
		same: func(a, b *cell) bool { return eq.same(firstOfCell(a), firstOfCell(b)) },
		of:   func(x *cell) []blobs.Hash { return []blobs.Hash{eq.sum(firstOfCell(x))} },
	}
}
