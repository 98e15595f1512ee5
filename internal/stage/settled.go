package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A conversation is settled when a stage of all conversations, or of changed ones, has found
// nothing to do for it and nothing wrong, and when that was the content of a commit. It stays
// settled for as long as git says that HEAD, index and working tree have that content: by size,
// time and inode, as git does for its own commands. So a second stage costs only what has changed
// since.

// A settledHead has the two trees of a workspace in HEAD.
type settledHead struct {
	conversations, blobs gitint.OID
}

// maxUnsettled limits the conversations that are looked at each time.
const maxUnsettled = 1000

// readHead returns nil unless HEAD has both.
func (s *survey) readHead(ctx context.Context) *settledHead {
	tree, err := s.req.Repo.Tree(ctx, "HEAD")
	if err != nil {
		return nil
	}
	children, err := tree.Children(s.req.Dir)
	if err != nil {
		return nil
	}
	h := new(settledHead)
	for _, e := range children {
		switch {
		case e.Mode != gitint.ModeDir:
		case path.Base(e.Path) == workspace.ConversationsDir:
			h.conversations = e.OID
		case path.Base(e.Path) == blobs.Dir:
			h.blobs = e.OID
		}
	}
	if h.conversations.IsZero() || h.blobs.IsZero() {
		return nil
	}
	return h
}

// notInHead returns a function that reports which conversations HEAD lacks, as far as that is
// known: they are looked at whatever git says about them.
func (s *survey) notInHead(ctx context.Context) func(events.ID) bool {
	none := func(events.ID) bool { return false }
	tree, err := s.req.Repo.Tree(ctx, "HEAD")
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return func(events.ID) bool { return true } // there is no commit yet
	}
	if err != nil {
		return none
	}
	has := map[events.ID]bool{}
	for _, p := range []workspace.Partition{workspace.Live, workspace.Archive} {
		children, err := tree.Children(path.Join(s.req.Dir, p.Dir()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return none
		}
		for _, e := range children {
			if id, ok := events.ParseDirname(path.Base(e.Path)); ok {
				has[id] = true
			}
		}
	}
	return func(id events.ID) bool { return !has[id] }
}

// where names what a request looks for.
func (s *survey) where() string {
	how := ""
	if len(s.left) > 0 {
		how = " lazy" // content that is not here was not read
	}
	return fmt.Sprint("stage ", s.req.Select, how, " ", s.req.MaxBlobBytes, " ", s.req.Dir)
}

// unsettled returns the conversations that have to be looked at, nil for all.
func (s *survey) unsettled(
	ctx context.Context, work []gitint.WorkPath,
) (map[events.ID]bool, error) {
	if s.head == nil {
		return nil, nil
	}
	was, ok := s.cache.Settled(s.where())
	if !ok {
		return nil, nil
	}
	only := map[events.ID]bool{}
	for _, text := range was.Except {
		if id, err := events.ParseID(text); err == nil {
			only[id] = true
		}
	}
	if grown, err := s.since(ctx, was, only); err != nil || !grown {
		return nil, ctx.Err() // content that is no longer here is looked at
	}
	for _, p := range s.staged {
		if !s.passes(p.Path, p.Status == 'A', only) {
			return nil, nil
		}
	}
	for _, p := range work {
		if !s.passes(p.Path, p.State == gitint.Untracked || p.State == gitint.IgnoredNew, only) {
			return nil, nil
		}
	}
	return only, nil
}

// passes adds the conversation of a path that differs to those to be looked at. It is false for a
// blob that is not just new: any conversation may refer to it.
func (s *survey) passes(name string, added bool, only map[events.ID]bool) bool {
	if id, ok := workspace.PathIDIn(s.req.Dir, name); ok {
		only[id] = true
		return true
	}
	return added || !strings.HasPrefix(name, path.Join(s.req.Dir, blobs.Dir)+"/")
}

// since adds the conversations that differ from the settled state. It is false if a blob changed.
func (s *survey) since(
	ctx context.Context, was refs.Settled, only map[events.ID]bool,
) (bool, error) {
	archive := func(name string) bool { return strings.HasPrefix(name, ".") }
	differs := func(was, is gitint.Entry) {
		if id, ok := events.ParseDirname(max(was.Path, is.Path)); ok {
			only[id] = true
		}
	}
	err := s.differ(ctx, was.Conversations, s.head.conversations, archive, differs)
	if err != nil {
		return false, err
	}
	stayed, all := true, func(string) bool { return true }
	err = s.differ(ctx, was.Blobs, s.head.blobs, all, func(was, _ gitint.Entry) {
		stayed = stayed && was.Mode == 0
	})
	return stayed, err
}

