package gitint

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/lists"
)

// Unpromised returns the entries whose objects are missing and in no remote-tracking branch: no
// remote has promised them, so they are lost. If the tips of the remotes have the entry at its
// path, only these are read, otherwise their history is listed once.
func (r *Repo) Unpromised(ctx context.Context, entries []Entry) (lost []Entry, err error) {
	ids := lists.Map(entries, func(e Entry) OID { return e.OID })
	missing, err := r.missing(ctx, ids)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	unknown := lists.Set(missing)
	if err := r.findPromised(ctx, entries, unknown); err != nil {
		return nil, fmt.Errorf("look for %d objects on branches of remotes: %w", len(missing), err)
	}
	return lists.Filter(entries, func(e Entry) bool { return unknown[e.OID] }), nil
}

// remoteRefs is the namespace of remote-tracking branches.
const remoteRefs = "refs/remotes/"

// findPromised removes from unknown what a remote has.
func (r *Repo) findPromised(ctx context.Context, entries []Entry, unknown map[OID]bool) error {
	tips, err := r.promisingTips(ctx)
	if err != nil {
		return err
	}
	for _, id := range tips {
		if len(unknown) == 0 {
			break
		}
		tip, err := r.Tree(ctx, id.String())
		if errors.Is(err, ErrUnknownRevision) {
			continue // it is not a commit
		}
		if err != nil {
			return err
		}
		if err := tip.cross(ctx, entries, unknown); err != nil {
			return err
		}
	}
	if len(unknown) == 0 || len(tips) == 0 {
		return nil
	}
	behind, err := r.behind.of(ctx, r, tips)
	for id := range unknown {
		if _, ok := slices.BinarySearchFunc(behind, id, OID.Compare); ok {
			delete(unknown, id)
		}
	}
	return err
}

// promisingTips returns the tips of the remote-tracking branches of a partial clone: what is
// reachable from them is here or promised. In every other clone it returns none.
func (r *Repo) promisingTips(ctx context.Context) (tips []OID, err error) {
	s, err := r.shape(ctx)
	if err != nil || !s.partial {
		return nil, err
	}
	refs, err := r.Refs(ctx)
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, remoteRefs) && !ref.Peeled.IsZero() &&
			!slices.Contains(tips, ref.Peeled) {
			tips = append(tips, ref.Peeled)
		}
	}
	return tips, err
}

// PromisedDirs returns a function that reports whether a remote-tracking branch has a directory as
// the tree has it, so that nothing in it is lost. It costs a look at two trees for a directory that
// differs, and nothing below one that is the same.
func (t *Tree) PromisedDirs(ctx context.Context) (func(dir string) bool, error) {
	ids, err := t.repo.promisingTips(ctx)
	var tips []*Tree
	for _, id := range ids {
		// What cannot be read promises nothing here, and may in [Repo.Unpromised].
		if tip, failed := t.repo.Tree(ctx, id.String()); failed == nil {
			tips = append(tips, tip)
		}
	}
	known := map[string]bool{}
	var has func(dir string) bool
	has = func(dir string) bool {
		same, ok := known[dir]
		if !ok {
			same = dir != "." && has(path.Dir(dir)) || t.agrees(dir, tips)
			known[dir] = same
		}
		return same
	}
	return has, err
}

// agrees reports whether one of some trees has the same directory at a path.
func (t *Tree) agrees(dir string, others []*Tree) bool {
	own, err := t.find(dir)
	return err == nil && own.Mode == ModeDir && slices.ContainsFunc(others, func(o *Tree) bool {
		other, err := o.find(dir)
		return err == nil && other.Mode == ModeDir && other.OID == own.OID
	})
}

// cross removes from unknown the entries that a tree has at their paths. It takes one step for each
// level of directories, so that trees are read together if there are many.
func (t *Tree) cross(ctx context.Context, entries []Entry, unknown map[OID]bool) error {
	type lookup struct {
		wanted OID
		rest   string // of the path, below a tree
		tree   OID
	}
	var all []lookup
	for _, e := range entries {
		if unknown[e.OID] {
			all = append(all, lookup{e.OID, e.Path, t.root})
		}
	}
	l := listing{tree: t}
	for len(all) > 0 {
		trees := lists.Map(all, func(at lookup) OID { return at.tree })
		if err := l.readMany(ctx, distinct(trees)); err != nil {
			return err
		}
		below := all[:0]
		for _, at := range all {
			part, rest, deeper := strings.Cut(at.rest, "/")
			trees, _ := l.entries(ctx, at.tree) // one that cannot be read promises nothing
			switch e, ok := object.Find(trees, part); {
			case !ok || deeper != (e.Mode == ModeDir):
			case deeper:
				below = append(below, lookup{at.wanted, rest, e.OID})
			case e.OID == at.wanted:
				delete(unknown, e.OID)
			}
		}
		all = below
	}
	return ctx.Err()
}

// A promisedHistory has the missing objects that are reachable from remote-tracking branches.
// Listing them reads all their commits, so it is cached as long as the tips are the same.
type promisedHistory struct {
	mu   sync.Mutex
	tips []OID
	ids  []OID // sorted
}

func (h *promisedHistory) of(ctx context.Context, r *Repo, tips []OID) ([]OID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tips != nil && slices.Equal(h.tips, tips) {
		return h.ids, nil
	}
	h.tips, h.ids = nil, nil
	ids, err := r.listMissing(ctx, "--remotes")
	if err == nil {
		slices.SortFunc(ids, OID.Compare)
		h.tips, h.ids = tips, ids
	}
	return ids, err
}
