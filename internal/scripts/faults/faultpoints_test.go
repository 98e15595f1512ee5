//go:build linux

package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/scripts"
)

// A faultPoint is one call of a command that fails, or a size at which its files are cut.
type faultPoint struct {
	calls string // a group of faultCalls, or torn
	fault string // one of faultsOf, or of tearsOf
	n     int    // the call, counted from 1, or the size
}

func (p faultPoint) String() string { return fmt.Sprintf("%s number %d, %s", p.calls, p.n, p.fault) }

// faultCalls are the system calls that change something, and those that look. A question mark is
// before those that not every machine has. Left out are: close, which releases a file also if it
// fails, so that a close that strace suppresses corresponds to no real failure; calls that the
// runtime needs, such as mmap and futex; and fcntl, which cannot fail in practice.
var faultCalls = []string{
	"mkdirat,?mkdir", "renameat,?renameat2,?rename", "unlinkat,?unlink,?rmdir",
	"write,pwrite64,?copy_file_range", "fsync,fdatasync", "flock", "fchmodat,fchmod,?chmod",
	"utimensat", "ftruncate", "linkat,?link", "openat", "getdents64", "read,pread64",
	"?newfstatat,fstat,?stat,?lstat,?statx", "?readlinkat,?readlink",
	"?access,?faccessat,?faccessat2", "chdir", "execve", "pipe2", "?clone,?clone3,?vfork,?fork", "syncfs",
}

// faultsOf are the ways in which a call fails.
var faultsOf = []string{"error=ENOSPC", "error=EIO", "error=EACCES", "signal=SIGKILL"}

// torn is a value of calls for a write that is cut short at a size, and tearsOf are the results: an
// error, as on a full disk, or the end of the process.
const torn = "torn"

var tearsOf = []string{"an error", "the end"}

const (
	// patience is how long a command may take under strace.
	patience = 30 * time.Second
	// misses is how many consecutive numbers without a call are tried: which thread makes a call, and
	// so its number, differs from run to run.
	misses = 3
	// mostCalls limits the numbers, in case a command never ends.
	mostCalls = 3000
)

var injected = regexp.MustCompile(`\(INJECTED\)|killed by SIGKILL`)

// A faultTemplate is the repository before a command, and its required state afterwards.
type faultTemplate struct {
	dir    string
	before resolution
	after  string // names of files, and the index; "" if they differ between runs
	most   int    // bytes of the largest file that it writes
}

// prepare makes the template of a command, and runs the command in a copy.
func (b *faultBench) prepare(c faultCommand) faultTemplate {
	b.t.Helper()
	of := faultTemplate{}
	of.dir, of.before = b.template(c)
	dir, remove, err := b.copy(of)
	if err != nil {
		b.t.Fatal(err)
	}
	defer remove()
	if out, err := b.run(dir, "git-jp", c.args...); err != nil {
		b.t.Fatalf("%s: %v\n%s", c.name, err, out)
	}
	if err := b.sound(dir, of.before); err != nil && c.again == nil {
		b.t.Fatalf("%s: %v", c.name, err)
	}
	if !c.other {
		if of.after, err = b.picture(dir); err != nil {
			b.t.Fatal(err)
		}
	}
	if of.most, err = largestOf(dir, of.dir); err != nil || of.most == 0 {
		b.t.Fatalf("%s writes no file: %v", c.name, err)
	}
	return of
}

func (b *faultBench) copy(of faultTemplate) (dir string, remove func(), err error) {
	top, err := os.MkdirTemp(b.dir, "try")
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(top, "repo")
	if out, err := b.run(b.dir, "cp", "-a", of.dir, dir); err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, out)
	}
	return dir, func() { _ = os.RemoveAll(top) }, nil
}

// picture returns the names of all files of the workspace, and its part of the index.
func (b *faultBench) picture(dir string) (string, error) {
	var all []string
	top := filepath.Join(dir, ".jp")
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".tmp" || d.Name() == "locks"):
			return fs.SkipDir
		case d.Type().IsRegular():
			all = append(all, name[len(top):])
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	index, err := b.run(dir, "git", "ls-files", "-s", ".jp")
	return strings.Join(all, "\n") + "\n" + index, err
}

// largestOf returns the size of the largest file in one directory that a second one lacks or has in
// another version.
func largestOf(dir, old string) (most int, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		was, err := os.ReadFile(old + name[len(dir):])
		if err != nil || !bytes.Equal(was, data) {
			most = max(most, len(data))
		}
		return nil
	})
	return most, err
}

