package merge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrStray reports a change of a conversation that is not here, which git would make in another
// one: it takes a similar file for a renamed one. After git am the only files that it knows of the
// patch's base are those of the patch.
var ErrStray = errors.New("git took it for a file of another conversation, which the patch or " +
	"the stash changes")

// isStray reports whether git changes a file by their version of another conversation's.
func isStray(ctx context.Context, repo *gitint.Repo, name string, theirs []byte) (bool, error) {
	if conversationOf(name) == 0 {
		return false, nil
	}
	if stray, err := isOfPatch(repo, name); err != nil || stray {
		return stray, err
	}
	return isOfStash(ctx, repo, name, repo.HashBlob(theirs))
}

// isOfPatch reports whether git applies a patch that names conversations, but not that of a file. A
// merge or a pick beside a patch that waits, or that was given up without a word, has nothing to do
// with the patch.
func isOfPatch(repo *gitint.Repo, name string) (bool, error) {
	others := []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"}
	if len(told(repo.Env())) > 0 || slices.ContainsFunc(others, repo.InProgress) {
		return false, nil
	}
	patch, err := regular.OpenFile(filepath.Join(repo.GitDir(), "rebase-apply", "patch"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer patch.Close() //nolint:errcheck // nothing was written
	named, err := patched(patch)
	return err == nil && len(named) > 0 && !slices.Contains(named, conversationOf(name)), err
}

// isOfStash reports whether their version of a file is what a stash changed in other conversations,
// and nothing that git merges has it in this one. Git does not say that it applies a stash.
func isOfStash(
	ctx context.Context, repo *gitint.Repo, name string, theirs gitint.OID,
) (bool, error) {
	stashes, err := applicable(ctx, repo)
	if err != nil {
		return false, err
	}
	f := newFamily(repo, workspaceIn(name))
	for _, stash := range stashes {
		stray, err := f.isStashed(ctx, stash, name, theirs)
		if err == nil && stray {
			stray, err = f.isMerged(ctx, name, theirs)
			stray = !stray
		}
		if err != nil || stray {
			return stray, err
		}
	}
	return false, nil
}

// applicable returns the stashes that git may be applying: what git merge, git rebase and git pull
// put aside, and unless it names what it merges, the latest one.
func applicable(ctx context.Context, repo *gitint.Repo) (all []string, err error) {
	const merging = "MERGE_AUTOSTASH"
	if repo.InProgress(merging) {
		all = append(all, merging)
	}
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		id, err := regular.ReadFile(
			filepath.Join(repo.GitDir(), dir, "autostash"), regular.MaxNote)
		if err == nil {
			all = append(all, string(bytes.TrimSpace(id)))
		}
	}
	if len(told(repo.Env())) > 0 {
		return all, nil
	}
	stashed, err := repo.HasStash(ctx)
	if stashed {
		all = append(all, stashRef)
	}
	return all, err
}

// isStashed reports whether a stash changed a file of that name in other conversations, and not in
// this one, to an object.
func (f *family) isStashed(
	ctx context.Context, rev, name string, object gitint.OID,
) (elsewhere bool, err error) {
	var sides [2]homes
	var stash gitint.OID // at last, the stash itself
	for i, of := range []string{rev + "^1", rev} {
		if stash, err = gitint.OrNone(f.repo.Resolve(ctx, of)); err != nil || stash.IsZero() {
			return false, err
		}
		if sides[i], err = f.at(ctx, stash); err != nil {
			return false, err
		}
	}
	was, is := sides[0], sides[1]
	own := conversationOf(name)
	for id, dirs := range is.dirs {
		for _, dir := range dirs {
			if was.trees[dir] == is.trees[dir] {
				continue
			}
			has, err := f.hasObject(ctx, stash, id, object)
			if err != nil || has && id == own {
				return false, err
			}
			elsewhere = elsewhere || has
		}
	}
	return elsewhere, nil
}

// isMerged reports whether a commit that git names has an object in the conversation of a file.
func (f *family) isMerged(
	ctx context.Context, name string, object gitint.OID,
) (bool, error) {
	revs := theirHeads(f.repo.Env())
	if rev := picked(f.repo); rev != "" {
		revs = append(revs, rev)
	}
	for _, rev := range revs {
		commit, err := gitint.OrNone(f.repo.Resolve(ctx, rev))
		if err != nil {
			return false, err
		}
		if commit.IsZero() {
			continue
		}
		has, err := f.hasObject(ctx, commit, conversationOf(name), object)
		if err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// patched returns the conversations of which a patch changes files. The patch may be of any size,
// and so may its lines: only the beginnings of long ones are looked at.
func patched(patch io.Reader) (named []events.ID, err error) {
	lines := bufio.NewReaderSize(patch, 64<<10)
	for begins := true; ; {
		line, err := lines.ReadSlice('\n')
		for _, header := range []string{"diff --git ", "--- ", "+++ "} {
			file, ok := bytes.CutPrefix(line, []byte(header))
			if id, isIn := workspace.PathID(string(file)); begins && ok && isIn {
				named = append(named, id)
			}
		}
		begins = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return named, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
