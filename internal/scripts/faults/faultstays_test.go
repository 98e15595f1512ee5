//go:build linux

package faults_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

// untracked leaves a conversation that git does not have at all: a collection that does not see it
// finds its references nowhere else.
const untracked = `git jp migrate && git add -A &&
git rm -rq --cached .jp/conversations/17800000002-two && git commit -q -m one --no-verify && git worktree add -q ../linked &&
find .jp/blobs -name '*.gz' -exec touch -d 2020-01-01 {} +`

// TestEveryFileMayStayUnreadable makes every file and directory that a collection reads fail for
// its whole duration. A call that fails once is repaired by the second mark, which reads everything
// again; a file that stays unreadable is unreadable for both.
func TestEveryFileMayStayUnreadable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	b := newFaultBench(t)
	c := faultCommand{
		name: "collect", before: []string{untracked}, args: []string{"gc", "--yes"}, other: true,
	}
	of := faultTemplate{}
	of.dir, of.before = b.template(c)
	if len(of.before["jp-c17800000002"]) == 0 {
		t.Fatalf("it has no content: %v", of.before)
	}
	var met atomic.Int64
	t.Cleanup(func() { t.Logf("%d faults that stay", met.Load()) })
	for i, name := range b.readFiles(of.dir) {
		if !scripts.Soaks() && strings.HasPrefix(name, ".git") && i%4 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range []string{"EIO", "EACCES"} {
				hit, err := b.on(t).unreadable(c, of, name, fault)
				if err != nil {
					t.Errorf("%s: %v", fault, err)
				}
				if hit {
					met.Add(1)
				}
			}
		})
	}
}

// readFiles lists what a collection may read, without objects, which have their own test.
func (b *faultBench) readFiles(dir string) (all []string) {
	b.t.Helper()
	for _, top := range []string{".jp", ".git"} {
		err := filepath.WalkDir(filepath.Join(dir, top),
			func(name string, d fs.DirEntry, err error) error {
				rel := strings.TrimPrefix(name, dir+"/")
				if d != nil && d.IsDir() && (rel == ".git/objects" || rel == ".git/hooks" ||
					rel == ".jp/blobs") {
					return fs.SkipDir
				}
				all = append(all, rel)
				return err
			})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return all
}

// unreadable runs a collection while a file is unreadable, and reports whether the collection tried
// to read it.
func (b *faultBench) unreadable(
	c faultCommand, of faultTemplate, name, fault string,
) (met bool, err error) {
	dir, remove, err := b.copy(of)
	if err != nil {
		return false, err
	}
	defer remove()
	const calls = "read,pread64,getdents64"
	log := filepath.Join(dir, "..", "log")
	out, _ := b.run(dir, "strace", append([]string{
		"--seccomp-bpf", "-f", "-qq", "-o", log, "-P", filepath.Join(dir, name),
		"-e", "trace=" + calls, "-e", "inject=" + calls + ":error=" + fault, filepath.Join(b.bin, "git-jp"),
	}, c.args...)...)
	data, err := os.ReadFile(log)
	if err != nil {
		return false, err
	}
	if err := b.sound(dir, of.before); err != nil {
		return true, fmt.Errorf("%w\n%s", err, out)
	}
	return injected.Match(data), nil
}
