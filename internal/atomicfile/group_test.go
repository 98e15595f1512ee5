package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestGroup(t *testing.T) {
	root, _ := openRoot(t)
	var j journal
	g := NewGroup(root, Options{TempDir: tmp, Hook: j.hook})
	for round := range 2 { // a group may be used again
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				name := fmt.Sprintf("d%d/f%d", i%7, i)
				if err := g.Add(name, fmt.Append(nil, round, i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := root.Stat("d0"); round == 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is visible before the commit: %v", err)
		}
		if err := g.Commit(); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			want := fmt.Sprint(round, i)
			if got := readFile(t, root, fmt.Sprintf("d%d/f%d", i%7, i)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	noTemps(t, root)
	syncs, dirs := 0, 0
	for _, s := range j.steps {
		if bytes.HasPrefix([]byte(s), []byte("sync ")) {
			syncs++
		}
		if bytes.HasPrefix([]byte(s), []byte("syncdir d")) {
			dirs++
		}
	}
	if syncs != 200 || dirs != 14 {
		t.Errorf("%d files and %d directories synced, want 200 and 14", syncs, dirs)
	}
}

func TestGroup_discard(t *testing.T) {
	root, _ := openRoot(t)
	g := NewGroup(root, Options{TempDir: tmp})
	for i := range 30 {
		if err := g.Add(fmt.Sprint("f", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	g.Discard()
	noTemps(t, root)
	if err := g.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("f0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a discarded file is there: %v", err)
	}
}

// TestCommitAll_syncsTheVolume checks that the volume of groups is synced once, before the first
// file is published. A group that failed publishes nothing, and does not stop the others.
func TestCommitAll_syncsTheVolume(t *testing.T) {
	root, _ := openRoot(t)
	v := openTestVolume(t, root)
	var j journal
	v.Hook = j.hook
	var groups []*Group
	for i := range 3 {
		g := NewGroup(root, Options{TempDir: tmp, Hook: j.hook, Volume: v})
		for n := range 10 {
			if err := g.Add(fmt.Sprintf("d%d/f%d", i, n), nil); err != nil {
				t.Fatal(err)
			}
		}
		groups = append(groups, g)
	}
	broken := errors.New("broken")
	groups[1].fail(broken)
	errs := CommitAll(groups)
	if errs[0] != nil || !errors.Is(errs[1], broken) || errs[2] != nil {
		t.Errorf("errors are %v; want the second one's", errs)
	}
	var order []string
	for _, s := range j.steps {
		if kind, _, _ := strings.Cut(s, " "); strings.Contains(kind, "sync") || kind == "rename" {
			order = append(order, kind)
		}
	}
	all := strings.Join(slices.Compact(order), " ")
	if all != "syncvolume rename" || len(order) != 21 {
		t.Errorf("%d steps, %s; want one sync before 20 renames", len(order), all)
	}
	if _, err := root.Stat("d1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of the group that failed there is something: %v", err)
	}
	noTemps(t, root)
}

// TestVolume_syncsWhatNoSyncHas checks that what was written before a sync needs no other, whoever
// asked for it, and that what was written or got its name after it does.
func TestVolume_syncsWhatNoSyncHas(t *testing.T) {
	root, _ := openRoot(t)
	v := openTestVolume(t, root)
	g := NewGroup(root, Options{TempDir: tmp, Volume: v})
	commit := func(want Mark, what string, between func()) {
		t.Helper()
		before := v.Mark()
		if err := g.Add(what, nil); err != nil {
			t.Fatal(err)
		}
		g.wg.Wait()
		between()
		if err := g.Commit(); err != nil {
			t.Fatal(err)
		}
		if n := v.Mark() - before; n != want {
			t.Errorf("%s: %d syncs, want %d", what, n, want)
		}
	}
	settle := func(since Mark) {
		t.Helper()
		if err := v.Settle(since); err != nil {
			t.Error(err)
		}
	}
	commit(1, "alone", func() {})
	named := v.Mark()
	commit(1, "after another settled", func() { settle(named) })
	settle(named)
	commit(2, "written after", func() {
		settle(v.Mark())
		if err := g.Add("late", nil); err != nil {
			t.Error(err)
		}
	})
}

// TestVolume_keepsFailures checks that a volume fails for good: the system tells of each failure
// once, and the caller that hears of it is not always the one whose file it was.
func TestVolume_keepsFailures(t *testing.T) {
	root, _ := openRoot(t)
	v := openTestVolume(t, root)
	broken := errors.New("broken")
	v.Hook = func(Step, string) error { return broken }
	if err := v.Settle(v.Mark()); !errors.Is(err, broken) {
		t.Error(err)
	}
	v.Hook = nil
	g := NewGroup(root, Options{TempDir: tmp, Volume: v})
	if err := errors.Join(g.Add("file", nil), g.Commit()); !errors.Is(err, broken) {
		t.Errorf("after a failure: %v", err)
	}
	noTemps(t, root)
}

func openTestVolume(t *testing.T, root *os.Root) *Volume {
	t.Helper()
	v := OpenVolume(root)
	if v == nil {
		t.Skip("files are synced one by one here")
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// TestGroup_failureAtEveryStep checks that no unsynced file is published, and that no temporary is
// left.
func TestGroup_failureAtEveryStep(t *testing.T) {
	t.Run("files", func(t *testing.T) { failGroups(t, func(*os.Root) *Volume { return nil }) })
	t.Run("volume", func(t *testing.T) {
		failGroups(t, func(root *os.Root) *Volume { return openTestVolume(t, root) })
	})
}

func failGroups(t *testing.T, volume func(*os.Root) *Volume) {
	for n := 1; ; n++ {
		root, _ := openRoot(t)
		if err := root.MkdirAll(tmp, 0o755); err != nil {
			t.Fatal(err)
		}
		j := journal{failAt: n, err: syscall.ENOSPC}
		v := volume(root)
		if v != nil {
			v.Hook = j.hook
		}
		g := NewGroup(root, Options{TempDir: tmp, Hook: j.hook, Volume: v})
		content := bytes.Repeat([]byte("x"), chunk+1)
		for _, name := range []string{"a/1", "a/2", "b"} {
			_ = g.Add(name, content) // Commit returns the error too
		}
		err := g.Commit()
		if len(j.steps) < n {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("step %d, %s: %v", n, j.steps[n-1], err)
		}
		noTemps(t, root)
		for _, name := range []string{"a/1", "a/2", "b"} {
			got, err := root.ReadFile(name)
			if err == nil && !bytes.Equal(got, content) {
				t.Errorf("step %d, %s: half of %s is visible", n, j.steps[n-1], name)
			}
		}
	}
}
