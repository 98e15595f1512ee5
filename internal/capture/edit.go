package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A node is an object or an array of a document, by its position there.
type node struct {
	open  int               // where it begins
	end   int               // after it
	items []jsonspan.Member // its elements have no name
}

func (n node) member(name string) (jsonspan.Member, bool) { return jsonspan.Find(n.items, name) }

// errNotObject is for settings that are valid JSON, but not an object.
var (
	errNotObject = errors.New("it does not contain a JSON object")
	errNotList   = errors.New("it does not contain a JSON list")
)

// byteOrder is the mark that some editors put at the beginning of a file.
const byteOrder = "\uFEFF"

// edited returns the result of edit for the JSON in a file. A byte order mark stays in front of it,
// and so does the white space of a file that has nothing else. What is added there is all that
// follows, without a line feed, by which it is known when it is removed again.
func edited(file []byte, edit func([]byte) ([]byte, error)) ([]byte, error) {
	doc, marked := bytes.CutPrefix(file, []byte(byteOrder))
	isBlank := doc != nil && len(bytes.TrimSpace(doc)) == 0
	was := doc
	if isBlank {
		was = nil
	}
	after, err := edit(was)
	switch {
	case err != nil:
		return after, err
	case isBlank && after == nil || after != nil && bytes.Equal(after, doc):
		return file, nil
	case isBlank:
		after = slices.Concat(doc, bytes.TrimSpace(after))
	case bytes.HasSuffix(after, []byte("{}")) && isMade(doc):
		if space := after[:len(after)-len("{}")]; len(bytes.TrimSpace(space)) == 0 {
			after = space
		}
	}
	if marked && after != nil {
		after = slices.Concat([]byte(byteOrder), after)
	}
	return after, nil
}

// top parses the object that is the document.
func top(doc []byte) (node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	v, err := dec.ReadValue()
	if err != nil {
		return node{}, err
	}
	start := int(dec.InputOffset()) - len(v)
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return node{}, errors.Join(errors.New("text follows the JSON object"), err)
	}
	return nodeAt(doc, start, '{')
}

// nodeAt returns the object or the array that begins at an offset of a valid document.
func nodeAt(doc []byte, at int, bracket byte) (node, error) {
	n := node{open: at}
	switch {
	case doc[at] != bracket && bracket == '[':
		return n, errNotList
	case doc[at] != bracket:
		return n, errNotObject
	case bracket == '{':
		n.items, n.end, _ = jsonspan.MembersAt(doc, at, nil)
		return n, nil
	}
	for _, e := range jsonspan.Elements(doc, at) {
		n.items = append(n.items, jsonspan.Member{Start: e.At, At: e.At, End: e.End})
	}
	n.end = jsonspan.ValueEnd(doc, at)
	return n, nil
}

// A style is the line break and the indentation of a document.
type style struct{ line, unit string }

// styleOf reads it from the first member of the document.
func styleOf(doc []byte, n node) style {
	if len(n.items) == 0 {
		return style{"\n", "  "}
	}
	before := string(doc[n.open+1 : n.items[0].Start])
	i := strings.LastIndexByte(before, '\n')
	switch {
	case i < 0:
		return style{" ", ""}
	case strings.Contains(before, "\r\n"):
		return style{"\r\n", before[i+1:]}
	}
	return style{"\n", before[i+1:]}
}

// at returns the beginning of a line at that depth.
func (s style) at(depth int) string { return s.line + strings.Repeat(s.unit, depth) }

// wrap puts text into an object or an array whose own line is at that depth. The white space on
// both sides marks that the container was made for the text and is removed with it.
func (s style) wrap(brackets, text string, depth int) string {
	return brackets[:1] + s.at(depth+1) + text + s.at(depth) + brackets[1:]
}

// list returns the member of an event with one group.
func (s style) list(event, group string) string {
	return strconv.Quote(event) + ": " + s.wrap("[]", group, 2)
}

