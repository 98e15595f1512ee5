package gitint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// A Passing is an object that something in history leads to.
type Passing struct {
	// Commit is the one in which it was met first; newer ones come before older ones.
	// It is zero where a tag or a ref names a tree.
	Commit OID
	// Path is where it lies there, from the root.
	Path string
	OID  OID
}

// ObjectsBelow calls f with every file and directory at or below dirs in what the starting
// points lead to, whatever became of it later: each object once, under one of its paths.
// Without dirs that is everything. Starting points may be commits, tags, trees and blobs;
// those that are not here, and files and directories that are not, are passed over. An
// error of f ends the walk and is returned.
//
// It is one process, however much is looked for.
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
	err := r.stream(ctx, command{args: append(args, dirs...), stdin: &idLines{ids: from}},
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