// differ calls f for each difference between two trees, and in the directories that enter accepts.
func (s *survey) differ(
	ctx context.Context, was, is gitint.OID, enter func(name string) bool,
	f func(was, is gitint.Entry),
) error {
	if was == is {
		return nil
	}
	isDir := func(e gitint.Entry) bool { return e.Mode == gitint.ModeDir || e.Mode == 0 }
	var below [][2]gitint.OID
	err := s.req.Repo.DiffTrees(ctx, was, is, func(was, is gitint.Entry) {
		if isDir(was) && isDir(is) && enter(max(was.Path, is.Path)) {
			below = append(below, [2]gitint.OID{was.OID, is.OID})
		} else {
			f(was, is)
		}
	})
	for _, pair := range below {
		err = errors.Join(err, s.differ(ctx, pair[0], pair[1], enter, f))
	}
	return err
}

// isHidden reports whether the working tree has a file at which git does not look, so that it may
// differ whatever git says, or lacks one that it should have.
func (s *survey) isHidden() bool {
	return slices.ContainsFunc(s.index.Pinned(), s.there.has) ||
		slices.ContainsFunc(s.index.Assumed(), func(name string) bool { return !s.there.has(name) })
}

// A presence reports which files a working tree has. It caches the last missing directory, so that
// with sorted paths those in it cost nothing.
type presence struct {
	fsys fs.FS
	gone string
}

func (p *presence) has(name string) bool {
	if p.gone != "" && strings.HasPrefix(name, p.gone+"/") {
		return false
	}
	is := func(name string) bool {
		_, err := fs.Lstat(p.fsys, name)
		return err == nil
	}
	if is(name) {
		return true
	}
	for dir := path.Dir(name); dir != "." && !is(dir); dir = path.Dir(dir) {
		p.gone = dir
	}
	return false
}

// settle records the settled state: all conversations, except those that were looked at and have
// findings, or whose files in HEAD differ from what was read. object returns the object of a blob
// that was read.
func (s *survey) settle(
	ctx context.Context, looked []*closure, found map[string]bool,
	object func(name string) (gitint.OID, bool),
) {
	tree, err := s.req.Repo.Tree(ctx, "HEAD")
	if now := s.readHead(ctx); err != nil || s.head == nil || now == nil || *now != *s.head {
		return
	}
	is := refs.Settled{
		Conversations: s.head.conversations,
		Blobs:         s.head.blobs,
	}
	differs, committed := s.different()
	for _, c := range looked {
		name := c.id.String()
		if differs[c.id] && !committed[c.id] && s.isNew(tree, c) {
			continue // nothing is recorded about what HEAD lacks
		}
		if differs[c.id] || c.refused || found[name] || !s.isCommitted(tree, c, object) {
			is.Except = append(is.Except, name)
		}
	}
	slices.Sort(is.Except)
	was, ok := s.cache.Settled(s.where())
	same := ok && was.Blobs == is.Blobs && was.Conversations == is.Conversations &&
		slices.Equal(was.Except, is.Except)
	if !same && len(is.Except) <= maxUnsettled {
		s.cache.Settle(s.where(), is)
	}
}

// different returns the conversations that differ between HEAD, index and working tree, and among
// them those with files in HEAD that the index lacks or has in another version.
func (s *survey) different() (differs, committed map[events.ID]bool) {
	differs, committed = map[events.ID]bool{}, map[events.ID]bool{}
	for name := range s.states {
		if id, ok := workspace.PathIDIn(s.req.Dir, name); ok {
			differs[id] = true
		}
	}
	for _, p := range s.staged {
		if id, ok := workspace.PathIDIn(s.req.Dir, p.Path); ok {
			differs[id] = true
			committed[id] = committed[id] || p.Status != 'A'
		}
	}
	return differs, committed
}

// isNew reports whether HEAD has no directory of a conversation that disk or index have.
func (s *survey) isNew(tree *gitint.Tree, c *closure) bool {
	dirs := lists.Set(lists.Map(s.dirs[c.id], func(e workspace.Entry) string { return e.Path }))
	for _, p := range s.indexed[c.id] {
		dir, _ := workspace.PathDirIn(s.req.Dir, p)
		dirs[dir] = true
	}
	for dir := range dirs {
		if _, err := tree.Children(dir); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// isCommitted reports whether HEAD has what was read of a conversation's streams and blobs.
func (s *survey) isCommitted(
	tree *gitint.Tree, c *closure, object func(name string) (gitint.OID, bool),
) bool {
	for name, read := range c.streams {
		if id, ok := tree.OID(name); !ok || id != read {
			return false
		}
	}
	return !slices.ContainsFunc(c.refs, func(at events.RefAt) bool {
		name := s.blobPath(at.Ref.Hash)
		want, found := object(name)
		id, ok := tree.OID(name)
		return !found || !ok || id != want
	})
}
