package gitint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// historyMark begins the line of a commit in the output of git log for LastWith.
const historyMark = "\x01"

// LastWith returns for each file a commit that has it: the newest, reachable from HEAD or any ref,
// that added or changed it. A file without one is omitted. A file that only a merge created is not
// found.
func (r *Repo) LastWith(ctx context.Context, paths ...string) (map[string]OID, error) {
	found := make(map[string]OID, len(paths))
	if len(paths) == 0 {
		return found, nil
	}
	args := append(addedIn(), append([]string{"--"}, paths...)...)
	out, err := r.git.Run(ctx, git.Command{Args: args})
	if err != nil {
		return nil, fmt.Errorf("search the history of %d files: %w", len(paths), err)
	}
	var commit OID
	for _, field := range splitZ(out) {
		if digits, ok := strings.CutPrefix(field, historyMark); ok {
			if commit, err = ParseOID(digits); err != nil {
				return nil, fmt.Errorf("search history: %w", err)
			}
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(field, "\n"), ":") {
			continue // modes and objects of the following path
		}
		if _, known := found[field]; !known {
			found[field] = commit
		}
	}
	return found, nil
}

// addedIn returns the command that lists what each commit of HEAD and all refs added or changed.
func addedIn() []string {
	return []string{
		"log", "--all", "--full-history", "--root", "--diff-filter=AM", "--no-renames",
		"--no-ext-diff", "--raw", "-z", "--no-abbrev", "--no-show-signature",
		"--format=" + historyMark + "%H",
	}
}

// A Home is a commit that has an object, and the path of the object there.
type Home struct {
	Commit OID
	Path   string
}

// Homes returns where objects are below a directory: for each one the newest commit, reachable from
// HEAD or any ref, that added it, also one by which it is only in a merge. An object without one is
// omitted.
func (r *Repo) Homes(ctx context.Context, dir string, ids ...OID) (map[OID]Home, error) {
	args := append(addedIn(), "-m")
	for _, id := range ids {
		args = append(args, "--find-object="+id.String())
	}
	out, err := r.git.Run(ctx, git.Command{Args: append(args, "--", dir)})
	if err != nil {
		return nil, fmt.Errorf("search the history of %s: %w", dir, err)
	}
	found := make(map[OID]Home, len(ids))
	var home Home
	var is OID
	for _, field := range splitZ(out) {
		digits, isCommit := strings.CutPrefix(field, historyMark)
		change, isChange := strings.CutPrefix(strings.TrimLeft(field, "\n"), ":")
		switch {
		case isCommit:
			home.Commit, err = ParseOID(digits)
		case isChange:
			is, err = newObject(change)
		default:
			home.Path = field
			if _, known := found[is]; !known && slices.Contains(ids, is) {
				found[is] = home
			}
		}
		if err != nil {
			return nil, fmt.Errorf("search history: %w", err)
		}
	}
	return found, nil
}

// newObject returns the object after a change, from a raw line without its colon and path.
func newObject(change string) (OID, error) {
	const after = 3 // two modes, and the object before
	fields := strings.Fields(change)
	if len(fields) <= after {
		return OID{}, fmt.Errorf("%w: %q", errRaw, change)
	}
	return ParseOID(fields[after])
}

var errRaw = errors.New("not a change as git prints it")
