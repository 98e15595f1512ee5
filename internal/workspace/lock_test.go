package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/filelock"
)

func mustLock(t *testing.T, w *Workspace) func() error {
	t.Helper()
	unlock, err := w.Lock(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

const lockFile = "locks/jp-c17800836875.lock"

func TestLockIsExclusiveAndSigned(t *testing.T) {
	w := newWorld(t)
	w.vars["JP_SESSION"] = "my terminal"
	w.env.PID = 4711
	zone := time.FixedZone("", 7200)
	w.env.Now = func() time.Time { return time.Date(2026, 5, 29, 21, 0, 0, 5e8, zone) }
	w.env.Settings.LockWait = 0
	first, other := w.open(), w.open()
	unlock := mustLock(t, first)
	const want = `{"pid":4711,"session":"my terminal","acquired_at":"2026-05-29T19:00:00.5+00:00"}`
	if got := w.read("proj/.jp/" + lockFile); got != want {
		t.Errorf("content is %s", got)
	}
	_, err := other.Lock(t.Context(), id1)
	var held *LockedError
	if !errors.As(err, &held) || held.PID != 4711 || held.Session != "my terminal" ||
		!held.Since.Equal(w.env.Now()) || held.ID != id1 {
		t.Errorf("error is %#v", err)
	}
	if locks, err := other.Locks(); err != nil || len(locks) != 1 || locks[0].PID != 4711 {
		t.Errorf("locks are %v, %v", locks, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.path("proj/.jp/" + lockFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	w.write("proj/.jp/"+lockFile, "a leftover longer than what is written into it, "+want)
	if locks, err := other.Locks(); err != nil || len(locks) != 0 {
		t.Errorf("locks are %v, %v", locks, err)
	}
	unlock = mustLock(t, other)
	if !json.Valid([]byte(w.read("proj/.jp/" + lockFile))) {
		t.Error("the leftover was not truncated")
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestLockWaits(t *testing.T) {
	w := newWorld(t)
	w.env.Settings.LockWait = 120 * time.Millisecond
	ws := w.open()
	unlock := mustLock(t, ws)
	start := time.Now()
	var held *LockedError
	if _, err := ws.Lock(t.Context(), id1); !errors.As(err, &held) {
		t.Errorf("error is %v", err)
	}
	if took := time.Since(start); took < 100*time.Millisecond {
		t.Errorf("waited %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ws.Lock(ctx, id1); !errors.As(err, &held) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ws.env.Settings.LockWait = 10 * time.Second
	time.AfterFunc(80*time.Millisecond, func() { _ = unlock() })
	again := mustLock(t, ws)
	if err := again(); err != nil {
		t.Error(err)
	}
}

func TestLockGoesWhereJPLooks(t *testing.T) {
	w := newWorld(t)
	userLocal := w.withUserLocal()
	ws := w.open()
	unlock := mustLock(t, ws)
	if _, err := os.Stat(w.path(userLocal + "/" + lockFile)); err != nil {
		t.Error(err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	w.write("proj/.jp/"+lockFile, "")
	unlock = mustLock(t, ws)
	if got := w.read("proj/.jp/" + lockFile); got == "" {
		t.Error("the existing file was not used")
	}
	if got := w.names(userLocal + "/locks"); len(got) != 0 {
		t.Errorf("also made %v", got)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestLockOfAFileThatWasRemovedCountsNothing(t *testing.T) {
	w := newWorld(t)
	ws := w.open()
	f, err := ws.main.openLock(lockName(id1))
	if err == nil {
		_ = ws.main.root.Mkdir(LocksDir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := filelock.Try(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := os.Remove(w.path("proj/.jp/" + lockFile)); err != nil {
		t.Fatal(err)
	}
	// The name is free, although the removed file is locked.
	unlock := mustLock(t, ws)
	if same, err := ws.main.isAt(f, lockName(id1)); same || err != nil {
		t.Errorf("the removed file counts: %v, %v", same, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestLockDoesNotFollowLinks(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	w.write("proj/.jp/locks/x", "")
	for _, target := range []string{"../conversations/17800836875-first/events.json", "../new"} {
		if err := os.Symlink(target, w.path("proj/.jp/"+lockFile)); err != nil {
			t.Skip(err)
		}
		_, err := w.open().Lock(t.Context(), id1)
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error is %v", err)
		}
		if err := os.Remove(w.path("proj/.jp/" + lockFile)); err != nil {
			t.Fatal(err)
		}
	}
	made := slices.Contains(w.names("proj/.jp"), "new")
	if w.read(dir1+"/events.json") != stream("hello", "there") || made {
		t.Error("the link was followed")
	}
}

// TestLockHoldsUnderPressure locks and unlocks concurrently: the files under the name change all
// the time, and there must never be two holders.
func TestLockHoldsUnderPressure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var holders, taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		ws := w.open()
		wg.Go(func() {
			for taken.Load() < 800 {
				unlock, err := ws.tryLock(id1)
				var held *LockedError
				if errors.As(err, &held) {
					time.Sleep(50 * time.Microsecond)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				taken.Add(1)
				time.Sleep(20 * time.Microsecond) // so that a second holder would be noticed
				holders.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLockFileThatStays: what was done under a lock is done, also if its file cannot be removed.
func TestLockFileThatStays(t *testing.T) {
	w := newWorld(t)
	unlock := mustLock(t, w.open())
	if err := os.Remove(w.path("proj/.jp/" + lockFile)); err != nil {
		t.Fatal(err)
	}
	w.write("proj/.jp/"+lockFile+"/file", "a directory that is not empty")
	if err := unlock(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

// TestLockNamesItsPlace: an error says which file is in the way, not only its name below .jp.
func TestLockNamesItsPlace(t *testing.T) {
	w := newWorld(t)
	one := w.open()
	w.write("proj/.jp/locks", "a file")
	_, err := one.Lock(t.Context(), id1)
	if err == nil || !strings.Contains(err.Error(), w.path("proj/.jp/locks")) {
		t.Errorf("error is %v", err)
	}
}
