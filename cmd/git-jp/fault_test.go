//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
)

// A faultCommand is a command that writes, and what the repository is like before.
type faultCommand struct {
	name   string
	before []string // scripts of sh
	args   []string
	// damage comes after what can be read was noted: the command mends it.
	damage string
	// finished is what the command may say when the interrupted one had done all.
	finished string
}

// faultCommands are all that write conversations, content, the index or the quarantine. A
// command that comes to be takes its place here.
var faultCommands = []faultCommand{
	{name: "write", args: []string{"query", "--new", "what is here?"}},
	{name: "rename", args: []string{"rename", "17800000001", "Another title"}},
	{name: "migrate", args: []string{"migrate"}},
	{name: "migrate back", before: []string{"git jp migrate"}, args: []string{"migrate", "--to", "inline"}},
	{name: "stage", before: []string{"git jp migrate"}, args: []string{"stage", "--all"}},
	{
		name: "sweep", before: []string{"git jp migrate", dirty},
		args: []string{"gc", "--yes"},
	},
	{
		name: "undo", before: []string{"git jp migrate", dirty, "git jp gc --yes"},
		args: []string{"gc", "undo"}, finished: "no such run",
	},
	{
		name: "repair", before: []string{
			"git jp migrate", "git jp stage --all && git commit -q -m all --no-verify",
		},
		damage: "rm -r .jp/blobs/??", args: []string{"repair", "--yes"},
	},
}

// dirty leaves two contents, one of them tracked, that nothing needs.
const dirty = `git jp stage --all && git commit -q -m all --no-verify &&
git rm -rq .jp/conversations/17800000002-two && git commit -q -m gone &&
find .jp/blobs -name '*.gz' -exec touch -d 2020-01-01 {} +`

// writing are the system calls that change something, and some that only look.
var writing = []string{
	"mkdirat", "renameat,renameat2,rename", "unlinkat,unlink", "write,pwrite64",
	"fsync,fdatasync", "flock", "fchmodat,fchmod,chmod", "utimensat", "ftruncate",
	"openat", "getdents64", "read,pread64",
}

// faultsOf are the ways in which a call fails.
var faultsOf = []string{"error=ENOSPC", "error=EIO", "error=EACCES", "signal=SIGKILL"}

// A faultBench runs commands under strace, which makes their system calls fail.
type faultBench struct {
	t        *testing.T
	dir, bin string
	home     string
}

