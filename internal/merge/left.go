package merge

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ResolvedKey is the key of the trailers that say that a person decided. In the message of a
// merge the value names a conversation that 'git jp resolve' decided there; in that of a later
// commit it is the object name of a merge whose losses are accepted.
const ResolvedKey = "Jp-Resolved"

// lossesSince is when merges began to say what was decided in them. Of older ones nobody can
// tell, so that they are warned about only.
var lossesSince = time.Date(2026, time.November, 23, 0, 0, 0, 0, time.UTC)

// A Review is a look at merge commits from the commits that go on from them.
type Review struct {
	Repo *gitint.Repo
	// Tips are the commits that are to have what was lost.
	Tips []gitint.OID
}

// Lost is what a merge commit lost and no tip made up for.
type Lost struct {
	Losses []Loss
	// Old says that the merge is older than the trailers, or on a remote's main branch already.
	Old bool
}

// Lost returns what a merge commit lost of conversations below the directories, that a tip which
// has the merge does not have, that no commit between brought back, and that nobody decided.
func (v Review) Lost(ctx context.Context, commit gitint.Commit, dirs []string) (Lost, error) {
	lost, err := v.lost(ctx, commit, dirs)
	if err != nil {
		return Lost{}, fmt.Errorf("look for what merge %s lost: %w", commit.OID, err)
	}
	return lost, nil
}

func (v Review) lost(ctx context.Context, commit gitint.Commit, dirs []string) (Lost, error) {
	if len(commit.Parents) < 2 {
		return Lost{}, nil
	}
	tree, err := v.Repo.Tree(ctx, commit.OID.String())
	if err != nil {
		return Lost{}, err
	}
	losses, err := Merge{Repo: v.Repo, Parents: commit.Parents, Dirs: dirs}.Losses(ctx, tree)
	if err != nil || len(losses) == 0 {
		return Lost{}, err
	}
	var left []Loss
	for _, tip := range v.Tips {
		open, err := v.after(ctx, commit, tip, losses)
		if err != nil {
			return Lost{}, err
		}
		for _, l := range open {
			if !slices.ContainsFunc(left, func(known Loss) bool { return l.same(known) }) {
				left = append(left, l)
			}
		}
	}
	if len(left) == 0 {
		return Lost{}, nil
	}
	old, err := v.old(ctx, commit.OID)
	return Lost{left, old}, err
}

func (l Loss) same(other Loss) bool {
	return l.dir == other.dir && l.Conversation == other.Conversation
}

// old reports whether a merge is one that is warned about only.
func (v Review) old(ctx context.Context, commit gitint.OID) (bool, error) {
	all, err := v.Repo.Trailers(ctx, ResolvedKey, commit.String()+"^!")
	if err != nil || len(all) == 0 || all[0].Committed.Before(lossesSince) {
		return err == nil, err
	}
	names, err := v.Repo.RefsWith(ctx, commit)
	return slices.ContainsFunc(names, isRemoteHead), err
}

// isRemoteHead reports whether a ref is what a remote calls its HEAD.
func isRemoteHead(name string) bool {
	return strings.HasPrefix(name, "refs/remotes/") && path.Base(name) == "HEAD"
}

// after returns what of the losses of a merge is left at a tip: nothing where the tip does not
// have the merge.
func (v Review) after(
	ctx context.Context, commit gitint.Commit, tip gitint.OID, losses []Loss,
) ([]Loss, error) {
	later, err := v.descendants(ctx, commit.OID, tip)
	if err != nil || later == nil {
		return nil, err
	}
	decided, err := v.decided(ctx, commit, tip)
	if err != nil {
		return nil, err
	}
	families := make(map[string]*family)
	var left []Loss
	for _, l := range losses {
		if decided(l.Conversation) {
			continue
		}
		f := families[l.dir]
		if f == nil {
			f = newFamily(v.Repo, l.dir)
			families[l.dir] = f
		}
		if l.Elements, err = f.left(ctx, l, later); err != nil {
			return nil, err
		}
		if len(l.Elements) > 0 {
			left = append(left, l)
		}
	}
	return left, nil
}

// descendants returns a merge and the commits of a tip that go on from it, the tip first, nil
// where it does not have the merge.
func (v Review) descendants(ctx context.Context, commit, tip gitint.OID) ([]gitint.OID, error) {
	all, err := v.Repo.Commits(ctx, tip.String(), "^"+commit.String())
	if err != nil {
		return nil, err
	}
	from := map[gitint.OID]bool{commit: true}
	later := []gitint.OID{commit}
	for _, c := range all {
		if slices.ContainsFunc(c.Parents, func(p gitint.OID) bool { return from[p] }) {
			from[c.OID] = true
			later = append(later, c.OID)
		}
	}
	if !from[tip] {
		return nil, nil
	}
	slices.Reverse(later)
	return later, nil
}

// decided reads who decided what of a merge: its own message, and those of the commits of a tip
// that it does not go on from.
func (v Review) decided(
	ctx context.Context, commit gitint.Commit, tip gitint.OID,
) (func(events.ID) bool, error) {
	revs := []string{tip.String()}
	for _, p := range commit.Parents {
		revs = append(revs, "^"+p.String())
	}
	all, err := v.Repo.Trailers(ctx, ResolvedKey, revs...)
	if err != nil {
		return nil, err
	}
	accepted := false
	ids := make(map[events.ID]bool)
	for _, c := range all {
		for _, value := range c.Values {
			accepted = accepted || value == commit.OID.String()
			id, err := events.ParseID(value)
			if err == nil && c.OID == commit.OID {
				ids[id] = true
			}
		}
	}
	return func(id events.ID) bool { return accepted || ids[id] }, nil
}

// left returns what of a loss the latest of the commits does not have, and none before had: what
// was brought back and is not there was removed since, and so is a conversation of which the
// merge had a part.
func (f *family) left(
	ctx context.Context, l Loss, later []gitint.OID,
) ([]*events.Element, error) {
	var before gitint.OID
	for i, commit := range later {
		h, err := f.at(ctx, commit)
		if err != nil {
			return nil, err
		}
		if i == 0 && len(h.dirs[l.Conversation]) == 0 && !l.Gone {
			return nil, nil
		}
		_, key, err := h.file(l.Conversation, workspace.EventsFile)
		if err != nil {
			return nil, err
		}
		if i > 0 && !key.IsZero() && key == before {
			continue
		}
		before = key
		ids := []events.ID{l.Conversation}
		if i == 0 {
			ids = append(ids, h.begunSince(l.with)...)
		}
		for _, id := range ids {
			version, err := h.said(id)
			if _, ok := errors.AsType[*events.SyntaxError](err); ok {
				continue
			}
			if err != nil {
				return nil, err
			}
			l.Elements = l.missingIn(version)
		}
		if len(l.Elements) == 0 {
			return nil, nil
		}
	}
	return l.Elements, nil
}

// begunSince returns the conversations that were not there: what one lost another may have, as
// where their side was made one of its own.
func (h homes) begunSince(there map[events.ID]bool) []events.ID {
	var ids []events.ID
	for id := range h.dirs {
		if !there[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
