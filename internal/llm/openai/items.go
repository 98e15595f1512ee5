package openai

import (
	"cmp"
	"slices"
	"strings"
)

// A place identifies the item that an event belongs to. Servers identify it by index, by id or by
// both; some number all items 0, some name an item differently in each event, and some do neither.
type place struct {
	Index  *int64 `json:"output_index"`
	ItemID string `json:"item_id"`
}

// same reports whether both have the same index, or neither has one.
func (p place) same(q place) bool {
	if p.Index == nil || q.Index == nil {
		return p.Index == q.Index
	}
	return *p.Index == *q.Index
}

// An item is an item while it is read.
type item struct {
	place
	key     int // of its part
	kind    string
	call    string // id and tool of a call
	tool    string
	said    strings.Builder
	parts   int  // of a summary
	guessed bool // begun by a fragment, not by an event
	// echo is the final text of an earlier item with the same id: the text of this item is emitted
	// only if it differs. Events may be repeated and arrive in another order.
	echo string
}

// echoes reports whether the earlier item has this fragment.
func (it *item) echoes(fragment string) bool {
	return it.echo != "" && strings.Contains(it.echo, fragment)
}

// items holds the open items, in the order in which they began.
type items struct {
	open  []*item
	next  int
	ended map[string]string // final texts, by id and kind
}

func (s *items) add(p place, kind string) *item {
	it := &item{place: p, key: s.next, kind: kind}
	if p.ItemID != "" {
		it.echo = s.ended[kind+" "+p.ItemID]
	}
	s.next++
	s.open = append(s.open, it)
	return it
}

// last returns the open item of a kind that began last among those that wanted accepts.
func (s *items) last(kind string, wanted func(*item) bool) *item {
	for _, it := range slices.Backward(s.open) {
		if it.kind == kind && wanted(it) {
			return it
		}
	}
	return nil
}

func (s *items) named(id, kind string) *item {
	return s.last(kind, func(it *item) bool { return id != "" && it.ItemID == id })
}

// at returns the item that a fragment belongs to, nil for none. A known id decides, else the index.
// Without an index an unknown id belongs to another item, and an id of an item that has ended
// always does.
func (s *items) at(p place, kind string) *item {
	if it := s.named(p.ItemID, kind); it != nil {
		return it
	}
	if _, over := s.ended[kind+" "+p.ItemID]; over && p.ItemID != "" {
		return nil
	}
	return s.last(kind, func(it *item) bool {
		if p.Index != nil && it.Index != nil {
			return p.same(it.place)
		}
		return p.ItemID == "" || it.ItemID == ""
	})
}

// begun reports whether an item that begins is already open: under its own id, begun by its first
// fragments, or begun twice without text between.
func (s *items) begun(p place, kind string) bool {
	if s.named(p.ItemID, kind) != nil {
		return true
	}
	it := s.last(kind, func(it *item) bool {
		nameless := it.ItemID == "" && p.same(it.place)
		return nameless && (it.guessed || p.ItemID == "" && it.said.Len() == 0)
	})
	if it == nil {
		return false
	}
	it.place, it.guessed = p, false
	return true
}

// over returns the open item that has ended with a text, nil for none. An item with another id
// matches only if the text begins with the item's.
func (s *items) over(p place, kind, text string) *item {
	it := s.at(p, kind)
	if it == nil || it.ItemID == p.ItemID || text == "" ||
		strings.HasPrefix(text, it.said.String()) {
		return it
	}
	return nil
}

// repeated reports whether an item with this id has ended with the same text.
func (s *items) repeated(p place, kind, text string) bool {
	before, ok := s.ended[kind+" "+p.ItemID]
	return ok && p.ItemID != "" && before == text
}

func (s *items) end(it *item, id, text string) {
	s.open = slices.DeleteFunc(s.open, func(open *item) bool { return open == it })
	s.ended[it.kind+" "+id] = text
}

// name returns the id of an item in other events.
func name(it wireOutput) string {
	return cmp.Or(it.ID, it.CallID)
}
