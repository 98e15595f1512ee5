package gitint

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// A Passing is an object that is reachable in history.
type Passing struct {
	// Commit is the commit in which it was found first; newer ones come before older ones. It is
	// zero if a tag or a ref names a tree.
	Commit OID
	// Path is its path in that commit, from the root.
	Path string
	OID  OID
}

// ObjectsBelow calls f with every file and directory at or below dirs that is reachable from the
// starting points, even if it was removed later: each object once, under one of its paths. Without
// dirs it calls f with everything. Starting points may be commits, tags, trees and blobs; missing
// ones are skipped, as are missing files and directories. An error of f ends the walk and is
// returned.
//
// It takes one process, however many objects there are.
func (r *Repo) ObjectsBelow(
	ctx context.Context, from []OID, dirs []string, f func(Passing) error,
) error {
	if len(from) == 0 {
		return nil
	}
	args := []string{
		"-c", "core.commitGraph=false", "rev-list", "--objects", "--in-commit-order",
		"--full-history", "--missing=allow-any", "--ignore-missing", "--stdin", "--",
	}
	var commit OID
	err := r.eachLine(ctx, git.Command{Args: append(args, dirs...), Stdin: git.Lines(from)},
		func(line string) error {
			digits, name, isObject := strings.Cut(line, " ")
			id, err := ParseOID(digits)
			switch {
			case err != nil:
				return err
			case !isObject:
				commit = id
			case name != "": // it is not the root of the tree
				return f(Passing{commit, name, id})
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("list what history holds: %w", err)
	}
	return nil
}
