package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
	"github.com/git-jp/git-jp/internal/regular"
)

// MergeTreeVersion is the first git that merges without a working tree.
func MergeTreeVersion() Version { return Version{Major: 2, Minor: 38} }

// A MergedTree is the result of a merge that was not committed.
type MergedTree struct {
	// Tree has our side of an unmerged file, or what a driver left.
	Tree OID
	// Unmerged has the paths with conflicts.
	Unmerged []string
}

// MergeTree merges two commits without a working tree and without a commit. The settings, each
// "key=value", apply to this merge. It writes objects to which nothing refers.
func (r *Repo) MergeTree(
	ctx context.Context, ours, theirs string, settings ...string,
) (*MergedTree, error) {
	have, err := r.Version(ctx)
	if err != nil {
		return nil, err
	}
	if need := MergeTreeVersion(); !have.AtLeast(need) {
		return nil, fmt.Errorf(
			"merging without a working tree needs git %s, this one is %s", need, have)
	}
	args := append(withSettings(settings), "merge-tree", "--write-tree", "-z", "--name-only",
		"--no-messages", ours, theirs)
	out, err := r.git.Run(ctx, git.Command{Args: args, Write: true})
	fields := splitZ(out)
	if code := git.ExitCode(err); err != nil && code != 1 || len(fields) == 0 {
		return nil, fmt.Errorf("merge %s and %s: %w", ours, theirs, err)
	}
	m := &MergedTree{Unmerged: fields[1:]}
	m.Tree, err = ParseOID(fields[0])
	return m, err
}

// userEnv resets a variable that this package sets, for commands that run the user's hooks: these
// have pathspecs of their own.
func userEnv() []string { return []string{"GIT_LITERAL_PATHSPECS=0"} }

// Merge merges a commit into the branch of this working tree, with the user's drivers and hooks,
// and returns their output. The settings, each "key=value", apply to this merge. If the merge
// stops, the error is a *SaidError; it may then wait for its commit.
func (r *Repo) Merge(
	ctx context.Context, rev string, settings ...string,
) (said string, err error) {
	return r.saying(ctx, settings, "merge", "--no-edit", "--end-of-options", rev)
}

// withSettings returns the arguments that apply settings, each "key=value", to one git command.
func withSettings(settings []string) (args []string) {
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// CommitMerge commits a merge that waits for its commit.
func (r *Repo) CommitMerge(ctx context.Context) (said string, err error) {
	return r.saying(ctx, nil, "commit", "--no-edit", "--quiet")
}

// Push pushes a local ref to a ref of a remote.
func (r *Repo) Push(ctx context.Context, remote, from, to string) (said string, err error) {
	return r.saying(ctx, nil, "push", "--quiet", "--end-of-options", remote, from+":"+to)
}

// saying runs a command whose output the caller shows, in full and whether it succeeds or not: it
// has lists of files, advice, and what hooks print.
func (r *Repo) saying(ctx context.Context, settings []string, args ...string) (string, error) {
	_, said, err := r.git.RunWarned(ctx, git.Command{
		Args:  append(withSettings(settings), args...),
		Write: true, Remote: true, Env: userEnv(),
	})
	if failed, ok := errors.AsType[*ExitError](err); ok && said != "" {
		return said, &SaidError{ExitError: failed}
	}
	if err != nil {
		return said, fmt.Errorf("%s: %w", args[0], err)
	}
	return said, nil
}

// Stopped reports whether a merge, a rebase, a sequence of picks or a bisection is in progress: git
// may refuse to continue if a tracked file changed, or a file is there that the next commit has. It
// starts no process.
func (r *Repo) Stopped() bool {
	return slices.ContainsFunc([]string{
		"MERGE_HEAD", "rebase-merge", "rebase-apply", "sequencer", "BISECT_START",
	}, r.InProgress)
}

// InProgress reports whether git has state beside HEAD under a name: a ref such as
// CHERRY_PICK_HEAD, or a file or directory such as rebase-merge. It starts no process.
func (r *Repo) InProgress(name string) bool {
	if regular.Exists(filepath.Join(r.gitDir, filepath.FromSlash(name))) {
		return true
	}
	heads, err := r.headsInTables(name)
	return err == nil && len(heads) > 0
}

// MergeHeads returns the commits in MERGE_HEAD, none if no merge waits for its commit. It starts no
// process.
func (r *Repo) MergeHeads() ([]OID, error) { return r.HeadsBeside("MERGE_HEAD") }

// HeadsBeside returns the commits in a pseudo-ref beside HEAD, such as MERGE_HEAD or
// CHERRY_PICK_HEAD, none if it is missing. It starts no process.
func (r *Repo) HeadsBeside(name string) ([]OID, error) {
	data, err := regular.ReadFile(filepath.Join(r.gitDir, name), regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return r.headsInTables(name)
	}
	if err != nil {
		return nil, err
	}
	heads, err := object.ParseIDs(string(data))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return heads, nil
}

// headsInTables is HeadsBeside for refs in reftables.
func (r *Repo) headsInTables(name string) ([]OID, error) {
	tables := refstore.Tables(r.refPlace(r.gitDir))
	if !tables.Exist() || !lookAlike(name) {
		return nil, nil
	}
	id, err := tables.Pseudo(context.Background(), name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if id.IsZero() {
		return nil, nil
	}
	return []OID{id}, nil
}