// inject runs a command with one failing call, and reports whether that call was reached.
func (b *faultBench) inject(dir string, c faultCommand, p faultPoint) (met bool, err error) {
	log := filepath.Join(dir, "..", "log")
	args := []string{
		"-f", "-qq", "-o", log, "-e", "trace=" + p.calls,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", p.calls, p.fault, p.n),
	}
	if strings.HasPrefix(p.fault, "error=") {
		// It is faster, but where a filter stops a process Linux drops the signal that strace sends.
		args = append(args, "--seccomp-bpf")
	}
	var out bytes.Buffer
	args = append(append(args, filepath.Join(b.bin, "git-jp")), c.args...)
	cmd := b.command(dir, "strace", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return false, err
	}
	hung := time.AfterFunc(patience, func() {
		// The stacks of a Go program show where it waits.
		_ = syscall.Kill(firstTraced(log), syscall.SIGQUIT)
		time.Sleep(time.Second)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	_ = cmd.Wait() // it fails, or not
	if !hung.Stop() {
		err = hang(out.String())
	}
	data, readErr := os.ReadFile(log)
	return injected.Match(data), errors.Join(err, readErr)
}

// firstTraced returns the first process in a log of strace.
func firstTraced(log string) int {
	data, _ := os.ReadFile(log)
	word, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	pid, err := strconv.Atoi(word)
	if err != nil {
		return 0
	}
	return pid
}

// errStrace reports that a command hangs which cannot hang without strace: Go learns from a pipe
// that a process was started. If that read fails, it assumes that the process could not be started
// and waits for its end, which does not come. That read never fails on a real system.
var errStrace = errors.New("waits for a process of which it could not learn that it was started")

// hang finds out from the stacks why a command did not end.
func hang(stacks string) error {
	if strings.Contains(stacks, "syscall.forkExec(") {
		return errStrace
	}
	return fmt.Errorf("came to no end:\n%s", stacks)
}

// tear runs a command that can write no more than n bytes into a file.
func (b *faultBench) tear(dir string, c faultCommand, p faultPoint) {
	trap := ""
	if p.fault == tearsOf[0] {
		trap = "trap '' XFSZ; "
	}
	script := fmt.Sprintf(`%sexec prlimit --fsize=%d git-jp "$@"`, trap, p.n)
	_, _ = b.run(dir, "sh", append([]string{"-c", script, "sh"}, c.args...)...)
}

// try makes one call fail and returns what is wrong then.
func (b *faultBench) try(c faultCommand, of faultTemplate, p faultPoint) (met bool, err error) {
	dir, remove, err := b.copy(of)
	if err != nil {
		return false, err
	}
	defer remove()
	if p.calls == torn {
		b.tear(dir, c, p)
	} else if met, err := b.inject(dir, c, p); !met || err != nil {
		return met, err
	}
	// A short run has one point of every other kind of call: half of these are followed by a commit.
	if (p.n+slices.Index(faultCalls, p.calls)/2)%2 == 1 {
		// It may be a commit, whose hooks move back what a collection had moved. If a killed git process
		// held the index there is no commit.
		_, _ = b.run(dir, "git", "-c", "maintenance.auto=false", "commit", "-q", "--allow-empty",
			"-m", "meanwhile")
	}
	// The next command finishes what was begun.
	if out, err := b.run(dir, "git-jp", "ls"); err != nil {
		return true, fmt.Errorf("then ls: %w\n%s", err, out)
	}
	if c.damage == "" {
		if err := b.sound(dir, of.before); err != nil {
			return true, err
		}
	}
	again := c.args
	if c.again != nil {
		again = c.again
	}
	out, err := b.run(dir, "git-jp", again...)
	if err != nil && (c.finished == "" || !strings.Contains(out, c.finished)) {
		return true, fmt.Errorf("then again: %w\n%s", err, out)
	}
	if err := b.sound(dir, of.before); err != nil {
		return true, fmt.Errorf("then again: %w", err)
	}
	return true, b.complete(dir, of)
}

// sound verifies that everything that could be read still can be.
func (b *faultBench) sound(dir string, before resolution) error {
	now, err := readAll(dir)
	if err != nil {
		return err
	}
	if err := before.holds(now); err != nil {
		return err
	}
	lost, err := b.staged(dir)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the index has lost %v", lost)
	}
	return err
}

// complete verifies that a repeated command has done everything that it should.
func (b *faultBench) complete(dir string, of faultTemplate) error {
	if _, err := os.Stat(filepath.Join(dir, ".jp/blobs/.tmp/gc.open")); err == nil {
		return errors.New("then again: a run is open")
	}
	if of.after == "" {
		return nil
	}
	now, err := b.picture(dir)
	if err == nil && now != of.after {
		err = fmt.Errorf("then again: there is\n%s\nand should be\n%s", now, of.after)
	}
	return err
}

// A faultTally counts the attempts.
type faultTally struct {
	sync.Mutex

	points map[string]map[string]int // by operation, then by fault and by calls
	hangs  int                       // that are caused by strace
}

func (y *faultTally) add(op string, p faultPoint) {
	y.Lock()
	defer y.Unlock()
	if y.points == nil {
		y.points = make(map[string]map[string]int)
	}
	if y.points[op] == nil {
		y.points[op] = make(map[string]int)
	}
	calls, _, _ := strings.Cut(strings.TrimPrefix(p.calls, "?"), ",")
	for _, key := range []string{"points", p.fault, calls} {
		y.points[op][key]++
	}
}

func (y *faultTally) log(t *testing.T) {
	all := 0
	for _, op := range slices.Sorted(maps.Keys(y.points)) {
		all += y.points[op]["points"]
		t.Logf("%s: %v", op, y.points[op])
	}
	t.Logf("%d points in all; %d hung in the start of a process, as none can without strace",
		all, y.hangs)
}

// TestEverySystemCallMayFail makes the system calls of each command fail, including those of its
// git processes, one after the other, in four ways, and cuts its files short. strace counts for
// each thread, so several calls may be the n-th, and which ones differs a little from run to run.
// To run a part of it, give the name of an operation and of a call: -run
// 'TestEverySystemCallMayFail/sweep/fsync'.
func TestEverySystemCallMayFail(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	b := newFaultBench(t)
	tally := new(faultTally)
	t.Cleanup(func() { tally.log(t) })
	for k, c := range faultCommands {
		of := b.prepare(c)
		t.Run(c.name, func(t *testing.T) {
			for i, calls := range faultCalls {
				if !scripts.Soaks() && (i+k)%2 != 0 {
					continue // the next command reaches those
				}
				name, _, _ := strings.Cut(strings.TrimPrefix(calls, "?"), ",")
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					b.on(t).calls(c, of, faultRange{calls, i + k, tally})
				})
			}
			t.Run(torn, func(t *testing.T) {
				t.Parallel()
				b.on(t).tears(c, of, faultRange{torn, k, tally})
			})
		})
	}
}

