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

// ResolvedKey is the key of the trailers that record decisions of a person. In the message of a
// merge the value names a conversation that 'git jp resolve' decided; in that of a later commit it
// is the object name of a merge whose losses are accepted.
const ResolvedKey = "Jp-Resolved"

// lossesSince is when merges began to record decisions. Losses of older merges only cause a
// warning, because it is unknown whether they were decided.
var lossesSince = time.Date(2026, time.November, 23, 0, 0, 0, 0, time.UTC)

// A Review examines merge commits together with the commits that follow them.
type Review struct {
	Repo *gitint.Repo
	// Tips holds the commits that should have the lost elements.
	Tips []gitint.OID
	// Finder finds the workspaces of the merges and their parents.
	Finder *gitint.DirFinder
}

// A Lost holds the losses of a merge commit that no tip restored.
type Lost struct {
	Losses []Loss
	// Old reports whether the merge is older than the trailers, or already on a remote's main
	// branch.
	Old bool
}

// Lost returns the losses of a merge commit that are not in a tip that has the merge, that no
// commit between restored, and that no person accepted.
func (v Review) Lost(ctx context.Context, commit gitint.Commit) (Lost, error) {
	lost, err := v.lost(ctx, commit)
	if err != nil {
		return Lost{}, fmt.Errorf("look for what merge %s lost: %w", commit.OID, err)
	}
	return lost, nil
}

func (v Review) lost(ctx context.Context, commit gitint.Commit) (Lost, error) {
	if len(commit.Parents) < 2 {
		return Lost{}, nil
	}
	tree, err := v.Repo.Tree(ctx, commit.OID.String())
	if err != nil {
		return Lost{}, err
	}
	dirs, err := Workspaces(ctx, v.Finder, v.Repo, tree, commit.Parents)
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

// old reports whether losses of a merge only cause a warning.
func (v Review) old(ctx context.Context, commit gitint.OID) (bool, error) {
	all, err := v.Repo.Trailers(ctx, ResolvedKey, commit.String()+"^!")
	if err != nil || len(all) == 0 || all[0].Committed.Before(lossesSince) {
		return err == nil, err
	}
	names, err := v.Repo.RefsWith(ctx, commit)
	return slices.ContainsFunc(names, isRemoteHead), err
}

// isRemoteHead reports whether a ref is the HEAD of a remote.
func isRemoteHead(name string) bool {
	return strings.HasPrefix(name, "refs/remotes/") && path.Base(name) == "HEAD"
}

// after returns which losses of a merge remain at a tip. It returns none if the tip does not
// contain the merge.
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

// descendants returns a merge and the commits of a tip that descend from it, the tip first, or nil
// if the tip does not contain the merge.
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

// decided reads the decisions about a merge: from its own message, and from the commits of a tip
// that are not ancestors of the merge.
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

// left returns what of a loss the latest of the commits lacks and no earlier one had: elements that
// were restored and are missing now were removed since, and so was a conversation that the merge
// had a part of.
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

// begunSince returns the conversations that are not in there. They may have the elements that
// another conversation lost, for example if their side was forked into one of its own.
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
