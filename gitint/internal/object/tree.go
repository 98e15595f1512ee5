package object

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A TreeData has the undecoded lines of one tree object: of many large trees that differ little,
// most lines need not be decoded.
type TreeData struct {
	data          []byte
	idSize, lines int
}

var errTreeEnds = errors.New("it ends within an entry")

// ParseTree returns the lines of a tree with this name, all of which are complete. The error is a
// [*CorruptError].
func ParseTree(o Object, id ID) (TreeData, error) {
	if o.Kind != KindTree {
		return TreeData{}, &CorruptError{OID: id, Reason: "it is a " + o.Kind + ", not a tree"}
	}
	t := TreeData{data: o.Data, idSize: id.Size()}
	for rest := t.data; len(rest) > 0; t.lines++ {
		_, n, err := t.line(rest)
		if err != nil {
			return TreeData{}, &CorruptError{OID: id, Reason: "it is not a tree", Err: err}
		}
		rest = rest[n:]
	}
	return t, nil
}

// All returns the entries; their paths are names.
func (t TreeData) All() []Entry {
	entries := make([]Entry, 0, t.lines)
	text := string(t.data) // names are substrings of it
	for at := 0; at < len(text); {
		mode, n, _ := t.line(t.data[at:])
		line := text[at : at+n]
		name := strings.IndexByte(line, ' ') + 1
		entries = append(entries, Entry{
			Path: line[name : n-1-t.idSize], Mode: CanonicalMode(mode),
			OID: IDOf(t.data[at+n-t.idSize : at+n]),
		})
		at += n
	}
	return entries
}

// line decodes the first line without its name, and returns its length.
func (t TreeData) line(rest []byte) (mode uint32, n int, err error) {
	end := bytes.IndexByte(rest, 0)
	if end < 0 || end+1+t.idSize > len(rest) {
		return 0, 0, errTreeEnds
	}
	for i, c := range rest[:end] {
		if c == ' ' && i > 0 && i+1 < end {
			return mode, end + 1 + t.idSize, nil
		}
		if c < '0' || c > '7' {
			break
		}
		mode = mode<<3 | uint32(c-'0')
	}
	return 0, 0, fmt.Errorf("it has the entry %.60q", rest[:end])
}

// Entries calls f with each entry; its path is the name.
func (t TreeData) Entries(f func(Entry)) {
	for rest := t.data; len(rest) > 0; {
		e, n := t.entry(rest)
		f(e)
		rest = rest[n:]
	}
}

// Find returns the entry of a name.
func (t TreeData) Find(name string) (found Entry, ok bool) {
	for rest := t.data; len(rest) > 0 && !ok; {
		_, n, err := t.line(rest)
		if err != nil {
			return Entry{}, false
		}
		if at := bytes.IndexByte(rest, ' '); string(rest[at+1:n-1-t.idSize]) == name {
			found, _ = t.entry(rest)
			ok = true
		}
		rest = rest[n:]
	}
	return found, ok
}

// Differences calls f with each entry that differs between the trees: gone is true for an entry of
// old, false for a new one. A changed entry is reported as both.
func (t TreeData) Differences(old TreeData, f func(e Entry, gone bool)) {
	was, is := old.data, t.data
	for len(was) > 0 || len(is) > 0 {
		if same := commonLine(was, is, t.idSize); same > 0 {
			was, is = was[same:], is[same:]
			continue
		}
		before, n := old.entry(was)
		after, m := t.entry(is)
		order := 1 // old has no more
		switch {
		case m == 0:
			order = -1
		case n > 0:
			order = CompareEntries(before, after)
		}
		if order <= 0 {
			f(before, true)
			was = was[n:]
		}
		if order >= 0 {
			f(after, false)
			is = is[m:]
		}
	}
}

// commonLine returns the length of the first line if both begin with the same, else 0.
func commonLine(a, b []byte, idSize int) int {
	n := bytes.IndexByte(a, 0) + 1 + idSize
	if n <= idSize || n > len(a) || n > len(b) || !bytes.Equal(a[:n], b[:n]) {
		return 0
	}
	return n
}

func (t TreeData) entry(rest []byte) (Entry, int) {
	mode, n, err := t.line(rest)
	if err != nil {
		return Entry{}, 0 // the end: ParseTree has verified every line
	}
	name := bytes.IndexByte(rest, ' ') + 1
	return Entry{
		Path: string(rest[name : n-1-t.idSize]), Mode: CanonicalMode(mode),
		OID: IDOf(rest[n-t.idSize : n]),
	}, n
}

// Find finds a name among the entries of a tree. Git sorts a directory as if its name ended in a
// slash, so a name can be in two positions. Trees written by other programs may be unsorted.
func Find(entries []Entry, name string) (Entry, bool) {
	for _, suffix := range []string{"", "/"} {
		i, ok := slices.BinarySearchFunc(entries, suffix, func(e Entry, suffix string) int {
			return compareNames(e.Path, e.Mode.end(), name, suffix)
		})
		if ok {
			return entries[i], true
		}
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Path == name })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}

// compareNames compares two names with the suffixes that git adds for sorting.
func compareNames(a, aEnd, b, bEnd string) int {
	n := min(len(a), len(b))
	switch {
	case a[:n] != b[:n]:
		return strings.Compare(a[:n], b[:n])
	case len(a) == len(b):
		return strings.Compare(aEnd, bEnd)
	case len(a) == n: // b continues, and not with a slash
		return strings.Compare(aEnd, b[n:])
	default:
		return strings.Compare(a[n:], bEnd)
	}
}

// CompareEntries compares entries of one tree in the order of git.
func CompareEntries(a, b Entry) int {
	return compareNames(a.Path, a.Mode.end(), b.Path, b.Mode.end())
}
