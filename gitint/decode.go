package gitint

import (
	"errors"
	"fmt"
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

// decodeTree returns the entries of a tree; their paths are names. go-git's decoder supports only
// one size of ids, and allocates a reader and a map for every tree.
func decodeTree(data []byte, idSize int) ([]Entry, error) {
	t := TreeData{data, idSize}
	n, err := t.count()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, n)
	text := string(data) // names are substrings of it
	for rest := data; len(rest) > 0; {
		mode, n, _ := t.line(rest)
		line := text[len(data)-len(rest):][:n]
		name := strings.IndexByte(line, ' ') + 1
		entries = append(entries, Entry{
			Path: line[name : n-1-idSize], Mode: canonicalMode(mode),
			OID: oidOf(rest[n-idSize : n]),
		})
		rest = rest[n:]
	}
	return entries, nil
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
