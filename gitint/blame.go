package gitint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A BlamedLine is a line of a file and the commit that brought it.
type BlamedLine struct {
	Number int // from 1
	Text   string
	// Commit is that of the line, zero for one that is not committed.
	Commit  OID
	Path    string // of the file in that commit
	Author  string
	At      time.Time // of the commit
	Summary string
}

// Blame returns who brought lines of a file as a revision has it, or as the working tree has it
// where rev is "". Lines are counted from 1; to may be 0 for the last one. No program is run to
// convert the file.
func (r *Repo) Blame(ctx context.Context, rev, path string, from, to int) ([]BlamedLine, error) {
	args := []string{"blame", "--porcelain", "--no-textconv"}
	if from > 0 {
		lines := strconv.Itoa(from) + ","
		if to > 0 {
			lines += strconv.Itoa(to)
		}
		args = append(args, "-L", lines)
	}
	if rev != "" {
		id, err := r.Resolve(ctx, rev)
		if err != nil {
			return nil, fmt.Errorf("blame %s: %w", path, err)
		}
		args = append(args, id.String())
	}
	out, err := r.run(ctx, command{args: append(args, "--", path)})
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	all, err := parseBlame(string(out))
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	return all, nil
}

var errBlame = errors.New("unexpected output of git blame")

// parseBlame reads what git blame --porcelain writes: of a commit it tells all only once.
func parseBlame(out string) ([]BlamedLine, error) {
	var all []BlamedLine
	known := make(map[string]BlamedLine)
	digits, line := "", BlamedLine{}
	for text := range strings.Lines(out) {
		text = strings.TrimSuffix(text, "\n")
		if content, ok := strings.CutPrefix(text, "\t"); ok {
			known[digits] = line
			line.Text, digits = content, ""
			all = append(all, line)
			continue
		}
		name, value, _ := strings.Cut(text, " ")
		if digits == "" {
			digits = name
			line = known[name]
			if err := line.head(name, value); err != nil {
				return nil, err
			}
			continue
		}
		switch name {
		case "author":
			line.Author = value
		case "committer-time":
			seconds, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, errBlame
			}
			line.At = time.Unix(seconds, 0).UTC()
		case "summary":
			line.Summary = value
		case "filename":
			line.Path = unquotePath(value)
		}
	}
	return all, nil
}

// head reads the first line about a line: its commit, its number there and here.
func (l *BlamedLine) head(digits, rest string) (err error) {
	numbers := strings.Fields(rest)
	if len(numbers) < 2 {
		return errBlame
	}
	if l.Number, err = strconv.Atoi(numbers[1]); err != nil {
		return errBlame
	}
	if strings.Trim(digits, "0") != "" {
		l.Commit, err = ParseOID(digits)
	}
	return err
}

// unquotePath reads a path that git may have quoted.
func unquotePath(s string) string {
	if plain, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return plain
	}
	return s
}
