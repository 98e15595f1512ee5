//go:build !windows

package blobs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/gittest"
)

// childEnv makes the test binary run as its own child, which does one job in a store.
const childEnv = "BLOBS_TEST_CHILD" // "<job> <store> <number>"

func TestMain(m *testing.M) {
	job := strings.Fields(os.Getenv(childEnv))
	if len(job) == 0 {
		os.Exit(m.Run())
	}
	if err := child(job); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(args []string) error {
	s, err := Open(args[1], Options{Now: time.Now})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	switch args[0] {
	case "write":
		s.hook = dieAt(n)
		_, err = s.Write(crashContent)
		return err
	case "batch":
		s.hook = dieAt(n)
		b := s.NewBatch()
		_, err1 := b.Write(crashContent)
		_, err2 := b.Write(hello)
		return errors.Join(err1, err2, b.Commit())
	case "writer":
		return writeMany(s, uint64(n))
	case "damager":
		return damageMany(s, time.Duration(n)*time.Millisecond)
	}
	return errors.New("no such job")
}

// dieAt returns a hook that kills the process, without any cleanup, before step n.
func dieAt(n int) func(atomicfile.Step, string) error {
	var met atomic.Int64 // steps of a group overlap
	return func(atomicfile.Step, string) error {
		if met.Add(1) == int64(n) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
}

func command(job, dir string, n int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", childEnv, job, dir, n))
	cmd.Stderr = os.Stderr
	return cmd
}

// killed runs a child and reports whether it killed itself.
func killed(t *testing.T, job, dir string, n int) bool {
	t.Helper()
	return gittest.WasKilled(t, command(job, dir, n))
}

var crashContent = random(2<<20 + 1) // several chunks, also when compressed

func TestCrashAtEveryStep(t *testing.T) {
	for _, job := range []string{"write", "batch"} {
		for _, start := range []string{"nothing", "damage"} {
			t.Run(job+" over "+start, func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					s := newStore(t, withClock())
					ref := RefTo(crashContent)
					if start == "damage" {
						damaged := s.file(ref.Hash)
						if err := os.MkdirAll(filepath.Dir(damaged), 0o755); err != nil {
							t.Fatal(err)
						}
						plant([]byte("damage"))(t, damaged)
					}
					died := killed(t, job, s.dir, n)
					checkAfterCrash(t, s, ref, n, start == "damage")
					if !died {
						t.Logf("%d points", n-1)
						if n < 8 {
							t.Errorf("only %d steps", n-1)
						}
						return
					}
				}
			})
		}
	}
}

// checkAfterCrash checks that the store holds the previous or the complete blob and nothing else
// under a blob's name, and that writing again succeeds.
func checkAfterCrash(t *testing.T, s *Store, ref Ref, step int, damaged bool) {
	t.Helper()
	_, err := s.Read(ref)
	var corrupt *CorruptError
	if err != nil && (damaged && !errors.As(err, &corrupt) ||
		!damaged && !errors.Is(err, fs.ErrNotExist)) {
		t.Errorf("step %d: %v", step, err)
	}
	if _, err := s.Read(RefTo(hello)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("step %d, second blob: %v", step, err)
	}
	for _, err := range s.All() {
		if err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	mustWrite(t, s, crashContent)
	if err := s.Verify(ref); err != nil {
		t.Errorf("step %d, written again: %v", step, err)
	}
}

// sharedContent returns a content that all processes write; a few are large.
func sharedContent(i int) []byte {
	size := 20 * i
	if i%20 == 0 {
		size = 100_000 + i
	}
	return bytes.Repeat(fmt.Appendf(nil, "%d ", i), 1+size/3)
}

const shared = 60

// writeMany writes contents in random order, alone and in batches. Content that it reads in between
// may be missing or damaged, but never wrong.
func writeMany(s *Store, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 1))
	b := s.NewBatch()
	defer b.Discard()
	for range 3 {
		for _, i := range r.Perm(shared) {
			content := sharedContent(i)
			write := s.Write
			if r.IntN(2) == 0 {
				write = b.Write
			}
			ref, err := write(content)
			if err != nil {
				return err
			}
			got, err := s.Read(ref)
			if err == nil && !bytes.Equal(got, content) {
				return fmt.Errorf("content %d: wrong bytes", i)
			}
			var corrupt *CorruptError
			var pointer *PointerError
			if err != nil && !errors.As(err, &corrupt) && !errors.As(err, &pointer) &&
				!errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := b.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// damageMany truncates, empties, overwrites and removes blob files, and removes empty directories,
// as garbage collection never would.
func damageMany(s *Store, d time.Duration) error {
	r := rand.New(rand.NewPCG(7, 7))
	for end := time.Now().Add(d); time.Now().Before(end); {
		file := s.file(RefTo(sharedContent(r.IntN(shared))).Hash)
		var err error
		switch r.IntN(4) {
		case 0:
			err = os.Truncate(file, r.Int64N(30))
		case 1:
			err = overwrite(file)
		case 2:
			err = os.Remove(file)
		case 3:
			_ = os.Remove(file)
			_ = os.Remove(filepath.Dir(file))
			_ = os.Remove(filepath.Dir(filepath.Dir(file)))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func overwrite(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("version https"), 0)
	return errors.Join(err, f.Close())
}

func TestManyProcesses(t *testing.T) {
	const writers, damage = 4, 1500
	s := newStore(t, withClock())
	cmds := []*exec.Cmd{command("damager", s.dir, damage)}
	for i := range writers {
		cmds = append(cmds, command("writer", s.dir, i))
	}
	for _, cmd := range cmds {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	noTemps(t, s)
	// Now no process damages files: writing each content once repairs everything.
	for i := range shared {
		content := sharedContent(i)
		ref := mustWrite(t, s, content)
		if got, err := s.Read(ref); err != nil || !bytes.Equal(got, content) {
			t.Errorf("content %d: %v", i, err)
		}
	}
	n := 0
	for h, err := range s.All() {
		if n++; err != nil {
			t.Errorf("%v: %v", h, err)
		}
	}
	if n != shared {
		t.Errorf("%d blobs, want %d", n, shared)
	}
}
