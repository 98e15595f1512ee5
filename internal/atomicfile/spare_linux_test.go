package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A grower replaces the file x by what it has and a line more.
type grower struct {
	t       *testing.T
	root    *os.Root
	dir     string
	content string
	lines   int
	opts    Options
	made    int // temporaries
}

// newGrower returns one that has a spare; the test is skipped where the system keeps none.
func newGrower(t *testing.T) *grower {
	t.Helper()
	root, dir := openRoot(t)
	g := &grower{t: t, root: root, dir: dir, content: strings.Repeat("begins ", 3000)}
	writeFile(t, filepath.Join(dir, "x"), g.content)
	g.opts = Options{TempDir: tmp, Spare: &Spare{}, Hook: func(s Step, _ string) error {
		if s == StepCreate {
			g.made++
		}
		return nil
	}}
	g.grow()
	if g.opts.Spare.root != nil {
		t.Error("a file of another program is the spare")
	}
	g.grow()
	if g.opts.Spare.root == nil {
		t.Skip("this file system keeps no spare")
	}
	t.Cleanup(func() {
		g.opts.Spare.Remove()
		noTemps(t, root)
	})
	g.grow()
	return g
}

func (g *grower) replace(same int, rest string) {
	g.t.Helper()
	err := ReplaceBy(g.root, "x", Change{[]byte(g.content), same, []byte(rest)}, g.opts)
	if err != nil {
		g.t.Fatal(err)
	}
	g.content = g.content[:same] + rest
	if got := readFile(g.t, g.root, "x"); got != g.content {
		g.t.Fatalf("x ends in %q, of %d bytes", got[max(0, len(got)-30):], len(got))
	}
}

// grow replaces the last two bytes by a line and two other bytes, like a list that ends in "]\n".
func (g *grower) grow() {
	g.t.Helper()
	g.lines++
	g.replace(len(g.content)-2, fmt.Sprintf("line %d ]%d", g.lines, g.lines%10))
}

// TestSpare_isReused counts the temporaries of saves that follow each other.
func TestSpare_isReused(t *testing.T) {
	g := newGrower(t)
	g.made = 0
	for range 5 {
		g.grow()
	}
	g.replace(10_000, "shorter than the spare") // whose rest is cut off
	g.grow()
	g.replace(len(g.content), "")
	if g.made > 0 {
		t.Errorf("%d temporaries were made", g.made)
	}
	g.replace(0, strings.Repeat("all new ", 100))
	if g.made != 1 {
		t.Errorf("%d temporaries were made for a new content", g.made)
	}
	g.grow()
	g.grow()
}

// TestSpare_isNobodyElses checks that whoever has a file that was replaced keeps its content, by
// whatever means.
func TestSpare_isNobodyElses(t *testing.T) {
	keeps := map[string]func(g *grower, x string) (content func() string){
		"open": func(g *grower, x string) func() string {
			f, err := os.Open(x)
			if err != nil {
				g.t.Fatal(err)
			}
			g.t.Cleanup(func() { f.Close() })
			return func() string {
				data, err := io.ReadAll(f)
				if err != nil {
					g.t.Error(err)
				}
				return string(data)
			}
		},
		"mapped": func(g *grower, x string) func() string {
			f, err := os.Open(x)
			if err != nil {
				g.t.Fatal(err)
			}
			data, err := syscall.Mmap(int(f.Fd()), 0, len(g.content), syscall.PROT_READ,
				syscall.MAP_SHARED)
			if err := errors.Join(err, f.Close()); err != nil {
				g.t.Fatal(err)
			}
			g.t.Cleanup(func() { _ = syscall.Munmap(data) })
			return func() string { return string(data) }
		},
		"linked": func(g *grower, x string) func() string {
			if err := os.Link(x, x+".link"); err != nil {
				g.t.Fatal(err)
			}
			return func() string { return readFile(g.t, g.root, "x.link") }
		},
	}
	for name, keep := range keeps {
		t.Run(name, func(t *testing.T) {
			g := newGrower(t)
			before := g.content
			content := keep(g, filepath.Join(g.dir, "x"))
			g.made = 0
			g.grow() // x is the next spare
			g.grow()
			if content() != before {
				t.Error("the content that was kept has changed")
			}
			if g.made != 1 {
				t.Errorf("%d temporaries were made", g.made)
			}
		})
	}
}

