package events

import (
	"slices"
	"sync/atomic"
)

// An array holds the items of a stream. Clones share it, so changing a long stream costs no copy of
// it until a clone changes an item. Only one of the clones can append in place.
type array struct {
	items []item
	// taken is 0 while no clone shares the array; otherwise one more than the largest number of
	// items that any of them has. It is nil if the array was never shared.
	taken *atomic.Int64
}

func newArray(items []item) array { return array{items, new(atomic.Int64)} }

// share returns an array with the same items for a clone.
func (a *array) share() array {
	if a.taken == nil {
		return newArray(slices.Clone(a.items))
	}
	a.taken.CompareAndSwap(0, int64(len(a.items))+1)
	return *a
}

// own copies the items if they are shared, so that one of them can be changed.
func (a *array) own() {
	if a.isShared() {
		*a = newArray(slices.Clone(a.items))
	}
}

func (a *array) isShared() bool { return a.taken != nil && a.taken.Load() > 0 }

// append adds items in place, or to a copy if another stream has items at this end.
func (a *array) append(more ...item) {
	switch {
	case len(more) == 0:
		return // which copies nothing
	case a.taken == nil:
		a.taken = new(atomic.Int64)
	case a.isShared() && !a.claim(len(more)):
		*a = newArray(slices.Clip(a.items))
	}
	a.items = append(a.items, more...)
}

// claim reserves room for n items behind the last one. It fails if there is none or another stream
// has claimed it.
func (a *array) claim(n int) bool {
	end := int64(len(a.items)) + 1
	return cap(a.items)-len(a.items) >= n && a.taken.CompareAndSwap(end, end+int64(n))
}
