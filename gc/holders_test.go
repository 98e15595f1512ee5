//go:build linux

package gc_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/gittest"
)

// damages are all damages.
var damages = append(slices.Clone(fileDamages),
	damage{"EIO once", injected(lookCalls, "error=EIO:when=1")},
	damage{"EIO", injected(lookCalls, "error=EIO")},
	damage{"short read once", injected(readCalls, "retval=0:when=1")},
	damage{"short read", injected(readCalls, "retval=0")})

// The calls that read a file, and those that also map a file or list a directory.
const (
	readCalls = "read,pread64,readv,preadv"
	lookCalls = readCalls + ",mmap,getdents64"
)

// injected makes system calls on the file fail as how says, in the collector and in its git
// processes.
func injected(calls, how string) func(f *fixture, file string) error {
	return func(f *fixture, file string) error {
		log := filepath.Join(f.tb.TempDir(), "log")
		cmd := exec.CommandContext(f.tb.Context(), "strace", "--seccomp-bpf", "-f", "-qq", "-o", log,
			"-P", file, "-e", "trace="+calls, "-e", "inject="+calls+":"+how, os.Args[0])
		cmd.Env = append(os.Environ(), faultEnv+"=collect-all 0 "+f.Dir)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) {
			f.tb.Skip("strace is not here: system calls cannot be made to fail")
		}
		if data, _ := os.ReadFile(log); bytes.Contains(data, []byte("(INJECTED)")) {
			f.failed.Add(1)
		}
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
}

// A snapshot has the checksums of all files, by path.
type snapshot map[string][sha256.Size]byte

// snapshot reads the repository and everything beside it.
func (f *fixture) snapshot() snapshot {
	f.tb.Helper()
	all := make(snapshot)
	err := filepath.WalkDir(filepath.Dir(f.Dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(filepath.Dir(name)) == "hooks" {
			return err
		}
		data, err := os.ReadFile(name)
		all[name] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		f.tb.Fatal(err)
	}
	return all
}

// without removes the unchanged files, and returns them.
func (s snapshot) without(before snapshot) snapshot {
	same := make(snapshot)
	for name, sum := range s {
		if was, ok := before[name]; ok && was == sum {
			same[name] = sum
			delete(s, name)
		}
	}
	return same
}

func (s snapshot) names() []string { return slices.Sorted(maps.Keys(s)) }

// common matches files that many rows have: objects, those of a conversation beside its stream, and
// those of a workspace and of a linked worktree.
var common = regexp.MustCompile(`/objects/[0-9a-f]{2}/|/refs/heads/linked$|` +
	`/\.jp/(\.id|\.gitignore|conversations/\.keep)$|/(metadata|base_config)\.json$|` +
	`/linked/(\.git|readme)$|/\.git/COMMIT_EDITMSG$|` +
	`/\.git/worktrees/linked/(gitdir|commondir|HEAD|ORIG_HEAD|index|logs/HEAD)$`)

// isUsual reports whether a row damages a file in a short run: always the row's own files, and of
// the common files a part that differs between rows.
func (r row) isUsual(n int, file string) bool {
	const part = 12
	return n%part == 0 || !common.MatchString(file) ||
		strings.Contains(r.name, filepath.Base(file))
}

// usualWay returns the damage for the n-th file in a short run. A damage by strace takes as long as
// five others, so it is used for only one of three files.
func usualWay(n int) int {
	way := (len(damages) - n%len(damages)) % len(damages)
	if round := n / len(damages); way >= len(fileDamages) && round%3 != 0 {
		way = round % len(fileDamages)
	}
	return way
}

// TestSoleHolders makes one content reachable only through each root of the matrix, and damages the
// files of the root, each in another way; in the long run, all in every way, and each other file in
// one. The content must be kept, whether the collector refuses or sees the root nevertheless.
func TestSoleHolders(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	failed := new(atomic.Int64)
	t.Cleanup(func() {
		if _, err := exec.LookPath("strace"); err == nil && failed.Load() == 0 {
			t.Error("no call that reads a file was made to fail")
		}
	})
	soak := os.Getenv("GIT_JP_SOAK") != ""
	for i, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.failed = failed
			before := f.snapshot()
			kept := f.blob("kept")
			row.make(f, kept)
			made := f.snapshot()
			holders := maps.Clone(made)
			delete(holders, f.store(kept))
			others := holders.without(before)
			if len(holders) == 0 {
				t.Fatal("no file holds the root")
			}
			tried := 0
			for j, file := range holders.names() {
				for k, d := range damages {
					if soak || k == usualWay(i+j) && row.isUsual(i+j, file) {
						f.damaged(kept, file, d)
						tried++
					}
				}
			}
			if tried == 0 {
				t.Error("nothing was damaged")
			}
			for j, file := range others.names() {
				if soak {
					f.damaged(kept, file, damages[(i+j)%len(damages)])
				}
			}
			f.restored(made)
			if soak || i%collected == 0 {
				f.undamaged(kept)
			}
		})
	}
}

// collected says for which part of the rows a short run collects once more when the files are
// restored: as they are then, all rows are in [TestRootMatrix].
const collected = 4

// restored checks that every damage was undone.
func (f *fixture) restored(made snapshot) {
	f.tb.Helper()
	now := f.snapshot()
	for _, name := range made.names() {
		if now[name] != made[name] {
			f.tb.Errorf("%s is not what it was before", name)
		}
	}
}

// damaged checks that a content is kept although a file is damaged.
func (f *fixture) damaged(kept blobs.Hash, file string, d damage) {
	rel := strings.TrimPrefix(file, filepath.Dir(f.Dir)+"/")
	f.tb.(*testing.T).Run(d.name+" "+rel, func(t *testing.T) {
		one := f.on(t)
		dead := one.blob("dead")
		err := d.during(one, file)
		if _, again := gc.Recover(t.Context(), one.options()); again != nil {
			t.Fatalf("recovering: %v", again)
		}
		switch lost := !one.has(kept); {
		case !lost:
		case isUnseen(rel, d.name):
			t.Logf("nobody can see it")
		default:
			t.Errorf("the content is gone, want it kept or a refusal (%v)", err)
		}
		if err != nil && !one.has(dead) {
			t.Errorf("something was deleted all the same: %v", err)
		}
		one.blob("kept")
	})
}

// undamaged checks that the files were restored.
func (f *fixture) undamaged(kept blobs.Hash) {
	f.tb.Helper()
	dead := f.blob("dead")
	if err := f.collectAll(); err != nil {
		f.tb.Errorf("refused, though nothing is damaged any more: %v", err)
	}
	if !f.has(kept) || f.has(dead) {
		f.tb.Errorf("has kept %v and dead %v, want true and false", f.has(kept), f.has(dead))
	}
}
