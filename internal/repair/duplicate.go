package repair

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errConflict says that a person has to decide.
var errConflict = errors.New("both changed the same turn differently")

// duplicates merges directories that share an id.
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
	var all []*workspace.Conversation
	for _, e := range entries {
		c, err := m.Workspace.Load(e)
		if err != nil || e.Legacy {
			f.Remedy = "they can be merged when each of them loads"
			return nil //nolint:nilerr // it is a fault of its own
		}
		all = append(all, c)
	}
	how := m.union(ctx, id)
	if how.waits {
		f.Command = "git jp resolve " + id.String()
	}
	u, err := how.of(all)
	if err != nil {
		f.Remedy = "cannot be merged: " + err.Error()
		return ctx.Err()
	}
	f.Title = all[u.keep].Title()
	f.Outcome, f.Changes, f.Command = Certain, true, ""
	f.Remedy = fmt.Sprintf("merge %d directories into %s", len(all), u.target(all).Path) + u.note
	unite := func(all []*workspace.Conversation) (workspace.Union, error) {
		u, err := how.of(all)
		if err != nil {
			return workspace.Union{}, err
		}
		u.apply(all[u.keep])
		return workspace.Union{Keep: u.keep, Aside: m.plan.aside.keepAll}, nil
	}
	f.mend = func(ctx context.Context) error {
		_, err := m.Workspace.Unite(ctx, id, unite)
		return err
	}
	return nil
}

func quoted(a, b string) string { return check.ShellQuote(a) + " " + check.ShellQuote(b) }

// A unified is what several directories say together.
type unified struct {
	keep       int // the directory that stays
	details    *events.Details
	stream     *events.Stream
	baseConfig []byte
	note       string // of where it stays, for people
}

func (u *unified) apply(c *workspace.Conversation) {
	c.Details, c.Stream, c.BaseConfig = u.details, u.stream, u.baseConfig
	// What dangled in one of them dangles in the union.
	c.AllowDangling = true
}

// target is the entry that stays, under the name that it gets.
func (u *unified) target(all []*workspace.Conversation) workspace.Entry {
	e := all[u.keep].Entry
	e.Dirname = dirnameOf(u.details, e.ID)
	e.Path = path.Join(path.Dir(e.Path), e.Dirname)
	return e
}

func dirnameOf(d *events.Details, id events.ID) string {
	title := ""
	if d.Title != nil {
		title = *d.Title
	}
	return events.Dirname(id, title)
}

// stays reports whether the union of directories is archived: when all are, or when the
// archiving is newer than the last event of every live one.
func stays(all []*workspace.Conversation) (archived bool, note string) {
	var archiving, last time.Time
	var there, live bool
	for _, c := range all {
		if c.Partition == workspace.Live {
			live = true
			last = latest(last, lastEvent(c.Stream))
			continue
		}
		there = true
		if c.Details.ArchivedAt != nil {
			archiving = latest(archiving, *c.Details.ArchivedAt)
		}
	}
	switch {
	case !live:
		return true, ""
	case !there:
		return false, ""
	case archiving.After(last):
		return true, "; it stays archived, because it was archived after its last event"
	default:
		return false, "; it is live again, because it was continued after it was archived"
	}
}

func lastEvent(s *events.Stream) (last time.Time) {
	for _, e := range s.All() {
		last = latest(last, e.Time())
	}
	return last
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// choose picks the directory that stays, of those in the partition: the one that has the
// name already, else the one that was active last, the first of several.
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

// An ancestry looks for the commit before a conversation was in two directories.
type ancestry struct {
	repo *gitint.Repo
	dir  string // of .jp
	id   events.ID
}

// entries are the directories of the conversation in a commit.
func (a ancestry) entries(ctx context.Context, rev string) ([]workspace.Entry, *gitint.Tree) {
	t, err := a.repo.Tree(ctx, rev)
	if err != nil {
		return nil, nil
	}
	all, _, err := workspace.Scan(t, a.dir)
	if err != nil {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(e workspace.Entry) bool { return e.ID != a.id }), t
}

// maxSteps bounds how many commits are looked at that have the conversation twice.
const maxSteps = 1000

// common finds the newest commit that all sides have.
func (a ancestry) common(ctx context.Context) (gitint.OID, bool) {
	sides := a.sides(ctx)
	if len(sides) < 2 {
		return gitint.OID{}, false
	}
	var shared []gitint.OID
	for i, side := range sides {
		before, err := a.repo.Ancestors(ctx, []gitint.OID{side})
		if err != nil {
			return gitint.OID{}, false
		}
		if i == 0 {
			shared = before
			continue
		}
		has := make(map[gitint.OID]bool, len(before))
		for _, c := range before {
			has[c] = true
		}
		shared = slices.DeleteFunc(shared, func(c gitint.OID) bool { return !has[c] })
	}
	if len(shared) == 0 {
		return gitint.OID{}, false
	}
	return shared[0], true // children come first
}

// sides are the newest commits that have the conversation once, on every way back from
// HEAD and from what is being merged.
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
		switch entries, _ := a.entries(ctx, id.String()); len(entries) {
		case 0:
		case 1:
			sides = append(sides, id)
		default:
			add := func(_ int, h gitint.CommitHead) error {
				next = append(next, h.Parents...)
				return nil
			}
			if a.repo.CommitHeads(ctx, []gitint.OID{id}, add) != nil {
				return nil
			}
		}
	}
	return sides
}

// read returns what the commit has of the conversation.
func (a ancestry) read(ctx context.Context, commit gitint.OID) ancestor {
	entries, t := a.entries(ctx, commit.String())
	if len(entries) != 1 {
		return ancestor{}
	}
	c, err := workspace.Read(t, entries[0])
	if err != nil || c.Legacy {
		return ancestor{}
	}
	return ancestor{c.Details.Encode(), c.BaseConfig, c.Stream.Encode()}
}
