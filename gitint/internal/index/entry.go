package index

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// An Entry is one stage of one path.
type Entry struct {
	object.Entry
	Stage int
	// Pinned is true if git does not compare the entry with the file: skip-worktree or
	// assume-unchanged.
	Pinned bool
	// Assumed is true for a pinned entry whose file should exist.
	Assumed bool
	Intent  bool // intent to add
}

// ParseLine parses a line of git ls-files --stage -v: "H 100644 <oid> <stage>\t<path>".
func ParseLine(line string) (Entry, error) {
	head, name, _ := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if len(f) != 4 {
		return Entry{}, fmt.Errorf("index entry %q", line)
	}
	e, err := object.ParseEntry(f[1], f[2], name)
	if err != nil {
		return Entry{}, fmt.Errorf("index entry %q: %w", line, err)
	}
	stage, err := strconv.Atoi(f[3])
	pinned := f[0] == "S" || f[0] == strings.ToLower(f[0])
	assumed := strings.ToLower(f[0]) != "s"
	return Entry{Entry: e, Stage: stage, Pinned: pinned, Assumed: assumed}, err
}
