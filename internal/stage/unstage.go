package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Unstage restores the conversations of a request in the index to HEAD's version, and removes the
// blobs that only their staged streams need. Changed means the same as All. The working tree is not
// touched. It returns the paths whose entries changed, sorted.
func Unstage(ctx context.Context, req Request) ([]string, error) {
	u := unstaging{
		req: req, cache: cmp.Or(req.Cache, &refs.Cache{}), paths: map[string]bool{},
	}
	if err := u.open(ctx); err != nil {
		return nil, fmt.Errorf("unstage: %w", err)
	}
	if err := u.collect(); err != nil {
		return nil, fmt.Errorf("unstage %w", err)
	}
	paths := slices.Sorted(maps.Keys(u.paths))
	unmerged := slices.DeleteFunc(u.index.Conflicts(), func(p string) bool {
		_, meant := slices.BinarySearch(paths, p)
		return !meant
	})
	if len(unmerged) > 0 { // without its stages it could not be resolved
		return nil, fmt.Errorf("unstage: %w", &gitint.UnmergedError{Paths: unmerged})
	}
	return req.Repo.Unstage(ctx, paths)
}

// An unstaging collects the paths to unstage.
type unstaging struct {
	req   Request
	cache *refs.Cache
	index *gitint.Index
	head  *gitint.Tree // nil when there is no commit
	paths map[string]bool
}

func (u *unstaging) open(ctx context.Context) error {
	var err error
	if u.index, err = u.req.Repo.Index(ctx); err != nil {
		return err
	}
	u.head, err = gitint.OrNone(u.req.Repo.Tree(ctx, "HEAD"))
	return err
}

func (u *unstaging) collect() error {
	wanted := map[events.ID]bool{}
	for _, id := range u.req.IDs {
		wanted[id] = false
	}
	staged := map[blobs.Hash]bool{}
	needed := map[blobs.Hash]bool{}
	err := u.each(u.index, func(id events.ID, e gitint.Entry) error {
		if _, ok := wanted[id]; u.req.Select == Named && !ok {
			return u.refer(u.index, e, needed)
		}
		wanted[id], u.paths[e.Path] = true, true
		return u.refer(u.index, e, staged)
	})
	if err == nil && u.head != nil {
		err = u.each(u.head, func(id events.ID, e gitint.Entry) error {
			if _, ok := wanted[id]; u.req.Select == Named && !ok {
				return nil
			}
			wanted[id], u.paths[e.Path] = true, true
			return u.refer(u.head, e, needed)
		})
	}
	if err != nil {
		return err
	}
	if err := u.collectBeside(wanted); err != nil {
		return err
	}
	for id, found := range wanted {
		if !found {
			return fmt.Errorf("%s: %w", id, ErrNoConversation)
		}
	}
	for h := range staged {
		if !needed[h] {
			u.paths[path.Join(u.req.Dir, blobs.Dir, h.Path())] = true
		}
	}
	return nil
}

// collectBeside adds the files beside the wanted conversations. Allowed findings, whose names have
// no conversation, are read only if index and HEAD differ.
func (u *unstaging) collectBeside(wanted map[events.ID]bool) error {
	trees := []gitint.Snapshot{u.index}
	if u.head != nil {
		trees = append(trees, u.head)
	}
	is := func(id events.ID) bool {
		_, named := wanted[id]
		return named || u.req.Select != Named
	}
	for _, name := range u.index.Conflicts() {
		below, ok := strings.CutPrefix(name, u.req.Dir+"/")
		if ok = ok && slices.Contains(leaks.BesideDirs(), path.Dir(below)); !ok {
			continue
		}
		if id, ok := leaks.BesideNamed(below); ok && is(id) {
			wanted[id], u.paths[name] = true, true
		}
	}
	for i, tree := range trees {
		beside := newBesideTree(check.Git(u.req.Repo, tree), u.req.Dir, u.req.Secrets.Memo)
		err := beside.each(func(f besideFile) {
			if _, named := leaks.BesideNamed(f.name); !named && len(trees) > 1 {
				if is, ok := trees[1-i].OID(f.path); ok && is == f.ID {
					return
				}
			}
			if id, ok := f.of(is); ok {
				wanted[id], u.paths[f.path] = true, true
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for every file of every conversation of a snapshot.
func (u *unstaging) each(snap gitint.Snapshot, f func(events.ID, gitint.Entry) error) error {
	entries, err := snap.Entries(path.Join(u.req.Dir, workspace.ConversationsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if id, ok := workspace.PathIDIn(u.req.Dir, e.Path); ok {
			if err := f(id, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// refer adds what a stream refers to, Loose references included. A file that is not a stream refers
// to nothing.
func (u *unstaging) refer(snap gitint.Snapshot, e gitint.Entry, to map[blobs.Hash]bool) error {
	if path.Base(e.Path) != workspace.EventsFile || !e.Mode.IsRegular() {
		return nil
	}
	res, err := u.cache.References(e.OID, func() ([]byte, error) {
		return snap.ReadFile(e.Path)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	for _, at := range res.Refs {
		to[at.Ref.Hash] = true
	}
	return nil
}