// TestEveryFaultHappens: a fault that strace does not make would pass everywhere.
func TestEveryFaultHappens(t *testing.T) {
	b := newFaultBench(t)
	c := faultCommand{name: "happens", args: []string{"rename", "17800000001", "Another title"}}
	of := faultTemplate{dir: b.world(c)}
	happens := func(p faultPoint) bool {
		dir, remove, err := b.copy(of)
		if err != nil {
			t.Fatal(err)
		}
		defer remove()
		met, err := b.inject(dir, c, p)
		if err != nil {
			t.Error(err)
		}
		return met
	}
	for _, fault := range faultsOf {
		met := false
		for range 10 { // the second may be another thread's first
			met = met || happens(faultPoint{faultCalls[1], fault, 2})
		}
		if !met {
			t.Errorf("%s is made nowhere", fault)
		}
	}
}

// on returns the same bench for another test.
func (b *faultBench) on(t *testing.T) *faultBench {
	own := *b
	own.t = t
	return &own
}

// A faultRange is the calls of a kind.
type faultRange struct {
	calls string
	first int // the fault that is tried when there is only time for one
	tally *faultTally
}

func (b *faultBench) calls(c faultCommand, of faultTemplate, r faultRange) {
	for j, fault := range faultsOf {
		if !scripts.Soaks() && (r.first+j)%len(faultsOf) != 0 {
			continue // each call in one way, another one for each command
		}
		for n, missed := 1, 0; n <= mostCalls && missed < misses; n++ {
			p := faultPoint{r.calls, fault, n}
			if b.point(c, of, p, r.tally) {
				missed = 0
			} else {
				missed++
			}
			if !scripts.Soaks() {
				break
			}
		}
	}
}

func (b *faultBench) tears(c faultCommand, of faultTemplate, r faultRange) {
	for j, tear := range tearsOf {
		for i, n := 0, 0; n < of.most; i, n = i+1, n+tearStride(n) {
			if !scripts.Soaks() && (r.first+i+j)%len(tearsOf) != 0 {
				continue // each size in one way
			}
			b.point(c, of, faultPoint{r.calls, tear, n}, r.tally)
		}
	}
}

// tearStride returns the distance to the next size. Blobs and notes are small, streams are not.
func tearStride(n int) int {
	switch {
	case !scripts.Soaks():
		return 512
	case n < 64:
		return 1
	default:
		return 64
	}
}

// point tries one and counts it.
func (b *faultBench) point(c faultCommand, of faultTemplate, p faultPoint, y *faultTally) bool {
	met, err := b.try(c, of, p)
	switch {
	case errors.Is(err, errStrace):
		y.Lock()
		y.hangs++
		y.Unlock()
	case err != nil:
		b.t.Errorf("%v: %v", p, err)
	case met:
		y.add(c.name, p)
	}
	return met
}

// run runs a program without input.
func (b *faultBench) run(dir, name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := b.command(dir, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	hung := time.AfterFunc(patience, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer hung.Stop()
	err := cmd.Wait()
	return out.String(), err
}
