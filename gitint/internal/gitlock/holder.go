package gitlock

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// A HeldError reports that another process holds a lock of git.
type HeldError struct {
	// Path is the lock file.
	Path string
	// Holder names the process, "" if unknown. It may be gone: the lock of a killed git remains.
	Holder string
	// Since is when the lock was taken, zero if it is gone by now.
	Since time.Time
}

// Error names the lock and, if known, its holder.
func (e *HeldError) Error() string {
	switch {
	case e.Holder != "":
		return fmt.Sprintf("%s is held by %s", e.Path, e.Holder)
	case !e.Since.IsZero():
		return fmt.Sprintf("%s is held since %s by a process that cannot be found",
			e.Path, e.Since.Format(time.DateTime))
	default:
		return e.Path + " is held"
	}
}

// Held describes a lock that another process holds, a git that works in one of dirs if nothing else
// is known.
func Held(lock string, dirs ...string) *HeldError {
	e := &HeldError{Path: lock}
	if fi, err := os.Lstat(lock); err == nil {
		e.Since = fi.ModTime()
	}
	if text, err := regular.ReadFile(lock, regular.MaxNote); err == nil {
		if pid, ok := bytes.CutPrefix(text, []byte(mark)); ok {
			e.Holder = "git-jp, process " + string(bytes.TrimSpace(pid))
			return e
		}
	}
	e.Holder = findHolder(lock, dirs)
	return e
}

// findHolder searches /proc, if it exists, for the process that has the lock open, or else for a
// git at work in a directory: git closes the file and keeps the lock while an editor or a hook
// runs.
func findHolder(lock string, dirs []string) string {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	guess := ""
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", p.Name())
		if hasOpen(dir, lock) {
			return describeProcess(dir, p.Name())
		}
		if guess == "" && isGitIn(dir, dirs) {
			guess = describeProcess(dir, p.Name())
		}
	}
	return guess
}

func hasOpen(proc, file string) bool {
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name()))
		if err == nil && target == file {
			return true
		}
	}
	return false
}

func isGitIn(proc string, dirs []string) bool {
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil || strings.TrimSpace(string(name)) != "git" {
		return false
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	return err == nil && !isOurCaller(proc) &&
		slices.ContainsFunc(dirs, func(dir string) bool { return within(cwd, dir) })
}

// isOurCaller reports whether a git only waits for this program, in this or in another run, as in
// 'git jp stage'.
func isOurCaller(proc string) bool { return slices.Contains(arguments(proc), "jp") }

func arguments(proc string) []string {
	text, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

func within(name, dir string) bool {
	return dir != "" && (name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)))
}

// describeProcess names the command and its subcommand only; other arguments may be private.
func describeProcess(proc, pid string) string {
	args := arguments(proc)
	if len(args) == 0 {
		return "process " + pid
	}
	name := filepath.Base(args[0])
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		name += " " + args[1]
	}
	return fmt.Sprintf("%q, process %s", name, pid)
}
