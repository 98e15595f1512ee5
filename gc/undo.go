package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// ErrNoRun reports that there is no run to undo.
var ErrNoRun = errors.New("no such run in the trash")

// A Restored has the result of an undo.
type Restored struct {
	Run   string
	Blobs []blobs.Hash
	Bytes int64 // of the blobs
	// Kept stay in the trash, because something else is in their place.
	Kept []blobs.Hash
	// Indexed are the paths added to the index again.
	Indexed []string
}

// A Past is a run that can be undone.
type Past struct {
	Run     string
	Started time.Time
	Blobs   int
	Bytes   int64
}

// Runs lists the runs of the store that can be undone, oldest first.
func Runs(o Options) ([]Past, error) {
	p, err := o.place()
	if err != nil {
		return nil, err
	}
	all, err := runs(&o, p)
	if err != nil {
		return nil, err
	}
	var past []Past
	for _, r := range all {
		one := Past{Run: r.Run, Started: r.Started}
		for _, i := range r.items {
			if regular.Exists(r.file(i.Hash)) {
				one.Blobs++
				one.Bytes += i.Size
			}
		}
		if one.Blobs > 0 {
			past = append(past, one)
		}
	}
	return past, nil
}

// Undo restores the files and index entries that a run removed, by default the last run. Their
// grace period begins again.
func Undo(ctx context.Context, o Options, name string) (*Restored, error) {
	p, err := o.place()
	if err != nil {
		return nil, err
	}
	unlock, err := o.lock(ctx, p)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := recoverAll(ctx, &o, p); err != nil {
		return nil, err
	}
	all, err := runs(&o, p)
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if name == "" || all[i].Run == name {
			return all[i].undo(ctx)
		}
	}
	entries, err := os.ReadDir(p.trash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name != "" && name != e.Name() {
			continue
		}
		_, err := openRun(&o, p, filepath.Join(p.trash, e.Name()))
		if errors.Is(err, errNotRun) {
			return nil, err
		}
	}
	return nil, ErrNoRun
}

func (r *run) undo(ctx context.Context) (*Restored, error) {
	res := &Restored{Run: r.Run}
	now := r.o.Now()
	for _, i := range r.items {
		there, err := isThere(r.file(i.Hash))
		if err != nil {
			return res, err
		}
		if !there {
			continue
		}
		if err := r.stamp(i.Hash, now); err != nil {
			return res, err
		}
		if err := r.restore(i); err != nil {
			return res, err
		}
		if there, err = isThere(r.file(i.Hash)); err != nil {
			return res, err
		}
		if there {
			res.Kept = append(res.Kept, i.Hash)
			continue
		}
		res.Blobs, res.Bytes = append(res.Blobs, i.Hash), res.Bytes+i.Size
	}
	var err error
	if res.Indexed, err = r.reindex(ctx); err != nil {
		return res, err
	}
	if len(res.Kept) > 0 {
		return res, nil
	}
	return res, r.erase()
}

// reindex adds the missing entries to the index again.
func (r *run) reindex(ctx context.Context) ([]string, error) {
	c := gitint.Change{KeepExisting: true}
	for _, i := range r.items {
		id, err := gitint.ParseOID(i.Object)
		if err != nil {
			continue // the index did not have it
		}
		there, err := isThere(r.target(i.Hash))
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		missing, err := r.o.Repo.HasObject(ctx, []gitint.OID{id})
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			c.Add = append(c.Add, i.Path) // git has collected it since
			continue
		}
		c.AddObjects = append(c.AddObjects, gitint.Entry{
			Path: i.Path, Mode: gitint.Mode(i.Mode), OID: id,
		})
	}
	if len(c.Add)+len(c.AddObjects) == 0 {
		return nil, nil
	}
	if err := r.o.step(StepIndex, r.place.prefix); err != nil {
		return nil, err
	}
	res, err := r.o.Repo.Stage(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("give the index back its entries: %w", err)
	}
	return lists.Map(res.Added, func(e gitint.Entry) string { return e.Path }), nil
}

