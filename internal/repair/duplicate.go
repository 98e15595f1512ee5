package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errConflict reports that a person has to decide.
var errConflict = errors.New("both changed the same turn differently")

// duplicates merges directories with the same id.
func (m *planner) duplicates(ctx context.Context) error {
	for all := range chunkByID(m.entries) {
		if len(all) > 1 {
			if err := m.duplicate(ctx, all); err != nil {
				return err
			}
		}
	}
	return nil
}

func chunkByID(entries []workspace.Entry) func(yield func([]workspace.Entry) bool) {
	return func(yield func([]workspace.Entry) bool) {
		for len(entries) > 0 {
			n := 1
			for n < len(entries) && entries[n].ID == entries[0].ID {
				n++
			}
			if !yield(entries[:n]) {
				return
			}
			entries = entries[n:]
		}
	}
}

func (m *planner) duplicate(ctx context.Context, entries []workspace.Entry) error {
	id := entries[0].ID
	f := &Fault{
		State: check.DuplicateID, Path: entries[1].Path, Conversation: id, Outcome: Offered,
		Detail:  fmt.Sprintf("has the id of %s", entries[0].Path),
		Command: "git diff --no-index -- " + quoted(entries[0].Path, entries[1].Path),
	}
	m.add(f)
	how, err := m.union(ctx, entries)
	if err != nil {
		return err
	}
	if how.waits {
		f.Command = "git jp resolve " + id.String()
	}
	var all []*workspace.Conversation
	for _, e := range entries {
		c, err := m.Workspace.Load(e)
		if loads := err == nil && !e.Legacy; !loads { // that is a fault of its own
			f.Remedy = "they can be merged when each of them loads"
			return nil
		}
		all = append(all, c)
	}
	u, err := how.of(all)
	if err != nil {
		f.Remedy = "cannot be merged: " + err.Error()
		if errors.Is(err, errConflict) && m.isTracked(ctx, id) {
			f.Command = "git jp resolve " + id.String()
		}
		return ctx.Err()
	}
	f.Title = all[u.keep].Title()
	f.Outcome, f.Changes, f.Command = Certain, true, ""
	f.Remedy = fmt.Sprintf("merge %d directories into %s", len(all), u.target.Path) + u.note
	unite := func(all []*workspace.Conversation) (workspace.Union, error) {
		u, err := how.of(all)
		if err != nil {
			return workspace.Union{}, err
		}
		if err := how.redacted.store(); err != nil {
			return workspace.Union{}, err
		}
		u.apply(all[u.keep])
		return workspace.Union{Keep: u.keep, Quarantine: m.plan.kept.keepAll}, nil
	}
	f.mend = func(ctx context.Context) error {
		_, err := m.Workspace.Unite(ctx, id, unite)
		return err
	}
	return nil
}

// isTracked reports whether Git has a conversation: what it does not have, git jp resolve does not
// decide.
func (m *planner) isTracked(ctx context.Context, id events.ID) bool {
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil || s.Repo == nil {
		return false
	}
	tracked, err := merge.Committed(ctx, s.Repo, s.own, id)
	return err == nil && tracked
}

func quoted(a, b string) string { return check.ShellQuote(a) + " " + check.ShellQuote(b) }

// A unified is the result of merging several directories.
type unified struct {
	keep       int // the index of the directory that remains
	details    *events.Details
	stream     *events.Stream
	baseConfig []byte
	target     workspace.Entry // the remaining directory, with its new name
	note       string          // for people: where it remains and which values were replaced
}

func (u *unified) apply(c *workspace.Conversation) {
	c.Details, c.Stream, c.BaseConfig = u.details, u.stream, u.baseConfig
	// A reference without content in one of them has none in the union.
	c.AllowDangling = true
}

// stays reports whether the union of directories is archived: one side archived the conversation
// after the common ancestor, even if the other continued it.
func stays(
	all []*workspace.Conversation, known, before bool,
) (archived bool, note string) {
	var live bool
	for _, c := range all {
		if c.Partition == workspace.Live {
			live = true
		} else {
			archived = true
		}
	}
	switch {
	case !live || !archived:
		return archived, ""
	case known && before:
		return false, "; it is live, because one side took it out of the archive"
	default:
		return true, "; it is archived, because one side archived it"
	}
}

// choose picks the directory that remains, among those in the given partition: the one that already
// has the name, or else the one that was active last, the first if several were.
func choose(
	all []*workspace.Conversation, archived bool, dirname string,
) *workspace.Conversation {
	var best *workspace.Conversation
	for _, c := range all {
		if (c.Partition == workspace.Archive) != archived {
			continue
		}
		if best == nil || preferred(c, best, dirname) {
			best = c
		}
	}
	return best
}

func preferred(a, b *workspace.Conversation, dirname string) bool {
	if named := a.Dirname == dirname; named != (b.Dirname == dirname) {
		return named
	}
	return a.Details.LastActivatedAt.After(b.Details.LastActivatedAt)
}

// An ancestry looks at a conversation in commits.
type ancestry struct {
	repo *gitint.Repo
	dir  string // the directory .jp
	id   events.ID
}

// entries returns the directories of the conversation in a commit, and the tree of the commit. What
// cannot be read has none.
func (a ancestry) entries(
	ctx context.Context, commit gitint.OID,
) ([]workspace.Entry, *gitint.Tree) {
	tree, err := a.repo.Tree(ctx, commit.String())
	if err != nil {
		return nil, nil
	}
	all, _, err := workspace.ScanOf(tree, a.dir, func(id events.ID) bool { return id == a.id })
	if err != nil {
		return nil, nil
	}
	return all, tree
}

// maxSteps bounds how many commits with two directories of the conversation are examined.
const maxSteps = 1000

// sides returns the newest commits with a single directory of the conversation on every path back
// from HEAD and from the commits being merged.
func (a ancestry) sides(ctx context.Context) []gitint.OID {
	var next, sides []gitint.OID
	for _, rev := range []string{"HEAD", "MERGE_HEAD"} {
		if id, err := a.repo.Resolve(ctx, rev); err == nil {
			next = append(next, id)
		}
	}
	seen := make(map[gitint.OID]bool)
	for steps := 0; len(next) > 0 && steps < maxSteps; steps++ {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		switch entries, _ := a.entries(ctx, id); len(entries) {
		case 0:
		case 1:
			sides = append(sides, id)
		default:
			parents, err := a.repo.Parents(ctx, id)
			if err != nil {
				return nil
			}
			next = append(next, parents...)
		}
	}
	return sides
}
