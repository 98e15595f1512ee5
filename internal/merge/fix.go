package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// Underway returns HEAD and the commits that git is merging into it, or nil if it merges none. In
// the hooks of a merge git has not yet recorded them but passes them in the environment; during the
// commit that concludes a merge it is the other way round.
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

// Waits reports whether a merge is waiting to be committed. It starts no process.
func Waits(repo *gitint.Repo) bool {
	heads, err := repo.MergeHeads()
	return err != nil || len(heads) > 0
}

// told returns the commits that the environment names, in its order. Git does not keep the order in
// which they were given, but the result of merging several does not depend on it.
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
// returns the files that it replaced. A file of the working tree that differs from the index has
// changes of the user, so neither the file nor its index entry is touched.
func Fix(
	ctx context.Context, repo *gitint.Repo, index *gitint.Index, files []MergedFile,
) ([]MergedFile, error) {
	root, err := regular.OpenRoot(repo.Root())
	if err != nil {
		return nil, fmt.Errorf("fix a merge: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	var fixed []MergedFile
	var names []string
	for _, b := range files {
		if b.Outcome != TextMerged && b.Outcome != Misplaced || b.Data == nil {
			continue
		}
		staged, ok := untouched(repo, root, index, b.Path)
		if !ok {
			continue
		}
		needed, err := stored(repo, workspaceIn(b.Path), b.needed())
		if err != nil {
			return fixed, fmt.Errorf("store what %s refers to: %w", b.Path, err)
		}
		opts := atomicfile.Options{TempDir: tempOf(b.Path)}
		err = atomicfile.Replace(root, b.Path, staged, b.Data, opts)
		if errors.Is(err, atomicfile.ErrChanged) {
			continue
		}
		if err != nil {
			return fixed, fmt.Errorf("fix %s: %w", b.Path, err)
		}
		fixed, names = append(fixed, b), append(append(names, needed...), b.Path)
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

// needed returns those of the texts to which the result refers.
func (b MergedFile) needed() contents {
	all, _ := events.References(b.Data) // none if it is no stream
	return slices.DeleteFunc(slices.Clone(b.texts), func(text []byte) bool {
		return !slices.ContainsFunc(all, func(at events.RefAt) bool {
			return at.Ref == blobs.Loaded(text).Ref()
		})
	})
}

// untouched returns a file of the working tree and reports whether it equals the index.
func untouched(
	repo *gitint.Repo, root *os.Root, index *gitint.Index, name string,
) (data []byte, ok bool) {
	staged, ok := index.OID(name)
	data, err := regular.Read(regular.In(root), name, repo.Limits().Of(name))
	return data, ok && err == nil && repo.HashBlob(data) == staged
}

// tempOf returns the directory for temporary files of a file's workspace.
func tempOf(name string) string { return path.Join(workspaceIn(name), blobs.Dir, ".tmp") }
