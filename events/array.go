package events

import (
	"slices"
	"sync/atomic"
)

// An array has the items of a stream. Clones share it, so that a change of a long stream does not
// cost a copy of it: until one of them changes an item, and while only one appends to it.
type array struct {
	items []item
	// taken is 0 while no clone has the array, else one more than how many of its items any of
	// them has. Nil says that nobody shares it ever.
	taken *atomic.Int64
}

func newArray(items []item) array { return array{items, new(atomic.Int64)} }

// share returns the same items for another stream.
func (a *array) share() array {
	if a.taken == nil {
		return newArray(slices.Clone(a.items))
	}
	a.taken.CompareAndSwap(0, int64(len(a.items))+1)
	return *a
}

// own makes the items such that one of them can be changed.
func (a *array) own() {
	if a.isShared() {
		*a = newArray(slices.Clone(a.items))
	}
}

func (a *array) isShared() bool { return a.taken != nil && a.taken.Load() > 0 }

// append adds items where no other stream has any, else to a copy.
func (a *array) append(more ...item) {
	switch {
	case a.taken == nil:
		a.taken = new(atomic.Int64)
	case a.isShared() && !a.claim(len(more)):
		*a = newArray(slices.Clip(a.items))
	}
	a.items = append(a.items, more...)
}

// claim takes room behind the last item, unless there is none or another stream has it.
func (a *array) claim(n int) bool {
	end := int64(len(a.items)) + 1
	return cap(a.items)-len(a.items) >= n && a.taken.CompareAndSwap(end, end+int64(n))
}
