package merge

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Squash is a commit that seems to be the squash of a branch. A forge's squash does not name the
// branch, but its files can be compared. It is a guess, since a cherry-pick leaves the same files.
type Squash struct {
	Of  gitint.OID
	Ref string // name of a ref that has it
}

// Bounds of the search for branches: how many commits and refs are examined, newest first, how many
// commits of a branch, and how many files a commit may change.
const (
	maxCommits    = 1000
	maxBranches   = 100
	maxOfBranch   = 50
	maxOfSquashed = 20_000
)

// Squashes returns those of the commits that seem to be the squash of a branch which still has a
// ref, and in which both sides continued a conversation. The commits are ancestors of a tip with
// workspaces in the directories .jp given by dirs.
func Squashes(
	ctx context.Context, repo *gitint.Repo, tip gitint.OID, commits []gitint.Commit, dirs []string,
) (map[gitint.OID]Squash, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	refs, err := repo.Beside(ctx, tip, maxBranches)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	s := &squashing{
		repo: repo, tip: tip, dirs: dirs, parents: make(map[gitint.OID][]gitint.OID),
	}
	for _, ref := range refs {
		s.branches = append(s.branches, &branch{name: ref.Name, tip: ref.Peeled})
	}
	for _, c := range commits {
		s.parents[c.OID] = c.Parents
	}
	found := make(map[gitint.OID]Squash)
	for _, c := range commits[:min(len(commits), maxCommits)] {
		if len(c.Parents) != 1 {
			continue
		}
		squash, err := s.of(ctx, c)
		if err != nil {
			return nil, err
		}
		if squash.Ref != "" {
			found[c.OID] = squash
		}
	}
	return found, nil
}

// A squashing is a search in one range of commits.
type squashing struct {
	repo     *gitint.Repo
	tip      gitint.OID
	dirs     []string
	parents  map[gitint.OID][]gitint.OID // of the range
	branches []*branch
}

// A branch is a ref to commits that the tip does not have.
type branch struct {
	name string
	tip  gitint.OID
	// known reports whether base was computed: the merge base with the tip, or zero if it is
	// unclear.
	known bool
	base  gitint.OID
	// had holds the commits of the range that the branch has too.
	had map[gitint.OID]bool
}

// A change is the objects of a file in two commits in which it differs.
type change struct{ was, is gitint.OID }

// A squashed is one commit and its changes.
type squashed struct {
	commit        gitint.Commit
	before, after gitint.Snapshot
	changed       map[string]change
}

// of returns the commits that one commit squashed. The result has no ref if nothing indicates a
// squash.
func (s *squashing) of(ctx context.Context, c gitint.Commit) (Squash, error) {
	at := squashed{commit: c}
	var err error
	if at.before, err = s.repo.Tree(ctx, c.Parents[0].String()); err != nil {
		return Squash{}, err
	}
	if at.after, err = s.repo.Tree(ctx, c.OID.String()); err != nil {
		return Squash{}, err
	}
	at.changed, err = s.changes(ctx, c.Parents[0], c.OID)
	if err != nil || len(at.changed) == 0 {
		return Squash{}, err
	}
	for _, b := range s.branches {
		if squash, err := s.with(ctx, at, b); err != nil || squash.Ref != "" {
			return squash, err
		}
	}
	return Squash{}, nil
}

// with returns the commit of a branch that another commit squashed. If the commit lacks something
// of the entire branch but nothing of an earlier commit of it, it squashed that one.
func (s *squashing) with(ctx context.Context, at squashed, b *branch) (Squash, error) {
	tree, err := s.repo.Tree(ctx, b.tip.String())
	if err != nil {
		return Squash{}, err
	}
	if !at.mayHave(tree) {
		return Squash{}, nil
	}
	if same, err := s.sameConversations(at.before, tree); err != nil || same {
		return Squash{}, err
	}
	if err := s.part(ctx, b); err != nil {
		return Squash{}, err
	}
	if b.base.IsZero() || b.had[at.commit.OID] || b.had[at.commit.Parents[0]] {
		return Squash{}, nil
	}
	whole := Squash{b.tip, b.name}
	dirs, err := s.brought(ctx, at, b.base, b.tip)
	if err != nil || len(dirs) == 0 {
		return Squash{}, err
	}
	one := b.tip
	for range maxOfBranch {
		if n, err := s.lost(ctx, at, one, dirs); err != nil || n == 0 {
			return Squash{one, b.name}, err
		}
		parents, err := s.repo.Parents(ctx, one)
		if err != nil || len(parents) == 0 || parents[0] == b.base {
			return whole, err
		}
		one = parents[0]
		if before, err := s.brought(ctx, at, b.base, one); err != nil || len(before) == 0 {
			return whole, err
		}
	}
	return whole, nil
}

// part computes, once, the merge base of a branch and the tip.
func (s *squashing) part(ctx context.Context, b *branch) error {
	if b.known {
		return nil
	}
	b.known, b.had = true, make(map[gitint.OID]bool)
	bases, err := s.repo.MergeBases(ctx, b.tip, s.tip)
	if err != nil || len(bases) != 1 {
		return err
	}
	b.base = bases[0]
	for next := bases; len(next) > 0; {
		id := next[0]
		next = next[1:]
		if parents, known := s.parents[id]; !b.had[id] {
			b.had[id] = true
			if known {
				next = append(next, parents...)
			}
		}
	}
	return nil
}

