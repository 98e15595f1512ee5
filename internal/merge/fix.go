package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// Underway returns the commits that git is merging into HEAD, nil when it merges none. In
// the hooks of a merge git has noted nothing yet, but it tells them in the environment;
// during a commit that ends a merge it is the other way round.
func Underway(ctx context.Context, repo *gitint.Repo) ([]gitint.OID, error) {
	heads, err := repo.MergeHeads()
	if err == nil && len(heads) == 0 {
		heads = told(repo.Env())
	}
	if err != nil || len(heads) == 0 {
		return nil, err
	}
	ours, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	return append([]gitint.OID{ours}, heads...), nil
}

// Waits reports whether a merge waits for its commit. It starts no process.
func Waits(repo *gitint.Repo) bool {
	heads, err := repo.MergeHeads()
	return err != nil || len(heads) > 0
}

// told are the commits of the environment, in its order: git forgets the one in which they
// were given. What a merge of several comes to does not depend on it.
func told(env []string) []gitint.OID {
	var heads []gitint.OID
	for _, head := range theirHeads(env) {
		if id, err := gitint.ParseOID(head); err == nil {
			heads = append(heads, id)
		}
	}
	return heads
}

// Fix replaces textual merges by the drivers' result, in the working tree and in the index, and
// returns the files that it replaced. A file of the working tree that differs from the index is
// somebody's work: it stays, and so does its entry.
func Fix(
	ctx context.Context, repo *gitint.Repo, index *gitint.Index, files []MergedFile,
) ([]MergedFile, error) {
	root, err := os.OpenRoot(repo.Root())
	if err != nil {
		return nil, fmt.Errorf("fix a merge: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	var fixed []MergedFile
	var names []string
	for _, b := range files {
		if b.Outcome != TextMerged || b.Data == nil {
			continue
		}
		staged, ok := untouched(repo, root, index, b.Path)
		if !ok {
			continue
		}
		opts := atomicfile.Options{TempDir: tempOf(b.Path)}
		err := atomicfile.Replace(root, b.Path, staged, b.Data, opts)
		if errors.Is(err, atomicfile.ErrChanged) {
			continue
		}
		if err != nil {
			return fixed, fmt.Errorf("fix %s: %w", b.Path, err)
		}
		fixed, names = append(fixed, b), append(names, b.Path)
	}
	if len(names) == 0 {
		return nil, nil
	}
	_, err = repo.Stage(ctx, gitint.Change{Add: names, LockTimeout: gitint.NoWait})
	if err != nil {
		return nil, fmt.Errorf("stage what was fixed: %w", err)
	}
	return fixed, nil
}

// untouched returns a file of the working tree that is as the index has it.
func untouched(
	repo *gitint.Repo, root *os.Root, index *gitint.Index, name string,
) (data []byte, ok bool) {
	staged, ok := index.OID(name)
	data, err := regular.Read(regular.In(root), name, repo.Limits().Of(name))
	return data, ok && err == nil && repo.HashBlob(data) == staged
}

// tempOf is where temporaries of a workspace lie.
func tempOf(name string) string { return path.Join(workspaceIn(name), blobs.Dir, ".tmp") }