// Recover completes a killed collection: it moves its blobs back or, if it had begun to change the
// index, those that the index still has. It changes no index and needs no mark. It does nothing
// while a collection is running, and reports whether there was something to do.
func Recover(ctx context.Context, o Options) (bool, error) {
	p, err := o.place()
	if err != nil {
		return false, err
	}
	if there, err := isThere(p.pointer()); !there || err != nil {
		return false, err
	}
	unlock, err := o.lock(ctx, p)
	if _, ok := errors.AsType[*BusyError](err); ok {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	if there, err := isThere(p.pointer()); !there || err != nil {
		return false, err // it was running until now
	}
	return true, recoverAll(ctx, &o, p)
}

// recoverAll checks all runs, because the pointer to the open one may have been removed. The
// pointer to a run of another version stays, for that version, and nothing is deleted until it is
// gone.
func recoverAll(ctx context.Context, o *Options, p place) error {
	all, err := runs(o, p)
	if err != nil {
		return err
	}
	for _, r := range all {
		switch r.State {
		case moving:
			err = r.rollBack()
		case indexing:
			err = r.settleIndex(ctx)
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("finish run %s: %w", r.Run, err)
		}
	}
	if err := p.unknownRun(); err != nil {
		return err
	}
	return o.remove(p.pointer())
}

// settleIndex ends a run that was removing entries from the index, and may have done so. The
// entries are removed all at once. Since then git may have checked out a file that refers to a
// blob, without writing the blob of an existing entry. So a blob whose entry exists is moved back.
func (r *run) settleIndex(ctx context.Context) error {
	x, err := r.o.Repo.Index(ctx)
	for _, i := range r.items {
		// If the index cannot be read, everything is moved back: that is always safe.
		if err == nil && !hasEntry(x, i.Path) {
			continue
		}
		if err := r.restore(i); err != nil {
			return err
		}
	}
	return r.drop()
}

// hasEntry reports whether an index has a path, also an unmerged one.
func hasEntry(x *gitint.Index, name string) bool {
	_, ok := x.OID(name)
	return ok || slices.Contains(x.Conflicts(), name)
}

// expired returns the expired runs, with the blobs that no tip refers to. It ignores runs of other
// stores, except of those that are gone: otherwise their content would stay for ever.
func (m *marker) expired(p *Plan) ([]ExpiredRun, error) {
	all, err := runsOf(m.o, p.place, func(store string) bool {
		return store == p.place.name || m.o.isGone(p.place, store)
	})
	if err != nil {
		return nil, err
	}
	var old []ExpiredRun
	for _, r := range all {
		// Nothing completes a killed run of a store that is gone.
		if r.State != done && r.Store == p.place.name ||
			!r.Started.Before(p.started.Add(-m.o.Grace)) {
			continue
		}
		e := ExpiredRun{Run: r.Run, elsewhere: r.elsewhere()}
		for _, i := range r.items {
			there, err := isThere(r.file(i.Hash))
			if err != nil {
				return nil, err
			}
			if !there {
				continue
			}
			if m.wants(i.Hash) {
				e.want(i.Hash)
				continue
			}
			e.Dead = append(e.Dead, i.Hash)
		}
		old = append(old, e)
	}
	return old, nil
}

// sortRuns moves what history needs to the wanted blobs, and leaves out runs that have to stay.
func (h *history) sortRuns(old []ExpiredRun) []ExpiredRun {
	for n := range old {
		e := &old[n]
		dead := e.Dead
		e.Dead = nil
		for _, hash := range dead {
			if at, ok := h.references.hashes.find(hash); ok && h.needs(int(at)) {
				e.want(hash)
			} else {
				e.Dead = append(e.Dead, hash)
			}
		}
	}
	return slices.DeleteFunc(old, func(e ExpiredRun) bool {
		return e.elsewhere && len(e.Dead) == 0
	})
}
