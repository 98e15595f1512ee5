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

// Sides are the two commits that an operation of git brings together.
type Sides struct {
	Ours, Theirs gitint.OID
	// Base is the one commit from which both went on, zero where it is not certain which one
	// that is: then nothing counts as removed. It is never one of the sides.
	Base gitint.OID
	// Waits says that git stopped for a person: there is no commit of both yet.
	Waits bool
}

// SidesBetween returns two commits with the one that they have in common. Of a criss-cross
// history there are several, and none of them is certain.
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

// Parents returns the parents of a commit.
func Parents(
	ctx context.Context, repo *gitint.Repo, commit gitint.OID,
) (parents []gitint.OID, err error) {
	err = repo.CommitHeads(ctx, []gitint.OID{commit}, func(_ int, h gitint.CommitHead) error {
		parents = h.Parents
		return nil
	})
	return parents, err
}

// Stopped reports whether git waits for a person, by files alone.
func Stopped(repo *gitint.Repo) bool {
	return len(stopHeads(repo)) > 0
}

// A stopHead is where git notes the commit of what it is doing: it brings to HEAD what one
// commit has and another has not.
type stopHead struct{ file, base, theirs string }

// stopHeads returns those that there are.
func stopHeads(repo *gitint.Repo) []stopHead {
	return slices.DeleteFunc([]stopHead{
		{"MERGE_HEAD", "", "MERGE_HEAD"},
		{"CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD^", "CHERRY_PICK_HEAD"},
		{"REVERT_HEAD", "REVERT_HEAD", "REVERT_HEAD^"},
		// REBASE_HEAD may stay behind, the directory does not.
		{"rebase-merge", "REBASE_HEAD^", "REBASE_HEAD"},
		{"rebase-apply", "REBASE_HEAD^", "REBASE_HEAD"},
	}, func(h stopHead) bool {
		return !repo.InProgress(h.file)
	})
}

// SkipCommand is what goes on from a commit that git stopped at and of which nothing is left, ""
// where git goes on by itself or stopped at none.
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

// SidesOf returns what git is bringing together, nil where it is doing nothing.
func SidesOf(ctx context.Context, repo *gitint.Repo) (*Sides, error) {
	for _, head := range stopHeads(repo) {
		theirs, err := repo.Resolve(ctx, head.theirs)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue // a rebase that has not begun, or of a first commit
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", head.theirs, err)
		}
		ours, err := repo.Resolve(ctx, "HEAD")
		if err != nil {
			return nil, err
		}
		if head.base == "" {
			return sidesOfMerge(ctx, repo, ours, theirs)
		}
		s := &Sides{Ours: ours, Theirs: theirs, Waits: true}
		s.Base, err = repo.Resolve(ctx, head.base)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			err = nil // a first commit
		}
		return s, err
	}
	return nil, nil
}

// squashMessage is where 'git merge --squash' leaves its only trace.
const squashMessage = "SQUASH_MSG"

// unnoted returns what git brings together of a conversation and notes in no head: by merge
// --squash or by stash. What it leaves of these may be of an older one, so that the index has to
// have what the commits have. Nil where nothing is certain.
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

// unmergedOf reports whether what the index has unmerged of a conversation is in the commits of
// sides. Ours is HEAD, whatever that was.
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

// stagedOf reports whether the index has the directories of a conversation as the two sides
// have them, one each.
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

// sidesOfSquash returns what git merge --squash brought together, nil where it did not. The
// file may have outlived its merge, so that whoever asks compares what the sides have.
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
		return nil, err // somebody's words, or of several it is unknown whose is whose
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

// NameOf names what git is bringing together: a decision that is made on the way to a commit
// belongs to it. Of a stash it is unknown which one.
func NameOf(ctx context.Context, repo *gitint.Repo) (string, error) {
	s, err := SidesOf(ctx, repo)
	if err != nil {
		return "", err
	}
	if s == nil {
		head, err := repo.Resolve(ctx, "HEAD")
		if errors.Is(err, gitint.ErrUnknownRevision) {
			err = nil // there is no commit yet
		}
		return "stash " + head.String(), err
	}
	return s.Ours.String() + " " + s.Theirs.String(), nil
}

// sidesOfMerge returns the sides of a merge of theirs into HEAD. Git keeps its note of theirs
// until the hooks that follow the commit are done: HEAD is the merge itself then, and what it
// has in common with theirs is theirs.
func sidesOfMerge(
	ctx context.Context, repo *gitint.Repo, head, theirs gitint.OID,
) (*Sides, error) {
	if heads, err := repo.MergeHeads(); err != nil || len(heads) > 1 {
		return &Sides{Ours: head, Waits: true}, err // of several it is unknown whose is whose
	}
	parents, err := Parents(ctx, repo, head)
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

// stashRef is the stash that git pop and git apply take, unless they are told another.
const stashRef = "refs/stash"

// sidesOfStash returns the sides of the latest stash, nil where there is none: git notes nowhere
// which one it restores.
func sidesOfStash(ctx context.Context, repo *gitint.Repo) (*Sides, error) {
	s := &Sides{Waits: true}
	for _, at := range []struct {
		rev string
		to  *gitint.OID
	}{{"HEAD", &s.Ours}, {stashRef + "^1", &s.Base}, {stashRef, &s.Theirs}} {
		var err error
		*at.to, err = repo.Resolve(ctx, at.rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// untrackedRef is what git stash -u took of files that were not in the index.
const untrackedRef = stashRef + "^3"

// Stashed returns the directory that a stash has of a conversation among its untracked files,
// "" for none, while git does nothing else. Git restores all of these files or, where one is in
// the way, none: what looks deleted by the stash was moved then.
func Stashed(ctx context.Context, repo *gitint.Repo, dir string, id events.ID) (string, error) {
	if Stopped(repo) {
		return "", nil
	}
	tree, err := repo.Tree(ctx, untrackedRef)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	stash, err := homesIn(tree, dir)
	if err != nil || len(stash.dirs[id]) == 0 {
		return "", err
	}
	return stash.dirs[id][0], nil
}

// hasObject reports whether a file of a conversation in a commit is an object.
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