// mayHave reports whether a branch has a file as the commit made it, or another version of a stream
// that the commit changed. It only compares objects.
func (at squashed) mayHave(tree gitint.Snapshot) bool {
	for name, c := range at.changed {
		theirs, ok := tree.OID(name)
		if ok && theirs != c.was && (theirs == c.is || path.Base(name) == workspace.EventsFile) {
			return true
		}
	}
	return false
}

// sameConversations reports whether two commits have identical conversations.
func (s *squashing) sameConversations(a, b gitint.Snapshot) (bool, error) {
	for _, dir := range s.dirs {
		name := path.Join(dir, conversationDirs[0])
		one, err := entryIn(a, name)
		if err != nil {
			return false, err
		}
		other, err := entryIn(b, name)
		if err != nil || one != other {
			return false, err
		}
	}
	return true, nil
}

// brought returns the workspaces in which both sides continued a conversation, if a commit has all
// files that only the branch changed, and some event or file that only the branch has.
func (s *squashing) brought(
	ctx context.Context, at squashed, base, tip gitint.OID,
) (dirs []string, err error) {
	theirs, err := s.changes(ctx, base, tip)
	if err != nil {
		return nil, err
	}
	took := false
	for name, c := range theirs {
		before, err := objectIn(at.before, name)
		if err != nil {
			return nil, err
		}
		after, err := objectIn(at.after, name)
		if err != nil {
			return nil, err
		}
		if before == c.was && after != c.is {
			return nil, nil
		}
		took = took || after == c.is && before != c.is
		if before != c.was && conversationOf(name) != 0 {
			if dir := workspaceIn(name); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) == 0 || took {
		return dirs, nil
	}
	for _, dir := range dirs {
		if took, err = s.saysOf(ctx, at, dir, tip); err != nil || took {
			return dirs, err
		}
	}
	return nil, nil
}

// saysOf reports whether a commit added an event to a conversation that a branch also has.
func (s *squashing) saysOf(
	ctx context.Context, at squashed, dir string, tip gitint.OID,
) (bool, error) {
	f := newFamily(s.repo, dir)
	var all [3]homes
	for i, c := range []gitint.OID{at.commit.Parents[0], at.commit.OID, tip} {
		var err error
		if all[i], err = f.at(ctx, c); err != nil {
			return false, err
		}
	}
	for name := range at.changed {
		id := conversationOf(name)
		if id == 0 || path.Base(name) != workspace.EventsFile || workspaceIn(name) != dir {
			continue
		}
		var said [3]said
		var err error
		for i, h := range all {
			one, readErr := h.said(id)
			said[i], err = one, errors.Join(err, readErr)
		}
		if err != nil {
			continue // unreadable, so no indication
		}
		brought := said[1].without(said[0])
		if len(said[2].lacking(brought)) < len(brought) {
			return true, nil
		}
	}
	return false, nil
}

// lost counts the elements that a commit lacks as a merge of a branch.
func (s *squashing) lost(
	ctx context.Context, at squashed, theirs gitint.OID, dirs []string,
) (n int, err error) {
	losses, err := Merge{
		Repo: s.repo, Parents: []gitint.OID{at.commit.Parents[0], theirs}, Dirs: dirs,
	}.Losses(ctx, at.after)
	for _, l := range losses {
		n += len(l.Elements)
	}
	return n, err
}

// changes lists the files that differ between two commits, or none if there are too many.
func (s *squashing) changes(
	ctx context.Context, was, is gitint.OID,
) (map[string]change, error) {
	var trees [2]gitint.OID
	for i, commit := range []gitint.OID{was, is} {
		tree, err := s.repo.Tree(ctx, commit.String())
		if err != nil {
			return nil, err
		}
		trees[i] = tree.ID()
	}
	all := make(map[string]change)
	if err := s.below(ctx, "", trees[0], trees[1], all); err != nil {
		return nil, err
	}
	if len(all) > maxOfSquashed {
		return nil, nil
	}
	return all, nil
}

func (s *squashing) below(
	ctx context.Context, prefix string, was, is gitint.OID, all map[string]change,
) (err error) {
	compare := s.repo.DiffTrees(ctx, was, is, func(a, b gitint.Entry) {
		name := prefix + max(a.Path, b.Path)
		var dirs, files change
		if a.Mode == gitint.ModeDir {
			dirs.was = a.OID
		} else {
			files.was = a.OID
		}
		if b.Mode == gitint.ModeDir {
			dirs.is = b.OID
		} else {
			files.is = b.OID
		}
		if files != (change{}) {
			all[name] = files
		}
		if dirs != (change{}) && err == nil && len(all) <= maxOfSquashed {
			err = s.below(ctx, name+"/", dirs.was, dirs.is, all)
		}
	})
	return errors.Join(err, compare)
}

// Short returns the name of the ref as people write it.
func (s Squash) Short() string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/tags/"} {
		if name, ok := strings.CutPrefix(s.Ref, prefix); ok {
			return name
		}
	}
	return s.Ref
}
