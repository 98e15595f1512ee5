package index

import (
	"encoding/binary"
	"errors"
)

// A split index is a small file with the differences to a large shared one. Git touches the shared
// one when it reads it.

// errSplit reports a split index that is not read here.
var errSplit = errors.New("not a split index we read")

// splitLink is the extension of a split index.
type splitLink struct {
	deleted bitmap // positions in the large file
	changed bitmap // positions whose entry is replaced, in order
}

// join merges a split index with its base.
func (f *File) join() ([]Entry, error) {
	// Version 4 compresses names that are not there.
	if f.base == nil || f.base.link != nil || !f.base.known() || f.version == newest {
		return nil, errSplit
	}
	link, err := parseLink(f.link, f.idSize)
	if err != nil {
		return nil, err
	}
	return link.apply(f.base.entries, f.entries)
}

// apply merges the two: the first entries of ours, which have no names, replace those at the
// positions in the extension; the others are new.
func (l *splitLink) apply(base, ours []Entry) ([]Entry, error) {
	type key struct {
		name  string
		stage int
	}
	seen := make(map[key]bool, len(base)+len(ours))
	all := make([]Entry, 0, len(base)+len(ours))
	add := func(e Entry) error {
		k := key{e.Path, e.Stage}
		if e.Path == "" || seen[k] {
			return errSplit
		}
		seen[k] = true
		all = append(all, e)
		return nil
	}
	for i, e := range base {
		switch {
		case l.deleted.has(i):
			continue
		case l.changed.has(i):
			if len(ours) == 0 || ours[0].Path != "" {
				return nil, errSplit
			}
			name := e.Path
			e, ours = ours[0], ours[1:]
			e.Path = name
		}
		if err := add(e); err != nil {
			return nil, err
		}
	}
	for _, e := range ours {
		if err := add(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parseLink(content []byte, idSize int) (*splitLink, error) {
	if len(content) < idSize {
		return nil, errSplit
	}
	link := new(splitLink)
	rest := content[idSize:]
	if len(rest) == 0 {
		return link, nil
	}
	var err error
	if link.deleted, rest, err = parseBitmap(rest); err != nil {
		return nil, err
	}
	if link.changed, rest, err = parseBitmap(rest); err != nil {
		return nil, err
	}
	if len(rest) != 0 {
		return nil, errSplit
	}
	return link, nil
}

// A bitmap has one bit for each position, in words of 64.
type bitmap []uint64

func (b bitmap) has(i int) bool {
	return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1
}

// maxBitmapWords limits the memory for a damaged file: 64 million entries.
const maxBitmapWords = 1 << 20

// parseBitmap parses a bitmap in EWAH compression: a word with the length of a run of equal words
// and the number of literal words after it, and so on.
func parseBitmap(data []byte) (b bitmap, rest []byte, err error) {
	if len(data) < 8 {
		return nil, nil, errSplit
	}
	count := int(binary.BigEndian.Uint32(data[4:]))
	data = data[8:]
	if len(data)/8 < count || len(data)-8*count < 4 {
		return nil, nil, errSplit
	}
	words, rest := data[:8*count], data[8*count+4:]
	for len(words) > 0 {
		marker := binary.BigEndian.Uint64(words)
		words = words[8:]
		run, plain := marker>>1&(1<<32-1), int(marker>>33)
		if run > maxBitmapWords || plain > len(words)/8 {
			return nil, nil, errSplit
		}
		for range run {
			b = append(b, -(marker & 1))
		}
		for ; plain > 0; plain-- {
			b = append(b, binary.BigEndian.Uint64(words))
			words = words[8:]
		}
	}
	return b, rest, nil
}
