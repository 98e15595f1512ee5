//go:build unix

package gittest

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is the user and the group of a test that runs without privileges.
const nobody = 65534

// RanAsUser runs a test again, in a process of an unprivileged user, if this process is root's, for
// which permissions are not enforced. It reports whether it did, and the caller then has nothing
// left to do:
//
//	if gittest.RanAsUser(t) {
//		return
//	}
//
// The test fails if it does not pass there; one that is skipped there has not passed. For every
// other user RanAsUser returns false at once. The other process works in the same directory, and
// has its own home and directory for temporary files.
func RanAsUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	home := userHome(t)
	args := []string{"-test.v", "-test.count=1", "-test.run=" + exactly(t.Name()) + below(t.Name())}
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+time.Until(end).String())
	}
	cmd := exec.CommandContext(t.Context(), copyOfTest(t, home), args...)
	// Its directory is inherited: the other user may not be able to open it by its path.
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "USER=nobody", "LOGNAME=nobody")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}},
	}
	out, err := cmd.CombinedOutput()
	t.Logf("as user %d:\n%s", nobody, out)
	switch {
	case err != nil:
		t.Fatalf("as user %d: %v", nobody, err)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()+" ("):
		t.Fatalf("as user %d: the test did not run to its end", nobody)
	}
	return true
}

// member is another user of the group of the user that [RanAsUser] takes.
const member = nobody - 1

// GiveToMember gives a directory, and everything in it, to another user, and to the group of the
// user that [RanAsUser] takes, if this process is root's: as if two users shared it. For every other
// user it does nothing.
func GiveToMember(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			err = os.Lchown(name, member, nobody)
		}
		if err == nil && info.Mode().Type() != fs.ModeSymlink {
			err = os.Chmod(name, info.Mode()) // a change of the owner removes some bits
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// exactly returns the pattern that matches one test, or subtest, and no other.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// below returns the pattern by which this process was told to choose among the subtests of a test.
func below(name string) string {
	depth := strings.Count(name, "/") + 1
	parts := strings.Split(flag.Lookup("test.run").Value.String(), "/")
	return strings.Join(append([]string{""}, parts[min(depth, len(parts)):]...), "/")
}

// userHome makes a directory that belongs to the unprivileged user. The directories of t.TempDir
// are below one that only its owner may enter.
func userHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gittest-user-")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = os.Chown(dir, nobody, nobody)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyOfTest copies this program to a place where the user may run it: go test builds it in a
// directory that is closed to others.
func copyOfTest(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, filepath.Base(os.Args[0]))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() // was only read
	writeProgram(t, name, from)
	return name
}
