package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/recheck"
)

// A Result has the result of a sweep.
type Result struct {
	// Run names the run, for Undo; "" if nothing was moved.
	Run string
	// Moved are the items that are in the trash now.
	Moved []Item
	// Spared counts the blobs written or stamped since the plan was made, Returned those needed
	// again.
	Spared, Returned int
	// Unindexed are the paths removed from the index.
	Unindexed []string
	// Purged counts the blobs of earlier runs that were erased, Revived those moved back because
	// they are needed again.
	Purged, Revived int
	// Expired counts the removed items that other commands had quarantined.
	Expired int
	// Temporaries counts the removed leftovers.
	Temporaries int
	// Doubts has the content that only the second opinion kept.
	Doubts []Doubt
}

// Sweep executes a plan. Concurrent writers may continue: what they wrote meanwhile is kept or
// moved back. After an error, blobs in the trash are moved back, at the latest by [Recover].
func Sweep(ctx context.Context, o Options, p *Plan) (*Result, error) {
	unlock, err := o.lock(ctx, p.place)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := recoverAll(ctx, &o, p.place); err != nil {
		return nil, err
	}
	s := sweeper{o: &o, plan: p, result: &Result{}}
	if err := s.collect(ctx); err != nil {
		return s.result, err
	}
	return s.result, s.tidy(ctx)
}

type sweeper struct {
	o      *Options
	plan   *Plan
	result *Result
	run    *run
	marked *marker // the second mark
	staged string  // the conversations in the index before that
	second *recheck.Opinion
}

func (s *sweeper) collect(ctx context.Context) error {
	items, err := s.items(ctx)
	if err == nil && len(items) > 0 {
		items, err = s.undoubted(ctx, items)
	}
	if err != nil || len(items) == 0 {
		return err
	}
	if s.run, err = newRun(s.o, s.plan.place, items); err != nil {
		return fmt.Errorf("begin a run: %w", err)
	}
	if err := s.move(ctx); err != nil {
		return s.rollBack(err)
	}
	wanted, err := s.confirm(ctx)
	if err != nil {
		return s.rollBack(err)
	}
	if err := s.settle(wanted); err != nil {
		return s.rollBack(err)
	}
	return s.finish(ctx)
}

// items returns the records of the plan. A conversation locked since protects untracked blobs.
func (s *sweeper) items(ctx context.Context) ([]record, error) {
	held, err := s.o.held()
	if err != nil {
		return nil, err
	}
	entries, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	var all []record
	for _, i := range s.plan.Items {
		if held && !i.Tracked {
			s.result.Spared++
			continue
		}
		r := record{
			Hash: i.Hash, Size: i.Size, ModTime: i.ModTime, Path: i.Path, Tracked: i.Tracked,
		}
		if e, ok := entries[i.Path]; ok {
			r.Tracked, r.Object, r.Mode = true, e.OID.String(), uint32(e.Mode)
		}
		if r.Tracked && s.o.OnlyUntracked {
			s.result.Spared++
			continue
		}
		if i.Last != nil {
			r.Title, r.Commit = i.Last.Title, i.Last.Commit.String()
			r.Conversation = i.Last.Conversation.String()
		}
		all = append(all, r)
	}
	return all, nil
}

// entries returns the index entries of the items.
func (s *sweeper) entries(ctx context.Context) (map[string]gitint.Entry, error) {
	entries := make(map[string]gitint.Entry)
	if s.o.UserLocal {
		return entries, nil
	}
	x, err := s.o.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	all, err := x.Entries(".")
	for _, e := range all {
		entries[e.Path] = e
	}
	return entries, err
}

// move moves each blob that is unchanged since the plan was made.
func (s *sweeper) move(ctx context.Context) error {
	for n, i := range s.run.items {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.o.progress("move", n+1, len(s.run.items))
		info, err := s.o.blobs().Stat(i.Hash)
		fresh := err == nil && (!info.ModTime().Equal(i.ModTime) || info.Size() != i.Size ||
			!info.ModTime().Before(s.plan.started) || !info.Mode().IsRegular())
		switch {
		case errors.Is(err, fs.ErrNotExist) || fresh:
			s.result.Spared++
			continue
		case err != nil:
			return err
		}
		if err := s.run.forgetCopy(i.Hash); err != nil {
			return err
		}
		err = s.run.move(s.run.target(i.Hash), s.run.file(i.Hash))
		switch {
		case errors.Is(err, errFresh), errors.Is(err, fs.ErrNotExist):
			s.result.Spared++
		case err != nil:
			return fmt.Errorf("move blob %s: %w", i.Hash, err)
		}
	}
	return syncDirs(filepath.Join(s.run.dir, "files"))
}

