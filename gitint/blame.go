package gitint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// A BlamedLine is a line of a file and the commit that introduced it.
type BlamedLine struct {
	Number int // from 1
	Text   string
	// Commit is the line's commit, zero for a line that is not committed.
	Commit  OID
	Path    string // of the file in that commit
	Author  string
	At      time.Time // of the commit
	Summary string
}

// Blame returns who introduced lines of a file in a revision, or in the working tree if rev is "".
// Lines are counted from 1; to may be 0 for the last one. It runs no textconv program.
func (r *Repo) Blame(ctx context.Context, rev, path string, from, to int) ([]BlamedLine, error) {
	args := []string{"blame", "--porcelain", "--no-textconv"}
	if from > 0 {
		lines := strconv.Itoa(from) + ","
		if to > 0 {
			lines += strconv.Itoa(to)
		}
		args = append(args, "-L", lines)
	}
	var revs []string
	if rev != "" {
		id, err := r.Resolve(ctx, rev)
		if err != nil {
			return nil, fmt.Errorf("blame %s: %w", path, err)
		}
		revs = []string{id.String()}
	}
	if err := r.needVersions(ctx, revs, path); err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	args = append(append(args, revs...), "--", path)
	out, err := r.git.Run(ctx, git.Command{Args: args})
	for range mostRenames {
		id, ok := lacked(err)
		if !ok {
			break
		}
		if err := r.Bring(ctx, []OID{id}, 0); err != nil {
			return nil, fmt.Errorf("blame %s: %w", path, err)
		}
		out, err = r.git.Run(ctx, git.Command{Args: args})
	}
	if absent(err) {
		return nil, &fs.PathError{Op: "blame", Path: path, Err: notIn(cmp.Or(rev, "HEAD"))}
	}
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	all, err := parseBlame(string(out))
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	return all, nil
}

// needVersions fetches all versions of a file that git blame compares, as long as it was not
// renamed: in a partial clone git would fetch them one by one, and the git processes here do not
// fetch.
func (r *Repo) needVersions(ctx context.Context, revs []string, path string) error {
	if partial, err := r.Partial(ctx); err != nil || !partial {
		return err
	}
	versions, err := r.History(ctx, HistoryRequest{Revs: revs, Globs: []string{literal(path)}})
	if err != nil {
		return err
	}
	var ids []OID
	for _, v := range versions {
		for _, f := range v.Files {
			ids = append(ids, f.Old, f.New)
		}
	}
	ids = slices.DeleteFunc(ids, OID.IsZero)
	return r.Bring(ctx, ids, 0)
}

// mostRenames limits how often git blame is repeated because it lacks the file that it considers an
// older version under another name.
const mostRenames = 20

// absent reports whether git's message means that a revision or the working tree has no such file.
func absent(err error) bool {
	exit, ok := errors.AsType[*ExitError](err)
	return ok && (strings.Contains(exit.Stderr, "fatal: no such path ") ||
		strings.Contains(exit.Stderr, "fatal: Cannot lstat "))
}

// A notIn is the revision that has no such file. The working tree may have it, untracked.
type notIn string

func (rev notIn) Error() string { return "not in " + string(rev) }

// Is reports the error as an fs.ErrNotExist.
func (notIn) Is(target error) bool { return target == fs.ErrNotExist }

// lacked returns the object that git says it would have fetched.
func lacked(err error) (id OID, ok bool) {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return id, false
	}
	_, rest, ok := strings.Cut(exit.Stderr, "could not fetch ")
	digits, _, found := strings.Cut(rest, " ")
	if !ok || !found {
		return id, false
	}
	id, err = ParseOID(digits)
	return id, err == nil
}

// literal returns a glob that matches only a path.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

var errBlame = errors.New("unexpected output of git blame")

// parseBlame parses the output of git blame --porcelain, which has the details of a commit only
// once.
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

// head parses the first line about a line: its commit, its number there and here.
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

// unquotePath returns a path that git may have quoted.
func unquotePath(s string) string {
	if plain, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return plain
	}
	return s
}