// TestSpare_isUnseen opens the spare while it is written: the system lets nobody do that.
func TestSpare_isUnseen(t *testing.T) {
	g := newGrower(t)
	name := g.opts.Spare.name
	g.opts.Hook = before(StepSync, func() {
		f, err := g.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Errorf("opened, error %v", err)
			f.Close()
		}
	})
	g.grow()
}

// TestSpare_isAsItWas changes the spare or the file between saves.
func TestSpare_isAsItWas(t *testing.T) {
	for name, change := range map[string]func(g *grower, spare string) error{
		"gone": func(_ *grower, spare string) error { return os.Remove(spare) },
		"another file": func(g *grower, spare string) error {
			return errors.Join(os.Rename(spare, filepath.Join(g.dir, "moved")), // keeps its inode
				os.WriteFile(spare, []byte("other"), 0o644))
		},
		"longer": func(_ *grower, spare string) error {
			f, err := os.OpenFile(spare, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString("more")
			}
			return errors.Join(err, f.Close())
		},
		"another content": func(_ *grower, spare string) error {
			f, err := os.OpenFile(spare, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("other") // the new file begins with the old bytes
			}
			later := time.Now().Add(time.Second) // the clock may not have ticked
			return errors.Join(err, f.Close(), os.Chtimes(spare, later, later))
		},
		"another mode": func(g *grower, _ string) error {
			return os.Chmod(filepath.Join(g.dir, "x"), 0o640)
		},
		"private": func(g *grower, _ string) error {
			g.opts.Private = true
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrower(t)
			x, spare := filepath.Join(g.dir, "x"), filepath.Join(g.dir, g.opts.Spare.name)
			if err := change(g, spare); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(x)
			if err != nil {
				t.Fatal(err)
			}
			want := before.Mode()
			if g.opts.Private {
				want = privatePerm
			}
			for range 3 {
				g.grow()
				if now, err := os.Stat(x); err != nil || now.Mode() != want {
					t.Errorf("mode %v, error %v", now.Mode(), err)
				}
			}
			if name == "another file" { // which is not ours to remove
				if data, err := os.ReadFile(spare); string(data) != "other" {
					t.Errorf("%d bytes, error %v", len(data), err)
				}
				_ = os.Remove(spare)
			}
		})
	}
}

// TestSpare_isSynced checks that a file is no spare before its name belongs to the new one, also
// after a power failure, and that nothing is left after a failure at any step.
func TestSpare_isSynced(t *testing.T) {
	for n := 1; ; n++ {
		g := newGrower(t)
		hook := journal{failAt: n, err: syscall.EIO}
		opts := g.opts
		opts.Hook = hook.hook
		err := ReplaceBy(g.root, "x", Change{[]byte(g.content), 10, []byte("new")}, opts)
		if g.opts.Spare.root != nil && err != nil {
			t.Errorf("step %d: there is a spare", n)
		}
		if opts.Spare.Remove(); err == nil {
			if n < 5 {
				t.Errorf("only the steps %q", hook.steps)
			}
			return
		}
		noTemps(t, g.root)
	}
}

// TestSpare_needsDurableNames checks that a replaced file is no spare where a power failure could
// give it its name back: without syncs, and on a file system that is not known to keep them.
func TestSpare_needsDurableNames(t *testing.T) {
	g := newGrower(t)
	g.opts.NoSync = true
	for range 2 {
		if g.grow(); g.opts.Spare.root != nil {
			t.Error("there is a spare without syncs")
		}
	}
	unknown, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	defer unknown.Close()
	info, err := unknown.Stat()
	if err != nil {
		t.Fatal(err)
	}
	w := writer{root: g.root, opts: Options{TempDir: tmp, Spare: &Spare{made: info}}}
	r := &temp{w: w, name: "x", target: "x", replaced: unknown}
	if r.retain(1) {
		t.Error("there is a spare on a file system without files")
	}
}