// markAgain marks everything again, after the moves. It sees a stream that was written before it; a
// writer of a later stream then checks its content, finds it missing and writes it again. It
// returns the moved blobs that are wanted.
func (s *sweeper) markAgain(ctx context.Context) (map[blobs.Hash]bool, error) {
	staged, err := s.conversations(ctx)
	if err != nil {
		return nil, err
	}
	m, wanted, err := s.wanted(ctx, s.going())
	if err != nil {
		return nil, err
	}
	s.marked, s.staged = m, staged
	return wanted, nil
}

// going returns the moved blobs, and those to be erased.
func (s *sweeper) going() []blobs.Hash {
	all := lists.Map(s.run.items, func(r record) blobs.Hash { return r.Hash })
	for _, r := range s.plan.Expired {
		all = append(all, r.Dead...)
	}
	return all
}

// wanted marks everything, and returns which contents a tip or history needs.
func (s *sweeper) wanted(
	ctx context.Context, all []blobs.Hash,
) (*marker, map[blobs.Hash]bool, error) {
	o := *s.o
	o.Fetch = nil // the plan has fetched the needed objects
	m, p, err := begin(ctx, &o)
	if err != nil {
		return nil, nil, err
	}
	candidates := make(map[blobs.Hash]candidate)
	wanted := make(map[blobs.Hash]bool)
	for _, h := range all {
		if m.wants(h) {
			wanted[h] = true
		} else {
			candidates[h] = candidate{}
		}
	}
	h, err := m.askHistory(ctx, p, candidates, nil)
	if err == nil {
		err = m.present(ctx, h)()
	}
	if err == nil {
		err = m.refused()
	}
	if err != nil {
		return nil, nil, err
	}
	for n, hash := range h.references.hashes.all {
		if h.needs(n) {
			wanted[hash] = true
		}
	}
	return m, wanted, nil
}

// settle moves back what is wanted again.
func (s *sweeper) settle(wanted map[blobs.Hash]bool) error {
	for _, i := range s.run.items {
		if !wanted[i.Hash] {
			continue
		}
		s.result.Returned++
		if err := s.run.restore(i); err != nil {
			return err
		}
	}
	for n, r := range s.plan.Expired {
		s.plan.Expired[n].Dead = slices.DeleteFunc(r.Dead, func(h blobs.Hash) bool {
			if wanted[h] {
				s.plan.Expired[n].want(h)
			}
			return wanted[h]
		})
	}
	return nil
}

// rollBack moves everything back after an error or an interruption.
func (s *sweeper) rollBack(cause error) error {
	err := s.run.rollBack()
	if err != nil {
		err = fmt.Errorf("put back what was moved: %w", err)
	}
	return errors.Join(cause, err)
}

// rollBack moves every blob of a run back to its place.
func (r *run) rollBack() error {
	for _, i := range r.items {
		if err := r.restore(i); err != nil {
			return err
		}
	}
	return r.drop()
}

// finish removes tracked files from the index, and closes the run.
func (s *sweeper) finish(ctx context.Context) error {
	tracked, err := s.moved()
	if err != nil {
		return s.rollBack(err)
	}
	if len(s.result.Moved) == 0 {
		return s.run.drop()
	}
	s.result.Run = s.run.Run
	if len(tracked) == 0 || s.o.KeepIndex || s.o.Repo == nil {
		return s.run.end()
	}
	s.result.Unindexed, err = s.unindex(ctx, tracked)
	if !errors.Is(err, errIndexMoved) {
		return err
	}
	if err := s.run.settleIndex(ctx); err != nil {
		return err
	}
	untracked := func(i Item) bool { return slices.Contains(tracked, i.Path) }
	s.result.Moved = slices.DeleteFunc(s.result.Moved, untracked)
	s.result.Returned += len(tracked)
	return nil
}

