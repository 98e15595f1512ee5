package repair

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Stashed is the state of a conversation of which only a stash without a name has something.
const Stashed check.State = "stashed"

// unnamed reports what only stashes without a name have. A merge that fails resets the working tree
// and applies such a stash; if a file was written in between, git applies nothing of it. A person
// may also have dropped it, so nothing is restored.
func (m *planner) unnamed(ctx context.Context) error {
	if m.Repo == nil {
		return nil
	}
	stashes, err := m.Repo.UnnamedStashes(ctx)
	if err != nil || len(stashes) == 0 {
		return err
	}
	if err := m.lookForVersions(ctx); err != nil || m.versions.repo == nil {
		return err
	}
	u := unnamed{planner: m, told: make(map[events.ID][]*events.Stream)}
	if u.redacted, err = m.redaction(ctx); err != nil {
		return err
	}
	for _, stash := range stashes {
		const untracked = 2 // the parent with the untracked files
		for _, commit := range append([]gitint.OID{stash.OID}, stash.Parents[untracked:]...) {
			err := u.in(ctx, stash, commit)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitint.ErrUnknownRevision) {
				break // git has pruned a part of it, and cannot apply it either
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// An unnamed looks for what only stashes without a name have.
type unnamed struct {
	*planner

	redacted redaction
	told     map[events.ID][]*events.Stream // what later stashes have
}

// in looks at the conversations that a stash has changed, in one of its commits.
func (u *unnamed) in(ctx context.Context, stash gitint.Commit, commit gitint.OID) error {
	before, err := u.Repo.Tree(ctx, stash.Parents[0].String())
	if err != nil {
		return err
	}
	tree, err := u.Repo.Tree(ctx, commit.String())
	if err != nil {
		return err
	}
	entries, _, err := workspace.Scan(tree, u.versions.own)
	for _, e := range entries {
		name := path.Join(e.Path, workspace.EventsFile)
		is, ok := tree.OID(name)
		if was, _ := before.OID(name); !ok || was == is {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := events.Decode(u.redacted.fromStream(data, e.ID))
		if err != nil {
			continue // nothing of it could be restored
		}
		if err := u.tell(ctx, stash, e, s); err != nil {
			return err
		}
	}
	return err
}

// tell reports a conversation's version in a stash unless something has all of it.
func (u *unnamed) tell(
	ctx context.Context, stash gitint.Commit, e workspace.Entry, s *events.Stream,
) error {
	copies := slices.DeleteFunc(slices.Clone(u.entries), func(have workspace.Entry) bool {
		return have.ID != e.ID
	})
	has := func(other *events.Stream) bool { return contains(other, s) }
	if u.isIn(copies, s) || slices.ContainsFunc(u.told[e.ID], has) {
		return nil
	}
	var kept bool
	err := u.versions.each(ctx, versionKey{e.ID, workspace.EventsFile},
		func(_ version, data []byte) bool {
			other, err := events.Decode(data)
			kept = err == nil && has(other)
			return kept
		})
	if err != nil || kept {
		return err
	}
	u.told[e.ID] = append(u.told[e.ID], s)
	commit := stash.OID.String()[:12]
	below := strings.TrimPrefix(e.Path, strings.TrimSuffix(u.versions.own, workspace.DirName))
	u.add(&Fault{
		State: Stashed, Path: below, Conversation: e.ID, Outcome: Offered, Minor: true,
		Detail:  "has something in " + commit + " alone, a stash that no ref leads to",
		Remedy:  "it is of a failed merge, or was dropped; commit what is here before you apply it",
		Command: "git stash apply --index " + commit,
	})
	return nil
}
