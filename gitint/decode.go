package gitint

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The kinds of objects.
const (
	kindCommit = "commit"
	kindTree   = "tree"
	kindBlob   = "blob"
	kindTag    = "tag"
)

var errTreeEnds = errors.New("it ends within an entry")

// decodeTree parses "<mode> <name> NUL <id>" until the end. go-git's decoder supports only one size
// of ids, and allocates a reader and a map for every tree.
func decodeTree(data []byte, idSize int) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, countEntries(data, idSize))
	text := string(data) // names are substrings of it
	for len(data) > 0 {
		start := len(text) - len(data)
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(rest) < idSize {
			return nil, errTreeEnds
		}
		digits, name, ok := bytes.Cut(head, []byte{' '})
		if !ok || len(name) == 0 {
			return nil, fmt.Errorf("it has the entry %q", head)
		}
		mode, err := strconv.ParseUint(text[start:][:len(digits)], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("it has the mode %q", digits)
		}
		entries = append(entries, treeEntry{
			name: text[start+len(digits)+1:][:len(name)],
			mode: canonicalMode(uint32(mode)), oid: oidOf(rest[:idSize]),
		})
		data = rest[idSize:]
	}
	return entries, nil
}

// countEntries returns the number of entries of a tree, or a few more if it is damaged.
func countEntries(data []byte, idSize int) (n int) {
	for len(data) > 0 {
		end := bytes.IndexByte(data, 0)
		if end < 0 || end+1+idSize > len(data) {
			break
		}
		data = data[end+1+idSize:]
		n++
	}
	return n
}

// canonicalMode returns the mode as git prints it: old programs wrote other modes for files.
func canonicalMode(mode uint32) Mode {
	const kind, file = 0o170000, 0o100000
	switch {
	case mode&kind == file && mode&0o100 != 0:
		return ModeExecutable
	case mode&kind == file:
		return ModeFile
	case mode&kind == uint32(ModeSymlink):
		return ModeSymlink
	case mode&kind == uint32(ModeDir):
		return ModeDir
	}
	return ModeSubmodule
}

// headerOID parses the id in one header line of a commit or a tag.
func headerOID(data []byte, key string) (OID, error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			return ParseOID(value)
		}
	}
	return OID{}, fmt.Errorf("it has no %s", key)
}
