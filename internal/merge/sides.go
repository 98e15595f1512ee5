package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// Sides are the two commits that a git operation combines.
type Sides struct {
	Ours, Theirs gitint.OID
	// Base is their single merge base, or zero if it is uncertain: then nothing counts as removed.
	// It is never one of the sides.
	Base gitint.OID
	// Waits reports whether git stopped for a person: there is no commit of both yet.
	Waits bool
}

// SidesBetween returns two commits with their merge base. A criss-cross history has several, and
// none of them is certain.
func SidesBetween(
	ctx context.Context, repo *gitint.Repo, ours, theirs gitint.OID,
) (*Sides, error) {
	s := &Sides{Ours: ours, Theirs: theirs}
	bases, err := repo.MergeBases(ctx, theirs, ours)
	if err != nil {
		return nil, fmt.Errorf("find what %s and %s have in common: %w", ours, theirs, err)
	}
	if len(bases) == 1 && bases[0] != ours && bases[0] != theirs {
		s.Base = bases[0]
	}
	return s, nil
}

// Stopped reports whether git waits for a person. It only checks for files.
func Stopped(repo *gitint.Repo) bool {
	return len(stopHeads(repo)) > 0
}

// A stopHead is a ref in which git records the commit of an operation in progress, which applies
// the difference between two revisions to HEAD.
type stopHead struct{ file, base, theirs string }

// stopHeads returns the ones that exist.
func stopHeads(repo *gitint.Repo) []stopHead {
	return slices.DeleteFunc([]stopHead{
		{"MERGE_HEAD", "", "MERGE_HEAD"},
		{"CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD^", "CHERRY_PICK_HEAD"},
		{"REVERT_HEAD", "REVERT_HEAD", "REVERT_HEAD^"},
		// REBASE_HEAD may remain after a rebase; the directory does not.
		{"rebase-merge", "REBASE_HEAD^", "REBASE_HEAD"},
		{"rebase-apply", "REBASE_HEAD^", "REBASE_HEAD"},
	}, func(h stopHead) bool {
		return !repo.InProgress(h.file)
	})
}

// SkipCommand returns the command that skips a commit at which git stopped and which has become
// empty, or "" if git continues by itself or has not stopped.
func SkipCommand(repo *gitint.Repo) string {
	for _, stop := range []struct{ file, command string }{
		{"rebase-merge", ""},
		{"rebase-apply/applying", "git am --skip"},
		{"rebase-apply", "git rebase --skip"},
		{"CHERRY_PICK_HEAD", "git cherry-pick --skip"},
		{"REVERT_HEAD", "git revert --skip"},
	} {
		if repo.InProgress(stop.file) {
			return stop.command
		}
	}
	return ""
}

// SidesOf returns the commits that git is combining, or nil if no operation is in progress.
func SidesOf(ctx context.Context, repo *gitint.Repo) (*Sides, error) {
	for _, head := range stopHeads(repo) {
		theirs, err := gitint.OrNone(repo.Resolve(ctx, head.theirs))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", head.theirs, err)
		}
		if theirs.IsZero() {
			continue // the rebase has not begun, or theirs has no parent
		}
		ours, err := repo.Resolve(ctx, "HEAD")
		if err != nil {
			return nil, err
		}
		if head.base == "" {
			return sidesOfMerge(ctx, repo, ours, theirs)
		}
		base, err := gitint.OrNone(repo.Resolve(ctx, head.base)) // none if theirs has no parent
		return &Sides{Ours: ours, Theirs: theirs, Base: base, Waits: true}, err
	}
	return nil, nil
}

// squashMessage is the only trace of 'git merge --squash'.
const squashMessage = "SQUASH_MSG"

// unnoted returns the sides that git combines for a conversation without recording them in a ref:
// by merge --squash or by stash. Their traces may be left from an earlier operation, so the index
// must match the commits. It returns nil if nothing is certain.
func (f *family) unnoted(
	ctx context.Context, index *gitint.Index, at Place,
) (*Sides, error) {
	_, unmerged := oursIn(index, at.ID)
	for _, of := range []func(context.Context, *gitint.Repo) (*Sides, error){
		sidesOfSquash, sidesOfStash,
	} {
		sides, err := of(ctx, f.repo)
		if err != nil {
			return nil, err
		}
		if sides == nil {
			continue
		}
		has := f.stagedOf
		if unmerged {
			has = f.unmergedOf
		}
		if is, err := has(ctx, index, sides, at); err != nil || is {
			return sides, err
		}
	}
	return nil, nil
}

// unmergedOf reports whether the unmerged entries of a conversation in the index are in the commits
// of sides. Ours is HEAD, whatever that was.
func (f *family) unmergedOf(
	ctx context.Context, index *gitint.Index, sides *Sides, at Place,
) (bool, error) {
	found := false
	for _, e := range index.Stages() {
		commit := sides.Base
		if e.Stage == stageTheirs {
			commit = sides.Theirs
		}
		if conversationOf(e.Path) != at.ID || e.Stage == stageOurs || commit.IsZero() {
			continue
		}
		if has, err := f.hasObject(ctx, commit, at.ID, e.OID); err != nil || !has {
			return false, err
		}
		found = true
	}
	return found, nil
}

