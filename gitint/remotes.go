package gitint

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// Remotes returns the names of the repository's remotes.
func (r *Repo) Remotes(ctx context.Context) ([]string, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{"remote"}})
	if err != nil {
		return nil, fmt.Errorf("list remotes: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// Unfetched lists the branches of a remote, over the network, and returns those whose commits are
// missing here.
func (r *Repo) Unfetched(ctx context.Context, remote string) ([]string, error) {
	out, err := r.git.Run(ctx, git.Command{
		Args:   []string{"ls-remote", "--heads", "--quiet", "--end-of-options", remote},
		Remote: true,
	})
	if err != nil {
		return nil, fmt.Errorf("list branches of remote %q: %w", remote, err)
	}
	var names []string
	var ids []OID
	for line := range strings.Lines(string(out)) {
		digits, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id, err := ParseOID(digits)
		if !ok || err != nil {
			return nil, fmt.Errorf("unexpected line %q of git ls-remote", line)
		}
		names, ids = append(names, name), append(ids, id)
	}
	kinds, err := r.ObjectKinds(ctx, ids)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for i, kind := range kinds {
		if kind == "" {
			unknown = append(unknown, names[i])
		}
	}
	return unknown, nil
}

// Fetch fetches all branches of a remote, also those that a clone of a single branch omitted. It
// prunes nothing, and moves no tag.
func (r *Repo) Fetch(ctx context.Context, remote string) error {
	refs := "+refs/heads/*:refs/remotes/" + remote + "/*"
	_, err := r.git.Run(ctx, git.Command{Write: true, Remote: true, Args: []string{
		"fetch", "--quiet", "--no-recurse-submodules", "--no-write-fetch-head",
		"--end-of-options", remote, refs,
	}})
	if err != nil {
		return fmt.Errorf("fetch from %s: %w", remote, err)
	}
	return nil
}
