package gc_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/filelock"
)

// planText formats a plan, without how it was made.
func planText(p *gc.Plan) string {
	var b strings.Builder
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%s %v %v", i.Hash, i.Tracked, i.ModTime.Unix())
		if i.Last != nil {
			fmt.Fprintf(&b, " %s %s %q", i.Last.Commit, i.Last.Path, i.Last.Title)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintln(&b, p.Total, p.Wanted, p.Past, p.Young, p.Notes)
	return b.String()
}

func (f *fixture) plan() *gc.Plan {
	f.tb.Helper()
	p, err := gc.MakePlan(f.tb.Context(), f.options())
	if err != nil {
		f.tb.Fatal(err)
	}
	if f.cache != nil {
		if err := f.cache.Close(); err != nil {
			f.tb.Fatal(err)
		}
	}
	return p
}

// pastOf makes a history in which contents are referred to, carried, removed and lost.
func (f *fixture) pastOf(from, to int) {
	for i := from; i < to; i++ {
		var all []blobs.Hash
		for j := range 3 {
			all = append(all, f.blob(fmt.Sprintf("%d of %d", j, i)))
		}
		f.converse(fmt.Sprintf(".jp/conversations/178%08d-x", i), all...)
		f.Run("add", "-A", ".jp/conversations")
		if i%3 > 0 {
			f.Run("add", "-A", "--force", ".jp/blobs")
		}
		f.Run("commit", "-q", "-m", "x")
		if i%2 == 0 {
			f.Run("rm", "-rq", fmt.Sprintf(".jp/conversations/178%08d-x", i))
			f.Run("commit", "-q", "-m", "x")
		}
	}
}

// TestCachesChangeNothing compares the plan without a cache with the plans of caches that are cold,
// warm, outdated, deleted, truncated, corrupted, and of another version.
func TestCachesChangeNothing(t *testing.T) {
	f := newFixture(t)
	f.pastOf(0, 6)
	f.withCache()
	f.plan() // outdated
	f.pastOf(6, 15)
	f.Run("branch", "other", "HEAD~3")
	f.Run("tag", "v1", f.commit(f.blob("tagged")))
	f.cache = nil
	want := planText(f.plan())
	if !strings.Contains(want, "About") {
		t.Fatalf("no titles in\n%s", want)
	}
	compare := func(what string) {
		t.Helper()
		f.withCache()
		if got := planText(f.plan()); got != want {
			t.Errorf("%s:\n%swithout a cache:\n%s", what, got, want)
		}
	}
	compare("of before")
	compare("warm")
	files, err := filepath.Glob(f.Path(".git/jp/cache/*-*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("caches %v, %v", files, err)
	}
	damage := func(what string, change func(data []byte) []byte) {
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, change(data), 0o600)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		compare(what)
	}
	damage("cut short", func(d []byte) []byte { return d[:len(d)*2/3] })
	for n := range 8 {
		damage("flipped", func(d []byte) []byte {
			for at := 7 * n; at < len(d); at += 97 {
				d[at] ^= 1 << n
			}
			return d
		})
	}
	damage("of another version", func(d []byte) []byte { return append([]byte("new "), d...) })
	damage("empty", func([]byte) []byte { return nil })
	f.Remove(".git/jp/cache")
	compare("deleted")
	// A ref is deleted: what only it needed is no longer needed.
	f.Run("tag", "-d", "v1")
	f.cache = nil
	if now := planText(f.plan()); now == want {
		t.Fatal("nothing has changed")
	} else {
		want = now
	}
	compare("of more commits")
}

func TestCollectorsExcludeEachOther(t *testing.T) {
	f := newFixture(t)
	f.blob("dead")
	f.WriteFile(".git/jp/gc.lock", "")
	lock, err := os.OpenFile(f.Path(".git/jp/gc.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.Try(lock); !ok || err != nil {
		t.Fatal(ok, err)
	}
	busy := new(gc.BusyError)
	if _, err := f.collect(); !errors.As(err, &busy) {
		t.Errorf("with another one: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.collect(); err != nil {
		t.Errorf("alone: %v", err)
	}
}

// TestRecoverBesideACollectionThatEnds waits for one that is done when the lock is free.
func TestRecoverBesideACollectionThatEnds(t *testing.T) {
	f := newFixture(t)
	f.WriteFile(".git/jp/gc.lock", "")
	f.WriteFile(".jp/blobs/.tmp/gc.open", "")
	lock, err := os.OpenFile(f.Path(".git/jp/gc.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.Try(lock); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ended := make(chan error)
	o := f.options()
	go func() {
		time.Sleep(20 * time.Millisecond) // Recover has seen the open run and waits
		ended <- errors.Join(os.Remove(f.Path(".jp/blobs/.tmp/gc.open")), lock.Close())
	}()
	done, err := gc.Recover(t.Context(), o)
	if err := errors.Join(err, <-ended); err != nil || done {
		t.Errorf("recovered %v, %v", done, err)
	}
}

// TestWriterBetweenTheMarks writes a stream, and stamps a blob, while blobs are being moved.
func TestWriterBetweenTheMarks(t *testing.T) {
	f := newFixture(t)
	wanted, dead := f.blob("wanted"), f.blob("dead")
	o := f.options()
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	stamped := f.blob("stamped")
	moves := 0
	o.Hook = func(s gc.Step, path string) error {
		if s == gc.StepMove {
			if moves++; moves == 1 {
				f.converse(conversation, wanted)
			}
		}
		return nil
	}
	res, err := gc.Sweep(t.Context(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	if !f.has(wanted) || res.Returned != 1 {
		t.Errorf("what became wanted is there: %v; %d returned", f.has(wanted), res.Returned)
	}
	if f.has(dead) || !f.has(stamped) {
		t.Error("the dead one stayed, or one that was not in the plan went")
	}
	o.Hook = nil
	// The clock of a writer may be behind that of the collector.
	for _, at := range []time.Time{old.Add(time.Second), now} {
		if p, err = gc.MakePlan(t.Context(), o); err != nil || len(p.Items) != 1 {
			t.Fatal(p, err)
		}
		if err := os.Chtimes(f.store(stamped), at, at); err != nil {
			t.Fatal(err)
		}
		if res, err = gc.Sweep(t.Context(), o, p); err != nil || res.Spared != 1 || !f.has(stamped) {
			t.Errorf("a blob stamped at %s: %+v, %v", at, res, err)
		}
	}
}

// TestHeldConversation checks that untracked blobs are kept while a conversation is locked.
func TestHeldConversation(t *testing.T) {
	f := newFixture(t)
	untracked, tracked := f.blob("untracked"), f.blob("tracked")
	f.Run("add", "--force", ".jp/blobs/"+tracked.Path())
	f.Run("commit", "-q", "-m", "x")
	f.WriteFile(".jp/locks/jp-c17800000001.lock", `{"pid":1}`)
	lock, err := os.OpenFile(f.Path(".jp/locks/jp-c17800000001.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // nothing was written
	if ok, err := filelock.Try(lock); !ok || err != nil {
		t.Fatal(ok, err)
	}
	p := f.plan()
	if p.Locked != 1 || len(p.Items) != 1 || p.Items[0].Hash != tracked {
		t.Errorf("locked %d, items %v", p.Locked, p.Items)
	}
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if !f.has(untracked) || f.has(tracked) {
		t.Error("the wrong one went")
	}
}

// TestOpenRunWithoutItsPointer checks that the next collection finds an open run without its
// pointer: git clean removes ignored files.
func TestOpenRunWithoutItsPointer(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	o := f.options()
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Hook = func(s gc.Step, path string) error {
		if s == gc.Step("rename") && strings.HasSuffix(path, "run.json") && !f.has(dead) {
			return errors.New("the machine stops")
		}
		if s == gc.StepMove && strings.Contains(path, "trash") {
			return errors.New("the machine stops")
		}
		return nil
	}
	if _, err := gc.Sweep(t.Context(), o, p); err == nil || f.has(dead) {
		t.Fatalf("not interrupted: %v", err)
	}
	f.Run("clean", "-fdxq")
	o.Hook = nil
	if p, err = gc.MakePlan(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := gc.Sweep(t.Context(), o, p); err != nil || !f.has(dead) {
		t.Errorf("it did not come back: %v", err)
	}
}

// accept collects although content is missing.
func (f *fixture) accept(t *testing.T) (*gc.Result, error) {
	t.Helper()
	o := f.options()
	o.AcceptMissing = true
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return gc.Sweep(t.Context(), o, p)
}

// TestExpiredRuns checks that blobs found dead a third time are erased, and that wanted ones are
// moved back.
func TestExpiredRuns(t *testing.T) {
	f := newFixture(t)
	dead, again, past := f.blob("dead"), f.blob("again"), f.blob("past")
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	f.age()
	f.converse(conversation, again)
	f.Run("tag", "v1", f.commit(past))
	res, err := f.accept(t)
	if err != nil {
		t.Fatal(err)
	}
	if res.Purged != 1 || res.Revived != 2 || !f.has(again) || !f.has(past) || f.has(dead) {
		t.Errorf("%+v", res)
	}
	if left, _ := filepath.Glob(f.Path(".git/jp/trash/*")); len(left) > 0 {
		t.Errorf("left in the trash: %v", left)
	}
}

// TestExpiredRunsOfStoresThatAreGone checks that what was collected in a working tree that was
// removed since, or in a workspace that was moved, does not stay for ever, nor go too early.
func TestExpiredRunsOfStoresThatAreGone(t *testing.T) {
	f := newFixture(t)
	f.Run("worktree", "add", "-q", "--detach", "../gone")
	f.Run("worktree", "add", "-q", "--detach", "../stays")
	f.workspace("sub")
	gone, stays, other := f.at("../gone"), f.at("../stays"), f.at("sub")
	for i, l := range []*fixture{gone, stays, other} {
		l.blob(fmt.Sprint("dead ", i))
		if i == 0 {
			l.blob("wanted")
		}
		if i == 2 {
			l.blob("of sub")
		}
		if _, err := l.collect(); err != nil {
			t.Fatal(err)
		}
	}
	// The first was killed before it ended.
	runs, err := filepath.Glob(f.Path(".git/jp/trash/*/run.json"))
	if err != nil || len(runs) != 3 {
		t.Fatal(runs, err)
	}
	for _, name := range runs {
		name, err := filepath.Rel(f.Path(""), name)
		if err != nil {
			t.Fatal(err)
		}
		if text := f.ReadFile(name); strings.Contains(text, "worktrees/gone:") {
			f.WriteFile(name, strings.Replace(text, `"done"`, `"moving"`, 1))
		}
	}
	f.Run("worktree", "remove", "--force", "../gone")
	if err := os.Rename(f.Path("sub"), f.Path("moved")); err != nil {
		t.Fatal(err)
	}
	wanted := blobs.Sum([]byte("wanted"))
	ofSub := blobs.Sum([]byte("of sub"))
	f.converse(conversation, wanted)
	f.converse("moved/"+conversation, ofSub)
	sweep := func(purged, revived int) {
		t.Helper()
		res, err := f.accept(t)
		if err != nil || res.Purged != purged || res.Revived != revived {
			t.Errorf("%+v, %v; want %d purged, %d restored", res, err, purged, revived)
		}
	}
	sweep(0, 0)
	f.age()
	sweep(2, 1)
	if left, _ := filepath.Glob(f.Path(".git/jp/trash/*")); len(left) != 2 || !f.has(wanted) {
		t.Errorf("left in the trash: %v; wanted: %v", left, f.has(wanted))
	}
	sweep(0, 0)
	// A checkout of another branch may have removed the workspace.
	if err := os.Rename(f.Path("moved"), f.Path("sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := other.collect(); err != nil || !other.has(ofSub) {
		t.Errorf("%v; what the workspace needs is back: %v", err, other.has(ofSub))
	}
}

// TestTrashOnAnotherFileSystem checks that blobs are copied there and back.
func TestTrashOnAnotherFileSystem(t *testing.T) {
	other := otherFileSystem(t)
	f := newFixture(t)
	kept, dead := f.blob("kept"), f.blob("dead")
	f.converse(conversation, kept)
	if err := os.Symlink(other, f.Path(".git/jp")); err != nil {
		t.Fatal(err)
	}
	before := f.ReadFile(".jp/blobs/" + dead.Path())
	copies := 0
	f.hook = func(s gc.Step, _ string) error {
		if s == gc.StepCopy {
			copies++
		}
		return nil
	}
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if f.has(dead) || !f.has(kept) {
		t.Error("the wrong one went")
	}
	if _, err := gc.Undo(t.Context(), f.options(), ""); err != nil {
		t.Fatal(err)
	}
	if !f.has(dead) || f.ReadFile(".jp/blobs/"+dead.Path()) != before {
		t.Error("it did not come back as it was")
	}
	if copies != 2 {
		t.Errorf("%d copies", copies)
	}
}

// otherFileSystem returns a directory on another file system than temporary directories.
func otherFileSystem(t *testing.T) string {
	t.Helper()
	for _, top := range []string{"/dev/shm", "/var/tmp"} {
		dir, err := os.MkdirTemp(top, "gc-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(name, filepath.Join(dir, "file")); errors.Is(err, syscall.EXDEV) {
			return dir
		}
	}
	t.Skip("no other file system here")
	return ""
}

// TestLockedIndex checks that the run stays open until git releases the index. Then the blobs that
// it would have removed from the index are moved back, and the next run moves them.
func TestLockedIndex(t *testing.T) {
	f := newFixture(t)
	tracked := f.blob("tracked")
	f.Run("add", "--force", ".jp/blobs/"+tracked.Path())
	f.Run("commit", "-q", "-m", "x")
	f.hook = onceAt(gc.StepIndex, func() { f.WriteFile(".git/index.lock", "") })
	o := f.options()
	o.Repo = f.impatient()
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	locked := new(gitint.LockedError)
	if _, err := gc.Sweep(t.Context(), o, p); !errors.As(err, &locked) {
		t.Fatalf("with a locked index: %v", err)
	}
	f.Remove(".git/index.lock")
	if done, err := gc.Recover(t.Context(), o); !done || err != nil {
		t.Errorf("recovered %v, %v", done, err)
	}
	f.holdsTracked(tracked)
	if _, err := f.collect(); err != nil {
		t.Error(err)
	}
	if out := f.Run("status", "--porcelain", ".jp/blobs"); !strings.HasPrefix(out, "D  ") {
		t.Errorf("status %q", out)
	}
}

func (f *fixture) impatient() *gitint.Repo {
	f.tb.Helper()
	r, err := gitint.Open(f.tb.Context(), gitint.Options{
		Dir: f.Dir, Env: f.Env, LockTimeout: time.Millisecond,
	})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.tb.Cleanup(func() { _ = r.Close() })
	return r
}

// TestStoresOfLinkedWorkTrees checks that they share one trash and are collected separately.
func TestStoresOfLinkedWorkTrees(t *testing.T) {
	f := newFixture(t)
	f.Run("worktree", "add", "-q", "../linked")
	l := f.at("../linked")
	here, there := f.blob("here"), l.blob("there")
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if f.has(here) || !l.has(there) {
		t.Error("it collected the wrong store")
	}
	if past, err := gc.Runs(l.options()); err != nil || len(past) != 0 {
		t.Errorf("runs of the other: %v, %v", past, err)
	}
	if _, err := l.collect(); err != nil || l.has(there) {
		t.Errorf("the other: %v", err)
	}
	f.Run("worktree", "move", "../linked", "../moved")
	m := f.at("../moved")
	if _, err := gc.Undo(t.Context(), m.options(), ""); err != nil || !m.has(there) {
		t.Errorf("undo after a move: %v", err)
	}
}

// TestLeftoversInTheRepository checks that what killed processes left in the directories of state
// is removed when it is old, whatever the grace period, and nothing else there.
func TestLeftoversInTheRepository(t *testing.T) {
	f := newFixture(t)
	f.Run("worktree", "add", "-q", "--detach", "../linked")
	l := f.at("../linked")
	const linked = ".git/worktrees/linked/jp/"
	left := []string{
		".git/jp/tmp/pre-commit.17.0", ".git/jp/cache/tmp/refs-4-0.17.0",
		".git/jp/answers/.tmp/a.json.17.0", linked + "conflicts/.tmp/b.json.17.0",
		".git/jp/.tmp/paths.17.0", ".git/jp/captures/tmp/0.json.17.0",
	}
	stay := []string{
		".git/jp/cache/tmp/refs-4-1.17.0", // perhaps of a process that is still running
		".git/jp/import", linked + "checked", ".git/jp/tmp/~hook.17.0",
		// Of workspaces with such names, in a lazy clone that nothing was pushed from.
		".git/jp/spare/tmp/.jp/blobs/aa/bb/cc", linked + "spare/.tmp/.jp/blobs/aa/bb/cc",
	}
	for _, name := range append(left, stay...) {
		f.WriteFile(name, "x")
		for at := name; filepath.Base(filepath.Dir(at)) != "jp"; at = filepath.Dir(at) {
			if err := os.Chtimes(f.Path(at), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	recent := l.options().Now().Add(-time.Hour)
	if err := os.Chtimes(f.Path(stay[0]), recent, recent); err != nil {
		t.Fatal(err)
	}
	l.grace = 0 // it is meant for content
	res, err := l.collect()
	if err != nil || res.Temporaries != len(left) {
		t.Errorf("%+v, %v; want %d removed", res, err, len(left))
	}
	for _, name := range stay {
		if _, err := os.Lstat(f.Path(name)); err != nil {
			t.Error(err)
		}
	}
	if res, err := f.collect(); err != nil || res.Temporaries != 0 {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// TestUndoOfTheLastRun: the last run is that which was made last, also after the clock was set back.
func TestUndoOfTheLastRun(t *testing.T) {
	f := newFixture(t)
	var last blobs.Hash
	for i, back := range []time.Duration{0, time.Hour, time.Hour, 2 * time.Hour} {
		last = f.blob(fmt.Sprintf("dead %d", i))
		o := f.options()
		o.Now = func() time.Time { return now.Add(-back) }
		p, err := gc.MakePlan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gc.Sweep(t.Context(), o, p); err != nil || f.has(last) {
			t.Fatalf("run %d: %v, the content is there: %v", i, err, f.has(last))
		}
	}
	past, err := gc.Runs(f.options())
	if err != nil || len(past) != 4 {
		t.Fatalf("%d runs, %v", len(past), err)
	}
	res, err := gc.Undo(t.Context(), f.options(), "")
	if err != nil || !f.has(last) || !slices.Equal(res.Blobs, []blobs.Hash{last}) {
		t.Errorf("restored %v, want %v: %v", res, last, err)
	}
}