func newFaultBench(t *testing.T) *faultBench {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not here: system calls cannot be made to fail")
	}
	b := &faultBench{t: t, dir: gittest.TempDir(t)}
	b.bin, b.home = filepath.Join(b.dir, "bin"), filepath.Join(b.dir, "home")
	self, err := os.Executable()
	if err == nil {
		err = errors.Join(os.Mkdir(b.bin, 0o755), os.Mkdir(b.home, 0o755),
			os.Symlink(self, filepath.Join(b.bin, "git-jp")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *faultBench) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(gittest.Env(b.t), "PATH="+b.bin+":"+os.Getenv("PATH"), "HOME="+b.home,
		"XDG_DATA_HOME="+filepath.Join(dir, "..", "data"), "XDG_CONFIG_HOME="+b.home,
		"JP_SESSION=fault", "TERM=dumb")
	return cmd
}

func (b *faultBench) run(dir, name string, args ...string) (string, error) {
	out, err := b.command(dir, name, args...).CombinedOutput()
	return string(out), err
}

// world makes a repository as it is before a command.
func (b *faultBench) world(c faultCommand) string {
	b.t.Helper()
	dir := filepath.Join(b.dir, "of "+c.name, "repo")
	for id, results := range map[string][]string{
		"17800000001-one": {"shared", "3*first"}, "17800000002-two": {"shared", "3*second"},
	} {
		at := filepath.Join(dir, ".jp", "conversations", id)
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.t.Fatal(err)
		}
		for name, data := range legacyConversation(id, results) {
			if err := os.WriteFile(filepath.Join(at, name), []byte(data), 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for _, script := range append([]string{"git init -q -b main && git jp init"}, c.before...) {
		if out, err := b.run(dir, "sh", "-c", script); err != nil {
			b.t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	return dir
}

// template is the world, what can be read there, and then the damage.
func (b *faultBench) template(c faultCommand) (dir string, before resolution) {
	b.t.Helper()
	dir = b.world(c)
	before, err := resolve(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	if out, err := b.run(dir, "sh", "-c", "true; "+c.damage); err != nil {
		b.t.Fatalf("%s: %v\n%s", c.damage, err, out)
	}
	return dir, before
}

// A resolution is what can be read in a repository: the contents of each conversation.
type resolution map[string][]blobs.Hash

// resolve reads every conversation of a work tree. A reference that leads nowhere is told.
func resolve(dir string) (resolution, error) {
	store, err := blobs.Open(filepath.Join(dir, ".jp", "blobs"), blobs.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	found := resolution{}
	names, err := filepath.Glob(filepath.Join(dir, ".jp", "conversations", "*", "events.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := events.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		id, _ := events.ParseDirname(filepath.Base(filepath.Dir(name)))
		for c := range s.Contents() {
			text, err := c.Content.Bytes(store)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			found[id.String()] = append(found[id.String()], blobs.Sum(text))
		}
	}
	return found, nil
}

// staged returns what the index refers to and has not.
func (b *faultBench) staged(dir string) ([]string, error) {
	list, err := b.run(dir, "git", "ls-files", "-s", ".jp")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, list)
	}
	var lost []string
	for _, id := range regexp.MustCompile(`(?m)^\S+ (\S+) \d\t.*/events\.json$`).
		FindAllStringSubmatch(list, -1) {
		data, err := b.command(dir, "git", "cat-file", "blob", id[1]).Output()
		if err != nil {
			return nil, err
		}
		for _, h := range refs.MentionsIn(data).Refs {
			if !strings.Contains(list, h.Path()) {
				lost = append(lost, h.String())
			}
		}
	}
	return lost, nil
}

// holds compares with what was before: every conversation and every content of it is there.
func (r resolution) holds(now resolution) error {
	for id, all := range r {
		for _, h := range all {
			if !slices.Contains(now[id], h) {
				return fmt.Errorf("conversation %s has lost content %s", id, h)
			}
		}
	}
	return nil
}

// patience is how long a command may take under strace.
const patience = 30 * time.Second

var injected = regexp.MustCompile(`\(INJECTED\)|killed by SIGKILL`)

// inject runs a command of which one call fails, and reports whether it came to that.
func (b *faultBench) inject(dir string, c faultCommand, p faultPoint) bool {
	log := filepath.Join(dir, "..", "log")
	args := []string{
		"-f", "-qq", "-o", log, "-e", "trace=" + p.calls,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", p.calls, p.fault, p.n),
		filepath.Join(b.bin, "git-jp"),
	}
	cmd := b.command(dir, "strace", append(args, c.args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.t.Error(err)
		return false
	}
	// Where the call that fails is the one by which Go learns that a process has started, it
	// waits for that process for ever. No system fails there; it is killed as a whole.
	stop := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	_ = cmd.Wait() // it fails, or not
	stop.Stop()
	data, err := os.ReadFile(log)
	return err == nil && injected.Match(data)
}

// A faultPoint is one call of a command that fails.
type faultPoint struct {
	calls, fault string
	n            int
}

// A faultTemplate is the repository before a command.
type faultTemplate struct {
	dir    string
	before resolution
}

// try makes one call fail and says what is wrong then.
func (b *faultBench) try(c faultCommand, of faultTemplate, p faultPoint) (met bool, err error) {
	top, err := os.MkdirTemp(b.dir, "try")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "repo")
	if out, err := b.run(b.dir, "cp", "-a", of.dir, dir); err != nil {
		return false, fmt.Errorf("%w: %s", err, out)
	}
	if !b.inject(dir, c, p) {
		return false, nil
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
	out, err := b.run(dir, "git-jp", c.args...)
	if err != nil && (c.finished == "" || !strings.Contains(out, c.finished)) {
		return true, fmt.Errorf("then again: %w\n%s", err, out)
	}
	return true, b.sound(dir, of.before)
}

func (b *faultBench) sound(dir string, before resolution) error {
	now, err := resolve(dir)
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

// TestEverySystemCallMayFail makes the system calls of each command fail, those of the gits
// that it starts too, one after the other, in four ways. strace counts for each thread, so
// what is n-th differs a little from run to run.
func TestEverySystemCallMayFail(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	b := newFaultBench(t)
	soak := os.Getenv("GIT_JP_SOAK") != ""
	var points atomic.Int64
	t.Cleanup(func() { t.Logf("%d points", points.Load()) })
	for k, c := range faultCommands {
		template, before := b.template(c)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			own := *b
			own.t = t
			for i, calls := range writing {
				for j, fault := range faultsOf {
					if !soak && (i+j+k)%len(faultsOf) != 0 {
						continue // each call in one way, another one for each command
					}
					for n := 1; n <= most(calls, soak); n += stride(n, soak) {
						met, err := own.try(c, faultTemplate{template, before}, faultPoint{calls, fault, n})
						if err != nil {
							t.Errorf("%s number %d, %s: %v", calls, n, fault, err)
						}
						if !met {
							break
						}
						points.Add(1)
					}
				}
			}
		})
	}
}

// most bounds the number of calls of a kind: thousands only look.
func most(calls string, soak bool) int {
	switch {
	case !soak:
		return 1
	case strings.HasPrefix(calls, "openat"), strings.HasPrefix(calls, "read"):
		return 100
	default:
		return 1000
	}
}

func stride(n int, soak bool) int {
	if !soak && n > 1 {
		return 4
	}
	return 1
}

// TestTornWrites cuts the files that a command writes, at every size up to the largest.
func TestTornWrites(t *testing.T) {
	b := newFaultBench(t)
	sizes := []int{0, 1}
	if os.Getenv("GIT_JP_SOAK") != "" {
		sizes = []int{0, 1, 2, 3, 4, 6, 8}
	}
	var group sync.WaitGroup
	for _, c := range faultCommands {
		template, before := b.template(c)
		for _, blocks := range sizes {
			group.Go(func() {
				dir := filepath.Join(b.dir, fmt.Sprintf("torn %s %d", c.name, blocks), "repo")
				if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
					t.Error(err)
					return
				}
				if out, err := b.run(b.dir, "cp", "-a", template, dir); err != nil {
					t.Errorf("%v: %s", err, out)
					return
				}
				// A write beyond the limit is cut short; the signal that comes with it is
				// ignored, as on a disk that is full.
				script := fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec git-jp "$@"`, blocks)
				_, _ = b.run(dir, "sh", append([]string{"-c", script, "sh"}, c.args...)...)
				if out, err := b.run(dir, "git-jp", "ls"); err != nil {
					t.Errorf("%s, %d blocks: then ls: %v\n%s", c.name, blocks, err, out)
				}
				if err := b.sound(dir, before); err != nil && c.damage == "" {
					t.Errorf("%s, %d blocks: %v", c.name, blocks, err)
				}
				out, err := b.run(dir, "git-jp", c.args...)
				if err != nil && (c.finished == "" || !strings.Contains(out, c.finished)) {
					t.Errorf("%s, %d blocks: then again: %v\n%s", c.name, blocks, err, out)
				}
				if err := b.sound(dir, before); err != nil {
					t.Errorf("%s, %d blocks, then again: %v", c.name, blocks, err)
				}
			})
		}
		group.Wait()
	}
}
