package gitint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// A split index is a small file that says how it differs from a large one beside
// it. go-git refuses it; git, when it reads it, touches the large one.

// errSplit says that this is no split index that is read here.
var errSplit = errors.New("not a split index we read")

// splitLink is the extension that makes an index a split one.
type splitLink struct {
	base    string // the digits in the name of the large file
	deleted bitmap // positions in the large file
	changed bitmap // positions whose entry is replaced, in order
}

// decodeSplit reads a split index and its base. idx has the entries of the small
// file, which go-git reads before it comes upon the extension.
func (x *Index) decodeSplit(data []byte, idx *index.Index) ([]*index.Entry, error) {
	link, err := findLink(data[:len(data)-sha1Size])
	if err != nil || idx.Version > 3 { // version 4 compresses names that are not there
		return nil, errSplit
	}
	gitDir := cmp.Or(x.gitDir, x.repo.gitDir)
	baseData, err := os.ReadFile(filepath.Join(gitDir, "sharedindex."+link.base))
	if err != nil {
		return nil, err
	}
	sum := baseData[max(0, len(baseData)-sha1Size):]
	if hex.EncodeToString(sum) != link.base {
		return nil, errSplit
	}
	var base index.Index
	if err := index.NewDecoder(bytes.NewReader(baseData)).Decode(&base); err != nil {
		return nil, err
	}
	return link.apply(base.Entries, idx.Entries)
}

// apply puts the two together: the first of ours, which have no names, take the
// places that the extension lists; the others are new.
func (l *splitLink) apply(base, ours []*index.Entry) ([]*index.Entry, error) {
	type key struct {
		name  string
		stage index.Stage
	}
	seen := make(map[key]bool, len(base)+len(ours))
	all := make([]*index.Entry, 0, len(base)+len(ours))
	add := func(e *index.Entry) error {
		k := key{e.Name, e.Stage}
		if e.Name == "" || seen[k] {
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
			if len(ours) == 0 || ours[0].Name != "" {
				return nil, errSplit
			}
			name := e.Name
			e, ours = ours[0], ours[1:]
			e.Name = name
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

// findLink finds the extension: it is the one from which extensions go on to the
// very end.
func findLink(body []byte) (*splitLink, error) {
	for at := 0; ; at++ {
		next := bytes.Index(body[at:], []byte("link"))
		if next < 0 {
			return nil, errSplit
		}
		at += next
		if content, ok := extensionAt(body, at); ok {
			return parseLink(content)
		}
	}
}

// extensionAt returns the content of the extension that begins at a place, if only
// whole extensions follow.
func extensionAt(body []byte, at int) ([]byte, bool) {
	const head = 8
	var first []byte
	for at != len(body) {
		if len(body)-at < head {
			return nil, false
		}
		size := int(binary.BigEndian.Uint32(body[at+4:]))
		if size > len(body)-at-head {
			return nil, false
		}
		if first == nil {
			first = body[at+head : at+head+size]
		}
		at += head + size
	}
	return first, true
}

func parseLink(content []byte) (*splitLink, error) {
	if len(content) < sha1Size {
		return nil, errSplit
	}
	link := &splitLink{base: hex.EncodeToString(content[:sha1Size])}
	rest := content[sha1Size:]
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
