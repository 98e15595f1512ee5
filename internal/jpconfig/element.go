package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events/settings"

	"github.com/git-jp/git-jp/internal/exact"
)

// take removes a key, or an element of a list. The built-in value returns.
func (l *loader) take(a assignment) error {
	if at, ok := l.listOn(a.path); ok {
		return l.change(a.path[:at], a.path[at:], nil)
	}
	for _, c := range []*settings.Config{&l.config.all, &l.config.own} {
		*c = c.Without(a.path...)
	}
	s, ok := l.base.all.Setting(a.path...)
	if !ok {
		return nil
	}
	p, err := l.parse(nested(a.path, s.Value()), Origin{Layer: BuiltIn})
	l.merge(p)
	return err
}

// element assigns to an element of a list, as in assistant.instructions.0.title=x.
func (l *loader) element(a assignment, at int) error {
	rest := a.path[at:]
	if a.kind = kindText; len(rest) > 1 && rest[len(rest)-1] == "position" {
		a.kind = kindNumber
	}
	v, err := a.value()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.change(a.path[:at], rest, raw)
}

// listOn returns the length of the part of a path that names a list, if the rest names an element.
func (l *loader) listOn(path []string) (int, bool) {
	holds, _ := l.judged()
	for i := 1; i < len(path); i++ {
		s, ok := holds.Setting(path[:i]...)
		if !ok {
			return 0, false
		}
		if strings.HasPrefix(string(s.Value()), "[") {
			return i, true
		}
	}
	return 0, false
}

// change changes an element of the list at a path, or removes it if v is nil. The other elements do
// not become the user's: if the list of the user's own layers differs, they keep it and get the
// changed element at its end.
func (l *loader) change(list, element []string, v []byte) error {
	holds, _ := l.judged()
	s, _ := holds.Setting(list...)
	own, said := l.config.own.Setting(list...)
	elements, err := elementsOf(s)
	if err != nil {
		return err
	}
	mine := said && same(own.Value(), s.Value())
	changed, after, err := changedList(elements, element, v)
	if err != nil {
		return err
	}
	next, err := l.list(list, after)
	if err != nil {
		return err
	}
	l.config.all = l.config.all.Without(list...).Merge(next)
	switch {
	case mine:
		l.config.own = l.config.own.Without(list...).Merge(next)
	case changed != nil && len(element) == 1: // the user wrote the complete element
		alone, err := l.list(list, append(ownElements(own, said), changed))
		if err != nil {
			return err
		}
		l.config.own = l.config.own.Without(list...).Merge(alone)
	}
	return nil
}

func ownElements(own settings.Setting, said bool) []json.RawMessage {
	if !said {
		return nil
	}
	elements, err := elementsOf(own)
	if err != nil {
		return nil
	}
	return elements
}

func elementsOf(s settings.Setting) (elements []json.RawMessage, err error) {
	if err := exact.Unmarshal(s.Value(), &elements); err != nil {
		return nil, errors.New("it is not a list")
	}
	return elements, nil
}

// list returns a configuration that has only a list.
func (l *loader) list(path []string, elements []json.RawMessage) (settings.Config, error) {
	if elements == nil {
		elements = []json.RawMessage{}
	}
	source := l.origin(Origin{Layer: Option, Name: "-c"})
	return settings.Parse(nested(path, marshal(elements)), source)
}

// nested returns a value at a path.
func nested(path []string, v []byte) []byte {
	for _, name := range slices.Backward(path) {
		v = marshal(map[string]json.RawMessage{name: v})
	}
	return v
}

// changedList changes the element of a list that a path begins with, and returns the element and
// the list; nil for a removed element.
func changedList(
	list []json.RawMessage, path []string, v []byte,
) (element json.RawMessage, all []json.RawMessage, err error) {
	n, err := strconv.Atoi(path[0])
	if err != nil || n < 0 || n >= len(list) {
		return nil, nil, fmt.Errorf("there is no element %s, the list has %d", path[0], len(list))
	}
	if element, err = changedValue(list[n], path[1:], v); err != nil {
		return nil, nil, err
	}
	all = slices.Clone(list)
	if element == nil {
		return nil, slices.Delete(all, n, n+1), nil
	}
	all[n] = element
	return element, all, nil
}

// changedValue sets the value at a path within a value, or removes it if v is nil; for an empty
// path it returns v.
func changedValue(value json.RawMessage, path []string, v []byte) (json.RawMessage, error) {
	if len(path) == 0 {
		return v, nil
	}
	var list []json.RawMessage
	if exact.Unmarshal(value, &list) == nil {
		_, all, err := changedList(list, path, v)
		return marshal(all), err
	}
	var table map[string]json.RawMessage
	if exact.Unmarshal(value, &table) != nil || table == nil {
		return nil, errors.New("the element is not a table")
	}
	inner := table[path[0]]
	if inner == nil {
		inner = json.RawMessage("{}")
	}
	changed, err := changedValue(inner, path[1:], v)
	if err != nil {
		return nil, err
	}
	if changed == nil {
		delete(table, path[0])
	} else {
		table[path[0]] = changed
	}
	return marshal(table), nil
}
