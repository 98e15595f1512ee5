package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// Unstage resets paths to their content in HEAD, and removes paths that HEAD lacks, or all of them
// on a branch without a commit, from the index. Marks and conflicts of these paths are removed. The
// working tree is not changed. It returns the paths whose entries changed, sorted.
func (r *Repo) Unstage(ctx context.Context, paths []string) ([]string, error) {
	paths = slices.Clone(paths)
	if err := checkPaths(paths); err != nil {
		return nil, fmt.Errorf("unstage %w", err)
	}
	if len(paths) == 0 {
		return nil, nil
	}
	tx, err := r.beginIndex(ctx, "", 0)
	if err != nil {
		return nil, fmt.Errorf("unstage: %w", err)
	}
	defer tx.rollback()
	changed, err := tx.unstage(ctx, paths)
	if err != nil {
		return nil, fmt.Errorf("unstage: %w", err)
	}
	return changed, tx.commit()
}

func (tx *indexTx) unstage(ctx context.Context, paths []string) (changed []string, err error) {
	before, err := tx.entries(ctx, paths)
	if err != nil {
		return nil, err
	}
	head, err := tx.repo.headEntries(ctx, paths)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, p := range paths {
		was := before[p]
		want, isInHead := head[p]
		switch {
		case isInHead && (len(was) != 1 || was[0].Stage != 0 || was[0].Entry != want):
			lines = append(lines, entryLine(want))
		case !isInHead && len(was) > 0:
			lines = append(lines, removeLine(p, tx.repo.noOID()))
		default:
			continue
		}
		changed = append(changed, p)
	}
	return changed, tx.apply(ctx, lines)
}

const noSuchRevision = 1 // exit code of git rev-parse --verify --quiet

// headEntries returns the entries of paths in HEAD, by path.
func (r *Repo) headEntries(ctx context.Context, paths []string) (map[string]Entry, error) {
	unborn, err := r.unborn(ctx)
	if err != nil || unborn {
		return nil, err
	}
	head, err := r.Tree(ctx, headName)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Entry, len(paths))
	for _, p := range paths {
		switch e, err := head.find(p); {
		case err == nil && e.Mode != ModeDir:
			all[p] = e
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("look for %q in HEAD: %w", p, err)
		}
	}
	return all, nil
}

// unborn reports whether HEAD names a branch that has no commit.
func (r *Repo) unborn(ctx context.Context) (bool, error) {
	_, err := r.git.Run(ctx, git.Command{Args: []string{
		"rev-parse", "--verify", "--quiet", "HEAD",
	}})
	if git.ExitCode(err) == noSuchRevision {
		return true, nil
	}
	return false, err
}