// stagedOf reports whether the index has the directories of a conversation as the two sides have
// them, one each.
func (f *family) stagedOf(
	ctx context.Context, index *gitint.Index, sides *Sides, at Place,
) (bool, error) {
	var dirs []string
	for _, commit := range []gitint.OID{sides.Ours, sides.Theirs} {
		side, err := f.at(ctx, commit)
		if err != nil || len(side.dirs[at.ID]) != 1 {
			return false, err
		}
		dir := side.dirs[at.ID][0]
		had, err := side.snap.Entries(dir)
		if err != nil {
			return false, err
		}
		has, err := index.Entries(dir)
		if err != nil || !slices.Equal(has, had) {
			return false, err
		}
		dirs = append(dirs, dir)
	}
	return sameNames(dirs, at.In), nil
}

// sidesOfSquash returns the sides of git merge --squash, or nil if there was none. The file may be
// left from an earlier merge, so callers compare the content of the sides.
func sidesOfSquash(ctx context.Context, repo *gitint.Repo) (*Sides, error) {
	data, err := regular.ReadFile(filepath.Join(repo.GitDir(), squashMessage), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tips, err := repo.SquashedBy(ctx, string(data))
	if err != nil || len(tips) != 1 {
		return nil, err // the user edited it, or it names several commits
	}
	theirs := tips[0]
	ours, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	s, err := SidesBetween(ctx, repo, ours, theirs)
	if s != nil {
		s.Waits = true
	}
	return s, err
}

// NameOf returns a name for the operation in progress, so that a decision is tied to it. Which
// stash is being applied is unknown.
func NameOf(ctx context.Context, repo *gitint.Repo) (string, error) {
	s, err := SidesOf(ctx, repo)
	if err != nil {
		return "", err
	}
	if s == nil {
		head, err := gitint.OrNone(repo.Resolve(ctx, "HEAD")) // there may be no commit yet
		return "stash " + head.String(), err
	}
	return s.Ours.String() + " " + s.Theirs.String(), nil
}

// sidesOfMerge returns the sides of a merge of theirs into HEAD. Git keeps MERGE_HEAD until the
// hooks after the commit have run. By then HEAD is the merge itself, and its merge base with theirs
// is theirs.
func sidesOfMerge(
	ctx context.Context, repo *gitint.Repo, head, theirs gitint.OID,
) (*Sides, error) {
	if heads, err := repo.MergeHeads(); err != nil || len(heads) > 1 {
		return &Sides{Ours: head, Waits: true}, err // of several it is unknown which is theirs
	}
	parents, err := repo.Parents(ctx, head)
	if err != nil {
		return nil, err
	}
	if slices.Contains(parents, theirs) {
		return SidesBetween(ctx, repo, parents[0], theirs)
	}
	s, err := SidesBetween(ctx, repo, head, theirs)
	if err == nil {
		s.Waits = true
	}
	return s, err
}

// stashRef is the stash that git stash pop and git stash apply use by default.
const stashRef = "refs/stash"

// sidesOfStash returns the sides of the latest stash, or nil if there is none. Git does not record
// which stash it restores.
func sidesOfStash(ctx context.Context, repo *gitint.Repo) (*Sides, error) {
	s := &Sides{Waits: true}
	for _, at := range []struct {
		rev string
		to  *gitint.OID
	}{{"HEAD", &s.Ours}, {stashRef + "^1", &s.Base}, {stashRef, &s.Theirs}} {
		var err error
		*at.to, err = gitint.OrNone(repo.Resolve(ctx, at.rev))
		if err != nil || at.to.IsZero() {
			return nil, err
		}
	}
	return s, nil
}

// untrackedRef is the commit of the untracked files in a stash made by git stash -u.
const untrackedRef = stashRef + "^3"

// Stashed returns the directory of a conversation among the untracked files of the stash, or "" if
// there is none or another operation is in progress. Git restores all of these files or, if one of
// them exists already, none: a conversation that the stash seems to have deleted was then moved.
func Stashed(ctx context.Context, repo *gitint.Repo, dir string, id events.ID) (string, error) {
	if Stopped(repo) {
		return "", nil
	}
	tree, err := gitint.OrNone(repo.Tree(ctx, untrackedRef))
	if err != nil || tree == nil {
		return "", err
	}
	stash, err := homesIn(tree, dir)
	if err != nil || len(stash.dirs[id]) == 0 {
		return "", err
	}
	return stash.dirs[id][0], nil
}

// hasObject reports whether some file of a conversation in a commit is the given object.
func (f *family) hasObject(
	ctx context.Context, commit gitint.OID, id events.ID, object gitint.OID,
) (bool, error) {
	h, err := f.at(ctx, commit)
	if err != nil {
		return false, err
	}
	for _, dir := range h.dirs[id] {
		all, err := h.snap.Entries(dir)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(all, func(e gitint.Entry) bool { return e.OID == object }) {
			return true, nil
		}
	}
	return false, nil
}
