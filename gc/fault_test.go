//go:build !windows

package gc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/quarantine"
)

// The test binary is its own child process: with faultEnv set it does one job in a repository, and
// dies at a step of it.
const faultEnv = "GC_FAULT" // "<job> <step> <directory>"

func TestMain(m *testing.M) {
	if job := os.Getenv(faultEnv); job != "" {
		os.Exit(faultChild(strings.SplitN(job, " ", 3)))
	}
	os.Exit(m.Run())
}

// childTB lets a process that is no test use the fixture.
type childTB struct{ testing.TB }

func (c *childTB) Helper()                  {}
func (c *childTB) Fatal(args ...any)        { fmt.Fprintln(os.Stderr, args...); os.Exit(4) }
func (c *childTB) Context() context.Context { return context.Background() }
func (c *childTB) Cleanup(func())           {}

func faultChild(args []string) int {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return 3
	}
	f := fixtureAt(&childTB{}, args[2])
	if do, ok := processes[args[0]]; ok {
		nanos, err := strconv.ParseInt(os.Getenv("GC_UNTIL"), 10, 64)
		if err == nil {
			err = do(f, n, time.Unix(0, nanos))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	f.hook = failAt(n, func() error {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}, nil)
	if err := faultJobs[args[0]](f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// failAt calls f at step n, and counts all steps.
func failAt(n int, f func() error, count *int) func(gc.Step, string) error {
	met := 0
	return func(gc.Step, string) error {
		met++
		if count != nil {
			*count = met
		}
		if met == n {
			return f()
		}
		return nil
	}
}

// faultJobs are the jobs to interrupt. Each can be repeated.
var faultJobs = map[string]func(f *fixture) error{
	"sweep": func(f *fixture) error {
		_, err := f.collect()
		return err
	},
	"undo": func(f *fixture) error {
		_, err := gc.Undo(f.tb.Context(), f.options(), "")
		if errors.Is(err, gc.ErrNoRun) {
			return nil
		}
		return err
	},
	"collect-all": (*fixture).collectAll,
	"recover": func(f *fixture) error {
		_, err := gc.Recover(f.tb.Context(), f.options())
		return err
	},
}

// A faultWorld is a repository with everything that a sweep can do.
type faultWorld struct {
	kept, dead []blobs.Hash
}

func makeFaultWorld(f *fixture, job string) faultWorld {
	f.tb.Helper()
	var w faultWorld
	blob := func(name string) blobs.Hash { return f.blob(name) }
	w.kept = append(w.kept, blob("here"), blob("there"), blob("past"))
	f.converse(conversation, w.kept[0])
	f.Run("branch", "other", f.commit(w.kept[1]))
	f.Run("tag", "v1", f.commit(w.kept[2]))
	expired := blob("expired")
	if _, err := f.collect(); err != nil {
		f.tb.Fatal(err)
	}
	f.age()
	w.dead = append(w.dead, expired, blob("dead 1"), blob("dead 2"), blob("tracked"))
	f.Run("add", "--force", ".jp/blobs/"+w.dead[3].Path())
	f.Run("commit", "-q", "-m", "x")
	f.WriteFile(".jp/blobs/.tmp/left.blob.gz.1.0", "x")
	if err := os.Chtimes(f.Path(".jp/blobs/.tmp/left.blob.gz.1.0"), old, old); err != nil {
		f.tb.Fatal(err)
	}
	f.quarantined()
	switch job {
	case "undo":
		if _, err := f.collect(); err != nil {
			f.tb.Fatal(err)
		}
	case "recover":
		// A run that was killed when it had moved everything but the last.
		moves := f.stepsOf("sweep", gc.StepMove)
		err := child(f, "sweep", moves[len(moves)-1])
		if err == nil {
			f.tb.Fatal("it was not killed")
		}
	}
	return w
}

// quarantined adds data that another command quarantined long enough ago.
func (f *fixture) quarantined() {
	f.tb.Helper()
	k := quarantine.Keeper{
		Quarantine: quarantine.Quarantine{Dir: f.Path(".git/jp/trash"), Root: f.Dir},
		Now:        func() time.Time { return old },
	}
	if err := k.Keep(conversation+"/notes.txt", []byte("x")); err != nil {
		f.tb.Fatal(err)
	}
}

// stepsOf returns the numbers of the steps of a kind in a job, run in a copy.
func (f *fixture) stepsOf(job string, kind gc.Step) []int {
	f.tb.Helper()
	c := f.copy()
	var at []int
	met := 0
	c.hook = func(s gc.Step, _ string) error {
		met++
		if s == kind {
			at = append(at, met)
		}
		return nil
	}
	if err := faultJobs[job](c); err != nil {
		f.tb.Fatal(err)
	}
	return at
}

// copy copies the repository, including times.
func (f *fixture) copy() *fixture {
	f.tb.Helper()
	to := filepath.Join(f.tb.TempDir(), "repo")
	if out, err := exec.Command("cp", "-a", f.Dir, to).CombinedOutput(); err != nil {
		f.tb.Fatalf("%v: %s", err, out)
	}
	return fixtureAt(f.tb, to)
}

func child(f *fixture, job string, step int) error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", faultEnv, job, step, f.Dir))
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		f.tb.Fatalf("%s, step %d: %v\n%s", job, step, err, out)
	}
	return err
}

// sound checks what must hold after any interruption: wanted content is in its place, or restored
// by the next command; dead content is in its place, in the trash, or, if its time was up, deleted.
func (f *fixture) sound(w faultWorld, what string) {
	f.tb.Helper()
	trashed, err := filepath.Glob(f.Path(".git/jp/trash/*/files/*"))
	if err != nil {
		f.tb.Fatal(err)
	}
	for _, h := range w.kept {
		if !f.has(h) {
			f.tb.Errorf("%s: %s, which is wanted, is not in its place", what, h)
		}
	}
	for _, h := range w.dead[1:] {
		inTrash := slices.ContainsFunc(trashed, func(name string) bool {
			return filepath.Base(name) == h.String()
		})
		if !f.has(h) && !inTrash {
			f.tb.Errorf("%s: %s is neither in its place nor in the trash", what, h)
		}
	}
}

// done checks what must hold after the job was repeated.
func (f *fixture) done(w faultWorld, job, what string) {
	f.tb.Helper()
	f.sound(w, what)
	if job == "recover" {
		job = "sweep"
		if _, err := f.collect(); err != nil {
			f.tb.Errorf("%s: then: %v", what, err)
		}
	}
	for _, h := range w.dead[1:] {
		if f.has(h) != (job == "undo") {
			f.tb.Errorf("%s: in place is %v after the %s", what, f.has(h), job)
		}
	}
	tracked := f.Run("ls-files", "--", ".jp/blobs") != ""
	if tracked != (job == "undo") {
		f.tb.Errorf("%s: the index has %v", what, f.Run("ls-files", "--", ".jp/blobs"))
	}
	if left, err := filepath.Glob(f.Path(".git/jp/trash/*repair-*")); err != nil || len(left) > 0 {
		f.tb.Errorf("%s: left aside: %v, %v", what, left, err)
	}
	if _, err := os.Stat(f.Path(".jp/blobs/.tmp/gc.open")); err == nil {
		f.tb.Errorf("%s: the run is still open", what)
	}
}

// TestEveryStepMayFail makes each step of a sweep, an undo and a recovery fail, in three ways in
// the long run, and kills the process at each; then it repeats the job.
func TestEveryStepMayFail(t *testing.T) {
	var points atomic.Int64
	t.Cleanup(func() { t.Logf("%d points", points.Load()) })
	faults := []error{syscall.EIO}
	if os.Getenv("GIT_JP_SOAK") != "" {
		faults = append(faults, syscall.ENOSPC, syscall.EACCES)
	}
	for _, job := range []string{"sweep", "undo", "recover"} {
		f := newFixture(t)
		w := makeFaultWorld(f, job)
		count := 0
		c := f.copy()
		c.hook = failAt(-1, nil, &count)
		if err := faultJobs[job](c); err != nil {
			t.Fatal(err)
		}
		if count < 3 {
			t.Fatalf("%s has %d steps", job, count)
		}
		t.Logf("%s: %d steps", job, count)
		t.Run(job, func(t *testing.T) {
			for n := 1; n <= count; n += faultStride() {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					for _, fault := range faults {
						c := f.on(t).copy()
						c.hook = failAt(n, func() error { return fault }, nil)
						err := faultJobs[job](c)
						what := fmt.Sprintf("%s, step %d, %v: %v", job, n, fault, err)
						c.again(w, job, what)
						points.Add(1)
					}
					c := f.on(t).copy()
					if child(c, job, n) == nil {
						t.Errorf("%s, step %d: not killed", job, n)
					}
					c.again(w, job, fmt.Sprintf("%s, killed at step %d", job, n))
					points.Add(1)
				})
			}
		})
	}
}

// faultStride skips every other step in a short run.
func faultStride() int {
	if os.Getenv("GIT_JP_SOAK") != "" {
		return 1
	}
	return 2
}

// on returns the fixture for another test.
func (f *fixture) on(tb testing.TB) *fixture {
	c := *f
	c.tb = tb
	return &c
}

// again repeats a job, after which everything must be as without the interruption.
func (f *fixture) again(w faultWorld, job, what string) {
	f.tb.Helper()
	f.hook = nil
	if _, err := gc.Recover(f.tb.Context(), f.options()); err != nil {
		f.tb.Errorf("%s: then recovering: %v", what, err)
	}
	f.sound(w, what)
	if err := faultJobs[job](f); err != nil {
		f.tb.Errorf("%s: then again: %v", what, err)
	}
	f.done(w, job, what)
}
