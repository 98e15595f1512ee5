package audit

import (
	"context"
	"path"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
)

// stashRef is the ref of the latest stash. One with untracked files has them in its third parent.
const (
	stashRef         = "refs/stash"
	untrackedParents = 3
)

// stashed removes from a report what only the commit of the latest stash lacks: new blobs are not
// tracked, so they are in its last parent or stay in the store, where an applied stash finds them.
func (a Auditor) stashed(ctx context.Context, report *check.Report, stash gitint.OID) error {
	lacking := lists.Filter(report.Findings, func(f check.Finding) bool {
		return f.State == check.Missing && f.Commit == stash.String() && f.Commits == 1
	})
	if len(lacking) == 0 {
		return nil
	}
	var read []func(name string) ([]byte, error)
	parents, err := a.Repo.Parents(ctx, stash)
	if err != nil {
		return err
	}
	if len(parents) == untrackedParents {
		tree, err := a.Repo.Tree(ctx, parents[untrackedParents-1].String())
		if err != nil {
			return err
		}
		read = append(read, tree.ReadFile)
	}
	if root := a.Repo.Root(); root != "" {
		files, err := check.OpenWorkTree(root, a.Repo.Limits())
		if err != nil {
			return err
		}
		defer files.Close() //nolint:errcheck // it was read only
		read = append(read, files.ReadFile)
	}
	found := new(check.Report)
	for _, f := range lacking {
		dir, _, _ := strings.Cut(f.Path, "/conversations/")
		name := path.Join(dir, blobs.Dir, f.Hash.Path())
		for _, readFile := range read {
			// What cannot be read or is damaged stays missing.
			if gz, err := readFile(name); err == nil && isContent(gz, f.Hash) {
				found.Add(f)
				break
			}
		}
	}
	report.Without(found)
	return nil
}

func isContent(gz []byte, h blobs.Hash) bool {
	_, err := blobs.DecodeHash(gz, h)
	return err == nil
}
