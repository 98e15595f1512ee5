package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// checkoutKey is the key in the repository's own configuration that makes its working trees leave
// out blobs. No committed file can set it.
const (
	checkoutKey  = "jp.checkout"
	checkoutLazy = "lazy"
	checkoutFull = "full" // the same as no value
)

// checkouts returns the values of the key.
func checkouts() []string { return []string{checkoutLazy, checkoutFull} }

func isCheckout(value string) bool { return slices.Contains(checkouts(), value) }

// sparseFile has the patterns of a sparse checkout, in the git directory of a worktree.
const sparseFile = "info/sparse-checkout"

// ErrCone reports that a sparse checkout is in cone mode, which cannot leave out a pattern.
var ErrCone = errors.New("the sparse checkout is in cone mode")

// MayBeLazy reports whether the working tree at root, or one that contains it, may leave files out.
// It starts no process, so that it costs nothing in a full clone.
func MayBeLazy(o Options, root string) bool {
	if environ.List(o.Env).Get(environ.Dir) != "" {
		return true // git locates it when asked
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, ".git")
		if info, err := os.Lstat(name); err == nil {
			if dir, ok := gitDirOf(name); !info.IsDir() && ok {
				name = dir
			}
			_, err := os.Stat(filepath.Join(name, filepath.FromSlash(sparseFile)))
			return err == nil
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// Lazy reports whether this working tree leaves out blobs: git has them as objects, here or
// promised by a remote.
func (r *Repo) Lazy(ctx context.Context) (bool, error) {
	if _, err := os.Stat(filepath.Join(r.gitDir, filepath.FromSlash(sparseFile))); err != nil {
		return false, nil //nolint:nilerr // git writes it for every sparse checkout
	}
	s, err := r.shape(ctx)
	if err != nil {
		return false, err
	}
	return s.lazy && s.sparse && r.root != "", nil
}

// LeaveOut removes the unchanged files that match a pattern from the working tree, and marks it as
// lazy. Files that a sparse checkout already left out stay out.
func (r *Repo) LeaveOut(ctx context.Context, pattern string) error {
	patterns, err := r.sparsePatterns(ctx)
	if err == nil {
		err = r.SetConfig(ctx, checkoutKey, checkoutLazy)
	}
	if err == nil {
		err = r.exclude(pattern, true)
	}
	if err == nil && !slices.Contains(patterns, pattern) {
		err = r.setSparse(ctx, append(patterns, pattern))
	}
	if err != nil {
		return fmt.Errorf("leave %s out of the working tree: %w", pattern, err)
	}
	return nil
}

// PutIn undoes LeaveOut: it checks out the files, whose objects must exist here.
func (r *Repo) PutIn(ctx context.Context, pattern string) error {
	patterns, err := r.sparsePatterns(ctx)
	rest := slices.DeleteFunc(patterns, func(p string) bool { return p == pattern })
	switch {
	case err != nil:
	case len(rest) == 1 && rest[0] == everything:
		err = r.sparse(ctx, nil, "disable")
	default:
		err = r.setSparse(ctx, rest)
	}
	if err == nil {
		err = r.exclude(pattern, false)
	}
	if err == nil {
		err = r.UnsetConfig(ctx, checkoutKey)
	}
	if err != nil {
		return fmt.Errorf("put %s into the working tree: %w", pattern, err)
	}
	return nil
}

// MarkLeftOut marks the entries that an index has unchanged, so that git does not report their
// files as deleted, and returns them. file is as in [Change].
func (r *Repo) MarkLeftOut(ctx context.Context, file string, entries []Entry) ([]Entry, error) {
	tx, err := r.beginIndex(ctx, file, NoWait)
	if err != nil {
		return nil, fmt.Errorf("mark what is left out: %w", err)
	}
	defer tx.rollback()
	paths := lists.Map(entries, func(e Entry) string { return e.Path })
	has, err := tx.entries(ctx, paths)
	if err != nil {
		return nil, fmt.Errorf("mark what is left out: %w", err)
	}
	var same []Entry
	var names []string
	for _, e := range entries {
		if is := has[e.Path]; len(is) == 1 && is[0].Stage == 0 && is[0].Entry == e {
			same, names = append(same, e), append(names, e.Path)
		}
	}
	if err := tx.leaveOut(ctx, names); err != nil {
		return nil, fmt.Errorf("mark what is left out: %w", err)
	}
	return same, tx.commit()
}

// leaveOut marks entries of the copy.
func (tx *indexTx) leaveOut(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	return tx.change(ctx, joinZ(paths), "update-index", "-z", "--skip-worktree", "--stdin")
}

// leftOut returns the paths to mark that the change still adds.
func (c Change) leftOut() []string {
	added := lists.Set(c.added())
	return slices.DeleteFunc(slices.Clone(c.LeftOut), func(p string) bool { return !added[p] })
}

// exclude makes git ignore new files that match a pattern, or stops that: otherwise they would be
// an error for 'git add .', because a sparse checkout excludes them.
func (r *Repo) exclude(pattern string, ignored bool) error {
	dir := filepath.Join(r.commonDir, "info")
	if err := atomicfile.MkdirPrivate(dir); err != nil { // git usually creates it
		return err
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only opened
	data, err := regular.ReadFile(filepath.Join(dir, "exclude"), regular.MaxOther)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line := strings.TrimPrefix(pattern, "!") + "\n"
	lines := slices.Collect(strings.Lines(string(data)))
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == line })
	if ignored {
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += "\n"
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "")
	if text == string(data) {
		return nil
	}
	return atomicfile.Replace(root, "exclude", data, []byte(text), atomicfile.Options{TempDir: "."})
}

// everything is the pattern of a checkout that is not sparse.
const everything = "/*"

// sparsePatterns returns the patterns of the sparse checkout.
func (r *Repo) sparsePatterns(ctx context.Context) ([]string, error) {
	s, err := r.shape(ctx)
	switch {
	case err != nil:
		return nil, err
	case !s.sparse:
		return []string{everything}, nil
	case s.cone:
		return nil, ErrCone
	}
	data, err := regular.ReadFile(filepath.Join(r.gitDir, filepath.FromSlash(sparseFile)),
		regular.MaxOther)
	if err != nil {
		return nil, fmt.Errorf("read patterns: %w", err)
	}
	return strings.Split(strings.TrimRight(string(data), "\n"), "\n"), nil
}

func (r *Repo) setSparse(ctx context.Context, patterns []string) error {
	return r.sparse(ctx, patterns, "set", "--no-cone", "--stdin")
}

// sparse changes the sparse checkout. The next call reads the configuration again.
func (r *Repo) sparse(ctx context.Context, patterns []string, args ...string) error {
	args = append([]string{"-c", "core.hooksPath=" + os.DevNull, "sparse-checkout"}, args...)
	_, err := r.git.Run(ctx, git.Command{
		Args: args, Write: true,
		Stdin: strings.NewReader(strings.Join(patterns, "\n") + "\n"),
	})
	r.forgetShape()
	return err
}

func (r *Repo) forgetShape() {
	r.shapeMu.Lock()
	r.known = nil
	r.shapeMu.Unlock()
	r.objects.mu.Lock()
	defer r.objects.mu.Unlock()
	r.objects.closeDB()
	r.objects.db, r.objects.ready = nil, false
}

// A CloneRequest has the parameters of a clone.
type CloneRequest struct {
	URL, Dir string // required; Dir is absolute
	Branch   string // "" for the remote's default
	Depth    int    // of the history; 0 for all of it
	// Pattern is left out of the working tree, and fetched on demand.
	Pattern string // required
	// Terminal, if not nil, shows git's progress.
	Terminal *os.File
}

// Clone clones a repository without its blobs, except for the files of its working tree. If it
// fails after git has cloned, 'git checkout' in the directory continues.
func Clone(ctx context.Context, o Options, c CloneRequest) (*Repo, error) {
	args := []string{"clone", "--filter=blob:none", "--no-checkout"}
	if c.Branch != "" {
		args = append(args, "--branch="+c.Branch)
	}
	if c.Depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", c.Depth))
	}
	first := &Repo{git: o.git()}
	args = append(args, "--end-of-options", c.URL, c.Dir)
	if err := first.remotely(ctx, c.Terminal, nil, args...); err != nil {
		return nil, fmt.Errorf("clone %s: %w", c.URL, err)
	}
	o.Dir = c.Dir
	r, err := Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("clone %s: %w", c.URL, err)
	}
	if err := r.LeaveOut(ctx, c.Pattern); err != nil {
		return r, fmt.Errorf("clone %s: %w", c.URL, err)
	}
	if unborn, err := r.unborn(ctx); err != nil || unborn {
		return r, err
	}
	if err := r.remotely(ctx, c.Terminal, nil, "checkout"); err != nil {
		return r, fmt.Errorf("check out %s: %w", c.Dir, err)
	}
	return r, nil
}

// remotely runs a git command that may talk to a remote, with the user's settings. On a terminal it
// shows progress, and may ask for a password.
func (r *Repo) remotely(
	ctx context.Context, terminal *os.File, stdin []byte, args ...string,
) error {
	_, err := r.git.Run(ctx, git.Command{
		Args: args, Write: true, Remote: true, Terminal: terminal, Stdin: bytes.NewReader(stdin),
	})
	return err
}
