package gc

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/recheck"
)

// A Doubt is a content that the mark considers dead and to which a second opinion found a
// reference. It is kept.
type Doubt struct {
	Hash blobs.Hash
	// Found is the reference that the second opinion found.
	Found recheck.Finding
}

// String names both results.
func (d Doubt) String() string {
	return fmt.Sprintf("blob %s: the mark found no reference to it, "+
		"a second opinion found it named in %s", d.Hash, d.Found)
}

// maxDoubts limits the doubts with which a run continues. More are not a rare case: then the mark
// is wrong, and none of its results count.
const maxDoubts = 2

// undoubted asks for a second opinion before anything is moved, and returns the items that both
// consider dead. The plan may be old: a reference that a second mark also finds is no doubt.
func (s *sweeper) undoubted(ctx context.Context, items []record) ([]record, error) {
	s.second = s.secondOpinion(items)
	found, err := s.second.Referred(ctx)
	if err != nil {
		return nil, refuseOpinion(ctx, err)
	}
	var asked []blobs.Hash
	for _, i := range items {
		if _, ok := found[i.Hash]; ok {
			asked = append(asked, i.Hash)
		}
	}
	if len(asked) == 0 {
		return items, nil
	}
	_, wanted, err := s.wanted(ctx, asked)
	if err != nil {
		return nil, err
	}
	if err := s.doubt(asked, found, wanted); err != nil {
		return nil, err
	}
	s.result.Spared += len(asked) - len(s.result.Doubts)
	return slices.DeleteFunc(items, func(i record) bool {
		_, ok := found[i.Hash]
		return ok
	}), nil
}

// confirm finds out after the moves which of the moved blobs, and of those to be erased, are
// wanted. The second opinion comes before the mark: the mark also sees every stream written in time
// for the opinion, so they differ only because of a fault. If something is to be erased, the
// opinion includes history.
func (s *sweeper) confirm(ctx context.Context) (map[blobs.Hash]bool, error) {
	if s.second == nil {
		s.second = s.secondOpinion(nil)
	}
	ask := s.second.Referred
	if slices.ContainsFunc(s.plan.Expired, func(r ExpiredRun) bool { return len(r.Dead) > 0 }) {
		ask = s.second.Uncarried
	}
	found, err := ask(ctx)
	if err != nil {
		return nil, refuseOpinion(ctx, err)
	}
	wanted, err := s.markAgain(ctx)
	if err != nil {
		return nil, err
	}
	return wanted, s.doubt(s.going(), found, wanted)
}

// doubt marks as wanted what was found without being wanted, unless there are too many.
func (s *sweeper) doubt(
	all []blobs.Hash, found map[blobs.Hash]recheck.Finding, wanted map[blobs.Hash]bool,
) error {
	for _, h := range all {
		if f, ok := found[h]; ok && !wanted[h] {
			wanted[h] = true
			s.result.Doubts = append(s.result.Doubts, Doubt{h, f})
		}
	}
	if len(s.result.Doubts) <= maxDoubts {
		return nil
	}
	refused := new(RefusedError)
	for _, d := range s.result.Doubts {
		o := Obstacle{Reason: ReasonDoubt, Detail: d.String()}
		refused.Obstacles = append(refused.Obstacles, o)
	}
	return refused
}

// refuseOpinion makes an obstacle of a failed second opinion, unless ctx is done.
func refuseOpinion(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &RefusedError{[]Obstacle{{Reason: ReasonOpinion, Detail: err.Error()}}}
}

// secondOpinion begins an opinion about what would be moved and what would be erased. It is given
// the directories of the workspace and the user's data, and the copies there that the plan found;
// it finds everything else itself.
func (s *sweeper) secondOpinion(items []record) *recheck.Opinion {
	o := recheck.Options{
		Dirs:     append(slices.Clone(s.plan.userDirs), s.o.Workspace.Dir()),
		UserData: s.o.Workspace.UserData(),
	}
	if !s.o.UserLocal {
		o.Dir, o.Env = s.o.Workspace.Root(), s.o.Repo.Env()
	}
	for _, i := range items {
		o.Hashes = append(o.Hashes, i.Hash)
	}
	for _, r := range s.plan.Expired {
		o.Hashes = append(o.Hashes, r.Dead...)
	}
	return recheck.New(o)
}
