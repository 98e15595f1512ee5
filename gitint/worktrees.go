package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Worktree is one of the worktrees of a repository.
type Worktree struct {
	// Name is "" for the main one, else that of its directory in worktrees.
	Name string
	// GitDir is the absolute path of its git directory.
	GitDir string
	// Root is its absolute path; empty if the main one is bare or cannot be found.
	Root string
	// Gone is true if nothing is at Root. Its HEAD, refs and index still exist. If Unknown is
	// empty, git would prune it now.
	Gone bool
	// Unknown says why its files cannot be read, "" if they can or are gone.
	Unknown string
}

// Index returns the path of its index, ignoring GIT_INDEX_FILE.
func (w Worktree) Index() string { return filepath.Join(w.GitDir, "index") }

// Title names the worktree for people.
func (w Worktree) Title() string {
	if w.Name == "" {
		return "the main worktree"
	}
	return fmt.Sprintf("worktree %q", w.Name)
}

// Worktrees returns the main worktree, also of a bare repository, and the linked ones, also those
// whose files are gone. It includes the one in which this program runs; if git has another path for
// it, its Unknown says so.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	all, err := r.listWorktrees(ctx)
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return r.withOwn(all), nil
}

func (r *Repo) listWorktrees(ctx context.Context) ([]Worktree, error) {
	all, err := r.mainWorktrees(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(r.commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		w, ok, err := r.linkedWorktree(e.Name())
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, w)
		}
	}
	return all, r.judgeGone(ctx, all)
}

// withOwn adds the worktree in which this program runs, if it is missing. Git's record of it can be
// outdated, after a move or on another mount point, and GIT_DIR and GIT_WORK_TREE can combine any
// two directories.
func (r *Repo) withOwn(all []Worktree) []Worktree {
	if r.root == "" || slices.ContainsFunc(all, func(w Worktree) bool {
		return w.GitDir == r.gitDir && regular.SameFile(w.Root, r.root)
	}) {
		return all
	}
	own := Worktree{GitDir: r.gitDir, Root: r.root, Unknown: "git does not list " + r.root}
	i := slices.IndexFunc(all, func(w Worktree) bool { return w.GitDir == r.gitDir })
	if i < 0 {
		own.Name = filepath.Base(r.gitDir)
		return append(all, own)
	}
	own.Name = all[i].Name
	if all[i].Root != "" {
		own.Unknown = fmt.Sprintf("git lists it at %s, and this is %s", all[i].Root, r.root)
	}
	all[i] = own
	return all
}

// mainWorktrees returns the working tree of the common git directory. Git records its path only if
// it is not beside the git directory. There are two if a symlink or a .git file leads from one to
// the repository in the other.
func (r *Repo) mainWorktrees(ctx context.Context) ([]Worktree, error) {
	beside := Worktree{GitDir: r.commonDir}
	if filepath.Base(r.commonDir) == ".git" {
		beside.Root = filepath.Dir(r.commonDir)
	}
	if r.gitDir == r.commonDir && beside.Root == r.root && r.root != "" && !r.git.Env.IsPlaced() {
		return []Worktree{beside}, nil
	}
	listed, err := r.listedMain(ctx, beside)
	if err != nil {
		return nil, err
	}
	own := Worktree{GitDir: r.commonDir, Root: r.root}
	switch {
	case r.gitDir != r.commonDir || r.root == "" || regular.SameFile(listed.Root, r.root),
		!leadsTo(filepath.Join(r.root, ".git"), r.gitDir):
		return []Worktree{listed}, nil
	case listed.Root == "":
		return []Worktree{own}, nil
	}
	return []Worktree{listed, own}, nil
}

// listedMain returns the main worktree of the configuration, or else the one beside the common git
// directory.
func (r *Repo) listedMain(ctx context.Context, beside Worktree) (Worktree, error) {
	w := Worktree{GitDir: r.commonDir}
	place, err := r.commonConfig(ctx, "core.worktree")
	if err != nil {
		return w, err
	}
	bare, err := r.commonConfig(ctx, "core.bare")
	if err != nil {
		return w, err
	}
	switch {
	case bare != "" && !isFalse(bare):
		return w, nil
	case filepath.IsAbs(place):
		w.Root = filepath.Clean(place)
	case place != "":
		w.Root = filepath.Join(r.commonDir, place)
	case beside.Root != "":
		w.Root = beside.Root
	default:
		w.Unknown = "nothing says where it is"
		return w, nil
	}
	if _, err = os.Lstat(w.Root); errors.Is(err, fs.ErrNotExist) {
		w.Gone, w.Unknown = true, "nothing is at "+w.Root
	}
	return w, nil
}

