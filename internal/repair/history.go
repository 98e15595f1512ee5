package repair

import (
	"context"
	"errors"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errEnough ends a walk that has a candidate for everything.
var errEnough = errors.New("enough")

// history searches everything that any ref, reflog, stash or operation can reach. Usually it has
// all content intact, so the walk ends once there is one candidate for each hash. If a candidate is
// damaged, elsewhere finds another version.
func (s *search) history(ctx context.Context) error {
	return s.walkBlobs(ctx, []string{path.Join(s.own, blobs.Dir)}, true)
}

// elsewhere searches all of history in any directory: a workspace may have been moved, and another
// one may have the same content. It takes the longest.
func (s *search) elsewhere(ctx context.Context) error { return s.walkBlobs(ctx, nil, false) }

func (s *search) walkBlobs(ctx context.Context, dirs []string, hasty bool) error {
	open := make(map[blobs.Hash]bool, len(s.lost))
	for h := range s.lost {
		open[h] = true
	}
	return s.walk(ctx, dirs, func(p gitint.Passing) error {
		h, ok := s.hashOf(p.Path)
		if !ok || s.tried[p.OID] {
			return nil
		}
		s.add(Find{
			Ref: blobs.Ref{Hash: h}, Place: PlaceCommit, Where: p.Path, Commit: p.Commit,
			object: p.OID,
		})
		if delete(open, h); hasty && len(open) == 0 {
			return errEnough
		}
		return nil
	})
}

// versions searches every version of the conversations in history and in the index.
func (s *search) versions(ctx context.Context) error {
	if s.Repo == nil {
		return nil
	}
	add := func(name string, id, commit gitint.OID) {
		if s.isVersion(name) && !s.tried[id] {
			s.add(Find{Place: PlaceStream, Where: name, Commit: commit, object: id})
		}
	}
	dir := path.Join(s.own, "conversations")
	if x, err := s.Repo.Index(ctx); err == nil {
		entries, err := x.Entries(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			add(e.Path, e.OID, gitint.OID{})
		}
		for _, e := range x.Stages() {
			add(e.Path, e.OID, gitint.OID{})
		}
	}
	return s.walk(ctx, []string{dir}, func(p gitint.Passing) error {
		add(p.Path, p.OID, p.Commit)
		return nil
	})
}

// isVersion reports whether a path is that of the stream of a conversation with lost content.
func (s *search) isVersion(name string) bool {
	if path.Base(name) != workspace.EventsFile {
		return false
	}
	id, ok := events.ParseDirname(path.Base(path.Dir(name)))
	return ok && s.wanted(id)
}

func (s *search) walk(
	ctx context.Context, dirs []string, f func(gitint.Passing) error,
) error {
	if s.Repo == nil {
		return nil
	}
	from, err := startingPoints(ctx, s.Repo)
	if err != nil {
		return err
	}
	err = s.Repo.ObjectsBelow(ctx, from, dirs, f)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// startingPoints returns the objects from which everything can be reached, without duplicates. It
// leaves out those that git has pruned since, as for old reflog entries.
func startingPoints(ctx context.Context, repo *gitint.Repo) ([]gitint.OID, error) {
	roots, err := repo.Roots(ctx)
	if err != nil {
		return nil, err
	}
	seen := make(map[gitint.OID]bool, len(roots.Names))
	var ids []gitint.OID
	for _, r := range roots.Names {
		if !seen[r.OID] {
			seen[r.OID] = true
			ids = append(ids, r.OID)
		}
	}
	kinds, err := repo.ObjectKinds(ctx, ids)
	if err != nil {
		return nil, err
	}
	here := ids[:0]
	for i, id := range ids {
		if kinds[i] != "" {
			here = append(here, id)
		}
	}
	return here, nil
}