// put adds an item at the end of a container, formatted like its last one. In an empty container
// there is no white space before it.
func (n node) put(doc []byte, text string) []byte {
	at, gap := n.open+1, ""
	if last := len(n.items) - 1; last >= 0 {
		from := n.open + 1
		if last > 0 {
			from = n.items[last-1].End
		}
		at, gap = n.items[last].End, ","+string(blank(doc[from:n.items[last].Start]))
	}
	return slices.Concat(doc[:at], []byte(gap+text), doc[at:])
}

// blank returns the white space at the end of a text.
func blank(text []byte) []byte { return text[len(bytes.TrimRight(text, " \t\r\n")):] }

// addHook returns the document with a group of hooks for an event. Nothing else changes.
func addHook(doc []byte, event, group string) ([]byte, error) {
	root, err := top(doc)
	if err != nil {
		return nil, err
	}
	s := styleOf(doc, root)
	list := s.list(event, group)
	member, ok := root.member("hooks")
	if !ok {
		return root.put(doc, `"hooks": `+s.wrap("{}", list, 1)), nil
	}
	hooks, err := nodeAt(doc, member.At, '{')
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	member, ok = hooks.member(event)
	if !ok {
		return hooks.put(doc, list), nil
	}
	groups, err := nodeAt(doc, member.At, '[')
	if err != nil {
		return nil, fmt.Errorf("hooks.%s: %w", event, err)
	}
	return groups.put(doc, group), nil
}

// eachGroup calls yield with every group of hooks, and with its position, until that returns false.
func eachGroup(doc []byte, yield func(event string, path []node, i int) bool) error {
	root, err := top(doc)
	if err != nil {
		return err
	}
	member, ok := root.member("hooks")
	if !ok {
		return nil
	}
	hooks, err := nodeAt(doc, member.At, '{')
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	for _, m := range hooks.items {
		groups, err := nodeAt(doc, m.At, '[')
		if errors.Is(err, errNotList) {
			continue // a setting beside the events
		}
		if err != nil {
			return fmt.Errorf("hooks.%s: %w", m.Name, err)
		}
		for i := range groups.items {
			if !yield(m.Name, []node{root, hooks, groups}, i) {
				return nil
			}
		}
	}
	return nil
}

// removeHooks returns the document without our groups. In a group to which the user added another
// hook, that hook stays.
func removeHooks(doc []byte, ours func(hook []byte) bool) ([]byte, error) {
	for {
		var next []byte
		err := eachGroup(doc, func(_ string, path []node, i int) bool {
			groups := path[len(path)-1]
			group, err := nodeAt(doc, groups.items[i].At, '{')
			member, ok := group.member("hooks")
			if err != nil || !ok {
				return true
			}
			list, err := nodeAt(doc, member.At, '[')
			if err != nil {
				return true
			}
			own := slices.IndexFunc(list.items, func(it jsonspan.Member) bool {
				return ours(doc[it.At:it.End])
			})
			switch {
			case own < 0:
				return true
			case len(list.items) > 1:
				next = list.without(doc, own)
			default:
				next = take(doc, path, i)
			}
			return false
		})
		if err != nil || next == nil {
			return doc, err
		}
		doc = next
	}
}

// take removes an item of the last container of a path, and each container that becomes empty and
// was made for it.
func take(doc []byte, path []node, i int) []byte {
	n := path[len(path)-1]
	alone := len(n.items) == 1 && n.items[0].Start > n.open+1
	if !alone || len(path) == 1 {
		return n.without(doc, i)
	}
	parent := path[len(path)-2]
	own := slices.IndexFunc(parent.items, func(it jsonspan.Member) bool { return it.At == n.open })
	return take(doc, path[:len(path)-1], own)
}

// without removes one item and the separator from its neighbours.
func (n node) without(doc []byte, i int) []byte {
	from, to := n.items[i].Start, n.items[i].End
	switch {
	case i > 0:
		from = n.items[i-1].End
	case len(n.items) > 1:
		to = n.items[1].Start
	case from > n.open+1:
		from, to = n.open+1, n.end-1
	}
	return slices.Concat(doc[:from], doc[to:])
}