// commonConfig returns the value of a key for the main worktree, "" if there is none. It ignores
// the configuration of the user and of the command line, which is not about one repository.
func (r *Repo) commonConfig(ctx context.Context, key string) (value string, err error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		// Otherwise git would change to the directory in core.worktree, which may fail.
		"--git-dir=" + r.commonDir, "--work-tree=" + r.git.Dir,
		"config", "-z", "--show-scope", "--get-all", key,
	}})
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	fields := splitZ(out)
	for i := 0; i+1 < len(fields); i += 2 {
		if scope := fields[i]; scope == "local" || scope == "worktree" {
			value = fields[i+1]
		}
	}
	return value, err
}

// linkedWorktree reads one directory in worktrees; false if it is none, or was just removed.
func (r *Repo) linkedWorktree(name string) (Worktree, bool, error) {
	w := Worktree{Name: name, GitDir: filepath.Join(r.commonDir, "worktrees", name)}
	if info, err := os.Stat(w.GitDir); err != nil || !info.IsDir() {
		return w, false, ignoreMissing(err)
	}
	data, err := gitfile.Read(filepath.Join(w.GitDir, "gitdir"))
	if errors.Is(err, fs.ErrNotExist) {
		w.Unknown = "its file gitdir is not there"
		return w, true, nil
	}
	if err != nil {
		return w, false, err
	}
	link := strings.TrimSpace(string(data))
	if link == "" {
		w.Unknown = "its file gitdir is empty"
		return w, true, nil
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(w.GitDir, link)
	}
	w.Root = filepath.Dir(filepath.Clean(link))
	w.look(filepath.Clean(link))
	return w, true, nil
}

// look determines whether a linked worktree is at its recorded path.
func (w *Worktree) look(link string) {
	_, err := os.Lstat(link)
	_, above := os.Lstat(w.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist) && above == nil:
		w.Unknown = w.Root + " has no .git"
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		w.Unknown = err.Error()
	case err == nil:
		if !leadsTo(link, w.GitDir) {
			w.Unknown = "what is at " + w.Root + " is not it"
		}
	case exists(filepath.Join(w.GitDir, "locked")):
		w.Gone, w.Unknown = true, "it is locked, and nothing is at "+w.Root
	default:
		w.Gone = true
	}
}

// leadsTo reports whether a .git, a directory, a symlink to one or a file that names one, leads to
// a git directory.
func leadsTo(link, gitDir string) bool {
	if info, err := os.Stat(link); err != nil || info.IsDir() {
		return regular.SameFile(link, gitDir)
	}
	target, ok := gitDirOf(link)
	return ok && regular.SameFile(target, gitDir)
}

// gitDirOf returns the git directory that a file .git names.
func gitDirOf(file string) (dir string, ok bool) {
	data, err := gitfile.Read(file)
	dir, ok = strings.CutPrefix(string(data), "gitdir: ")
	if dir = strings.TrimRight(dir, "\r\n"); !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return dir, ok && err == nil
}

// judgeGone asks git which of the worktrees without files it would prune now. Of the others it is
// unknown whether they were deleted or moved, or are on a drive that is not mounted.
func (r *Repo) judgeGone(ctx context.Context, all []Worktree) error {
	inDoubt := func(w Worktree) bool { return w.Gone && w.Unknown == "" }
	if !slices.ContainsFunc(all, inDoubt) {
		return nil
	}
	forgotten, err := r.prunable(ctx)
	if err != nil {
		return err
	}
	for i, w := range all {
		if inDoubt(w) && !forgotten[w.Root] {
			all[i].Unknown = "nothing is at " + w.Root
		}
	}
	return nil
}

// prunable returns the paths of worktrees that 'git gc' would prune now: those missing for longer
// than gc.worktreePruneExpire.
func (r *Repo) prunable(ctx context.Context) (map[string]bool, error) {
	const key, byDefault = "gc.worktreePruneExpire", "3.months.ago"
	expire, ok, err := r.Config(ctx, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		expire = byDefault
	}
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"worktree", "list", "--porcelain", "--expire=" + expire,
	}})
	if err != nil {
		return nil, err
	}
	places := make(map[string]bool)
	for record := range strings.SplitSeq(string(out), "\n\n") {
		lines := strings.Split(record, "\n")
		place, ok := strings.CutPrefix(lines[0], "worktree ")
		if ok && slices.ContainsFunc(lines, func(line string) bool {
			return line == "prunable" || strings.HasPrefix(line, "prunable ")
		}) {
			places[filepath.Clean(place)] = true
		}
	}
	return places, nil
}

// exists is for callers that may treat an error as absence.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
