package gitint

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	err := r.git.Stream(ctx, git.Command{Args: append(args, dirs...), Stdin: git.Lines(from)},
		func(out io.Reader) error {
			var commit OID
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				digits, name, isObject := strings.Cut(lines.Text(), " ")
				id, err := ParseOID(digits)
				if err != nil {
					return err
				}
				if !isObject {
					commit = id
					continue
				}
				if name == "" {
					continue // the root of the tree
				}
				if err := f(Passing{commit, name, id}); err != nil {
					return err
				}
			}
			return lines.Err()
		})
	if err != nil {
		return fmt.Errorf("list what history holds: %w", err)
	}
	return nil
}