// moved records what is in the trash now, and returns the paths to remove from the index.
func (s *sweeper) moved() (tracked []string, err error) {
	for _, i := range s.run.items {
		there, err := isThere(s.run.file(i.Hash))
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		s.result.Moved = append(s.result.Moved, s.item(i.Hash))
		again, err := isThere(s.run.target(i.Hash))
		if err != nil {
			return nil, err
		}
		if i.Tracked && !again {
			tracked = append(tracked, i.Path)
		}
	}
	return tracked, nil
}

func (s *sweeper) item(h blobs.Hash) Item {
	n := slices.IndexFunc(s.plan.Items, func(i Item) bool { return i.Hash == h })
	return s.plan.Items[n]
}

// errIndexMoved reports that the conversations in the index differ from those of the second mark.
var errIndexMoved = errors.New("the conversations of the index have changed")

// unindex removes the entries of blobs that exist only in the trash, and ends the run.
//
// Since the second mark git may have checked out a file that refers to one of them. Git takes the
// missing blob for a change by the user, so it does not write it, and only the entry has the
// content. So the entries are removed only if the index has the conversations that were marked; git
// cannot change it during this check.
func (s *sweeper) unindex(ctx context.Context, paths []string) ([]string, error) {
	if err := s.run.save(indexing); err != nil {
		return nil, err
	}
	if err := s.o.step(StepIndex, s.run.place.prefix); err != nil {
		return nil, err
	}
	res, err := s.o.Repo.Stage(ctx, gitint.Change{
		Remove: paths, ResolveConflicts: true,
		Verify: func(ctx context.Context, _ []gitint.Entry) error {
			now, err := s.conversations(ctx)
			if err == nil && now != s.staged {
				err = errIndexMoved
			}
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("take collected blobs out of the index: %w", err)
	}
	return res.Removed, s.run.end()
}

// conversations returns the index entries of conversations, as one text.
func (s *sweeper) conversations(ctx context.Context) (string, error) {
	if s.o.UserLocal {
		return "", nil
	}
	x, err := s.o.Repo.Index(ctx)
	if err != nil {
		return "", err
	}
	all, err := x.Entries(path.Join(path.Dir(s.plan.place.prefix), conversationsName))
	return fmt.Sprint(all, x.Stages()), err
}

// tidy removes what is not needed: directories without files, old temporaries, and expired runs
// with what other commands quarantined.
func (s *sweeper) tidy(ctx context.Context) error {
	for _, i := range s.result.Moved {
		dir := filepath.Dir(filepath.Join(s.plan.place.store, filepath.FromSlash(i.Hash.Path())))
		for range 2 {
			if s.o.step(StepRmdir, dir) != nil || os.Remove(dir) != nil {
				break // not empty
			}
			dir = filepath.Dir(dir)
		}
	}
	if err := s.removeTemporaries(); err != nil {
		return err
	}
	if s.marked == nil && len(s.plan.Expired) > 0 {
		// Nothing was moved, so nothing was marked again.
		s.run = &run{o: s.o, place: s.plan.place}
		wanted, err := s.confirm(ctx)
		if err != nil {
			return err
		}
		if err := s.settle(wanted); err != nil {
			return err
		}
	}
	if err := s.purge(); err != nil {
		return err
	}
	return s.expire()
}

func (s *sweeper) removeTemporaries() error {
	for _, at := range s.plan.Temporaries {
		if err := s.o.step(StepUnlink, at); err != nil {
			return err
		}
		if err := os.RemoveAll(at); err != nil {
			return err
		}
		s.result.Temporaries++
	}
	return nil
}

// purge ends expired runs: it moves back what is wanted again, and erases the rest.
func (s *sweeper) purge() error {
	for _, old := range s.plan.Expired {
		r, err := openRun(s.o, s.plan.place, filepath.Join(s.plan.place.trash, old.Run))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return err
		}
		for _, h := range old.Wanted {
			if err := r.restore(record{Hash: h}); err != nil {
				return err
			}
			s.result.Revived++
		}
		for _, h := range old.Dead {
			if err := s.o.remove(r.file(h)); err != nil {
				return err
			}
			s.result.Purged++
		}
		if left, err := os.ReadDir(filepath.Join(r.dir, "files")); err == nil && len(left) == 0 {
			if err := r.erase(); err != nil {
				return err
			}
		}
	}
	return nil
}
