package gitint

import (
	"encoding/binary"
	"errors"
)

// A split index is a small file that says how it differs from a large one beside
// it. Git, when it reads it, touches the large one.

// errSplit says that this is no split index that is read here.
var errSplit = errors.New("not a split index we read")

// splitLink is the extension that makes an index a split one.
type splitLink struct {
	deleted bitmap // positions in the large file
	changed bitmap // positions whose entry is replaced, in order
}

// join makes one file of a split index and its base.
func (x *Index) join() error {
	if x.file.link == nil {
		return nil
	}
	// Version 4 compresses names that are not there.
	if x.base == nil || x.base.link != nil || !x.base.known() || x.file.version == newestIndex {
		return errSplit
	}
	link, err := parseLink(x.file.link, x.repo.idSize())
	if err == nil {
		x.file.entries, err = link.apply(x.base.entries, x.file.entries)
	}
	return err
}

// apply puts the two together: the first of ours, which have no names, take the
// places that the extension lists; the others are new.
func (l *splitLink) apply(base, ours []indexEntry) ([]indexEntry, error) {
	type key struct {
		name  string
		stage int
	}
	seen := make(map[key]bool, len(base)+len(ours))
	all := make([]indexEntry, 0, len(base)+len(ours))
	add := func(e indexEntry) error {
		k := key{e.Path, e.stage}
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

// A bitmap has one bit a position, in words of 64.
type bitmap []uint64

func (b bitmap) has(i int) bool {
	return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1
}

// maxBitmapWords bounds what a damaged file may ask for: 64 million entries.
const maxBitmapWords = 1 << 20

// parseBitmap reads a bitmap as EWAH compresses it: a word that tells of a run of
// equal words and of the number of plain ones behind it, and so on.
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
