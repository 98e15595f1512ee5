//go:build !windows

package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
)

// The test binary is its own child process: with crashEnv set it does one job in a directory and
// dies at a step of it.
const crashEnv = "ATOMICFILE_CRASH" // "<job> <directory> <step>"

func TestMain(m *testing.M) {
	if job := os.Getenv(crashEnv); job != "" {
		os.Exit(child(strings.Fields(job)))
	}
	os.Exit(m.Run())
}

var (
	oldContent = bytes.Repeat([]byte("old "), 500_000)
	newContent = bytes.Repeat([]byte("new "), 700_000) // three chunks

	// grown has the contents that a file with a spare has one after the other.
	grown = [][]byte{
		oldContent, slices.Concat(oldContent, newContent),
		slices.Concat(oldContent, newContent, oldContent), slices.Concat(oldContent, newContent),
	}
)

// dieAt returns a hook that kills the process before step n, without any cleanup.
func dieAt(n int) func(Step, string) error {
	var met atomic.Int64 // steps of a group overlap
	return func(Step, string) error {
		if met.Add(1) == int64(n) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
}

func child(args []string) int {
	root, err := os.OpenRoot(args[1])
	if err != nil {
		return 3
	}
	n, _ := strconv.Atoi(args[2])
	opts := Options{TempDir: tmp, Hook: dieAt(n)}
	switch args[0] {
	case "write":
		err = Write(root, "d/e/file", newContent, opts)
	case "group":
		g := NewGroup(root, opts)
		err = errors.Join(g.Add("d/e/file", newContent), g.Add("d/f", newContent), g.Commit())
	case "volume":
		if opts.Volume = OpenVolume(root); opts.Volume != nil {
			opts.Volume.Hook = opts.Hook
		}
		g := NewGroup(root, opts)
		err = errors.Join(g.Add("d/e/file", newContent), g.Add("d/f", newContent), g.Commit())
	case "spare":
		opts.Spare = &Spare{}
		opts.Spare.made, err = root.Lstat("d/e/file")
		for i, c := range grown[1:] {
			same := min(len(c), len(grown[i]))
			err = errors.Join(err, ReplaceBy(root, "d/e/file", Change{grown[i], same, c[same:]}, opts))
		}
		opts.Spare.Remove()
	case "publish":
		err = PublishDir(root, "built", "d/e/file", opts)
	case "forever":
		for err == nil {
			err = errors.Join(Write(root, "d/e/file", newContent, opts),
				Write(root, "d/e/file", oldContent, opts))
		}
	case "limit": // the kernel truncates a write, as on a full disk
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: chunk + chunk/2, Max: chunk + chunk/2}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return 4
		}
		if err := Write(root, "d/e/file", newContent, opts); errors.Is(err, syscall.EFBIG) {
			return 0
		}
		return 5
	}
	if err != nil {
		return 1
	}
	return 0
}

func childCommand(job, dir string, step int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+job+" "+dir+" "+strconv.Itoa(step))
	return cmd
}

// run reports whether the child was killed; any other failure ends the test.
func run(t *testing.T, job, dir string, step int) (killed bool) {
	t.Helper()
	return gittest.WasKilled(t, childCommand(job, dir, step))
}

// prepare creates a directory with an old file, if old, and a directory to publish.
func prepare(t *testing.T, old bool) string {
	t.Helper()
	root, dir := openRoot(t)
	if old {
		if err := root.MkdirAll("d/e", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile("d/e/file", oldContent, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.MkdirAll("built/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("built/sub/file", newContent, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// whole reports whether the file is missing, old or new, and nothing in between.
func whole(t *testing.T, path string) bool {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		return os.IsNotExist(err)
	}
	return bytes.Equal(got, newContent) ||
		slices.ContainsFunc(grown, func(c []byte) bool { return bytes.Equal(got, c) })
}

func TestCrashAtEveryStep(t *testing.T) {
	tests := []struct {
		job   string
		old   bool
		steps int // at least this many
	}{
		{"write", true, 10},
		{"write", false, 15},
		{"group", false, 20},
		{"volume", false, 16},
		{"spare", true, 25},
		{"publish", false, 8},
	}
	for _, tt := range tests {
		t.Run(tt.job, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				dir := prepare(t, tt.old)
				file := filepath.Join(dir, "d/e/file")
				killed := run(t, tt.job, dir, n)
				if tt.job == "publish" {
					_, atOld := os.Stat(filepath.Join(dir, "built/sub/file"))
					_, atNew := os.Stat(filepath.Join(file, "sub/file"))
					if (atOld == nil) == (atNew == nil) {
						t.Errorf("step %d: directory at its old name %v, at its new %v", n, atOld, atNew)
					}
				} else if !whole(t, file) || !whole(t, filepath.Join(dir, "d/f")) {
					t.Errorf("step %d: a half file is visible", n)
				}
				if tt.old && !exists(file) {
					t.Errorf("step %d: the old file is gone", n)
				}
				if tt.job == "write" && killed {
					run(t, tt.job, dir, 0) // leftovers do not block a second run
				}
				if !killed {
					t.Logf("%d points", n-1)
					if n <= tt.steps {
						t.Errorf("only %d steps", n-1)
					}
					return
				}
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestCrashAtAnyMoment kills the child at any moment, also within a system call.
func TestCrashAtAnyMoment(t *testing.T) {
	dir := prepare(t, true)
	for i := range 25 {
		cmd := childCommand("forever", dir, 0)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+i*7%40) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if file := filepath.Join(dir, "d/e/file"); !whole(t, file) || !exists(file) {
			t.Fatalf("round %d: the file is neither old nor new", i)
		}
	}
}

func TestWrite_shortWrite(t *testing.T) {
	dir := prepare(t, true)
	run(t, "limit", dir, 0)
	got, err := os.ReadFile(filepath.Join(dir, "d/e/file"))
	if err != nil || !bytes.Equal(got, oldContent) {
		t.Errorf("the old file changed: %d bytes, %v", len(got), err)
	}
	left, err := os.ReadDir(filepath.Join(dir, tmp))
	if err != nil || len(left) != 0 {
		t.Errorf("temporaries %v, %v", left, err)
	}
}
