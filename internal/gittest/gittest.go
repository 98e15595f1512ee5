package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Repository is a directory in which git runs hermetically.
type Repository struct {
	// Dir is the directory in which git runs: the working tree, or the
	// repository itself when it is bare.
	Dir string
	// Env is the complete environment of every git process.
	Env []string

	tb      testing.TB
	commits int
}

// Repo makes a new repository in a temporary directory, with a branch main that has no commit yet.
// The arguments are passed to git init.
func Repo(tb testing.TB, initArgs ...string) *Repository {
	tb.Helper()
	return Template(tb, "empty", func(*Repository) {}, initArgs...)
}

// At returns the repository that exists, or will exist, in dir.
func At(tb testing.TB, dir string) *Repository {
	tb.Helper()
	return &Repository{Dir: dir, Env: Env(tb), tb: tb}
}

// TempDir is like tb.TempDir, with symbolic links resolved, because git
// prints resolved paths.
func TempDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Env returns the hermetic environment: the machine's PATH, an empty home, no configuration outside
// the repository, a fixed identity and fixed dates.
func Env(tb testing.TB) []string {
	tb.Helper()
	const date = "2026-01-02T03:04:05Z"
	home := filepath.Join(os.TempDir(), "gittest-no-such-home")
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + home,
		"TMPDIR=" + os.TempDir(),
		"LC_ALL=C",
		// A program built for the race detector sleeps for a second when it ends, and
		// git starts it as a hook.
		"GORACE=atexit_sleep_ms=0",
		// A short-lived program need not collect garbage when it starts.
		"GOGC=400",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		// No file has to survive a crash of the machine, or grows until it has to be packed.
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=core.fsync", "GIT_CONFIG_VALUE_0=none",
		"GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada",
		"GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_DATE=" + date,
	}
}

// Run runs git in dir and returns its output, without the last newline.
func Run(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	return At(tb, dir).Run(args...)
}

// Run runs git and returns its output, without the last newline. A failure of
// git fails the test.
func (r *Repository) Run(args ...string) string {
	r.tb.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.tb.Fatal(err)
	}
	return out
}

// RunInput is Run with input for git.
func (r *Repository) RunInput(input string, args ...string) string {
	r.tb.Helper()
	out, err := r.output(strings.NewReader(input), args...)
	if err != nil {
		r.tb.Fatal(err)
	}
	return out
}

// Try is Run for a git that may fail; the error contains git's output.
func (r *Repository) Try(args ...string) (string, error) {
	r.tb.Helper()
	return r.output(nil, args...)
}

// Commit stages everything in the working tree, commits it, and returns the id of
// the commit. Each commit of a repository is one minute later than the last.
func (r *Repository) Commit(message string) string {
	r.tb.Helper()
	r.commits++
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(r.commits) * time.Minute)
	dated := r.With(
		"GIT_AUTHOR_DATE="+at.Format(time.RFC3339),
		"GIT_COMMITTER_DATE="+at.Format(time.RFC3339),
	)
	dated.Run("add", "-A")
	dated.Run("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
	return r.head()
}

// head returns the id of the checked-out commit: from the file of its ref, if that is in its usual
// place, or else from git.
func (r *Repository) head() string {
	r.tb.Helper()
	elsewhere := slices.ContainsFunc(r.Env, func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_DIR=")
	})
	data, err := os.ReadFile(r.Path(".git/HEAD"))
	if ref, ok := strings.CutPrefix(string(data), "ref: "); err == nil && ok && !elsewhere {
		if data, err = os.ReadFile(r.Path(".git/" + strings.TrimSpace(ref))); err == nil {
			return strings.TrimSpace(string(data))
		}
	}
	return r.Run("rev-parse", "HEAD")
}

// With returns the same repository with additions to the environment.
func (r *Repository) With(env ...string) *Repository {
	c := *r
	c.Env = append(slices.Clone(r.Env), env...)
	return &c
}

// In returns a repository below or beside this one, same environment.
func (r *Repository) In(dir string) *Repository {
	c := *r
	c.Dir = dir
	if !filepath.IsAbs(dir) {
		c.Dir = filepath.Join(r.Dir, filepath.FromSlash(dir))
	}
	return &c
}

// Path returns the absolute path of a slash path below the repository's directory.
func (r *Repository) Path(name string) string {
	return filepath.Join(r.Dir, filepath.FromSlash(name))
}

// WriteFile writes a file below the repository's directory.
func (r *Repository) WriteFile(name, content string) {
	r.tb.Helper()
	path := r.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.tb.Fatal(err)
	}
}

// ReadFile reads a file below the repository's directory.
func (r *Repository) ReadFile(name string) string {
	r.tb.Helper()
	data, err := os.ReadFile(r.Path(name))
	if err != nil {
		r.tb.Fatal(err)
	}
	return string(data)
}

// Remove removes a file or a directory below the repository's directory.
func (r *Repository) Remove(name string) {
	r.tb.Helper()
	if err := os.RemoveAll(r.Path(name)); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *Repository) output(stdin *strings.Reader, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = r.Env
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out := strings.TrimSuffix(stdout.String(), "\n")
	if err != nil {
		if ee, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("exit code %d", ee.ExitCode())
		}
		err = fmt.Errorf("git %s in %s: %w\n%s%s", strings.Join(args, " "), r.Dir, err,
			stdout.String(), stderr.String())
	}
	return out, err
}

// RefTables returns the arguments of git init for a repository whose refs are in reftables. The
// test is skipped if git is too old for them.
func RefTables(tb testing.TB) []string {
	tb.Helper()
	const format = "--ref-format=reftable"
	if _, err := At(tb, TempDir(tb)).Try("init", "-q", format); err != nil {
		tb.Skip("this git does not know reftables")
	}
	return []string{format}
}
