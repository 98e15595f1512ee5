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
	p, err := r.placement(ctx, r.commonDir)
	if err != nil {
		return nil, err
	}
	all := r.mainWorktrees(p)
	entries, err := os.ReadDir(filepath.Join(r.commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		w, ok, err := r.linkedWorktree(e.Name())
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		all = append(all, w)
		if !p.each {
			continue
		}
		own, err := r.placement(ctx, w.GitDir)
		if err != nil {
			return nil, err
		}
		all = own.extend(all, w)
	}
	return all, r.judgeGone(ctx, all)
}

// withOwn adds the worktree in which this program runs, if it is missing. Git's record of it can be
// outdated, after a move or on another mount point, and GIT_DIR and GIT_WORK_TREE can combine any
// two directories.
func (r *Repo) withOwn(all []Worktree) []Worktree {
	own := Worktree{GitDir: r.gitDir, Root: r.root, Unknown: "git does not list " + r.root}
	if r.root == "" || own.isListed(all) {
		return all
	}
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

// mainWorktrees returns the working tree of the common git directory: the one beside it, and the
// one that its configuration names. There is one more if a symlink or a .git file leads from
// another directory to the repository.
func (r *Repo) mainWorktrees(p placement) []Worktree {
	var all []Worktree
	if filepath.Base(r.commonDir) == ".git" {
		all = append(all, Worktree{GitDir: r.commonDir, Root: filepath.Dir(r.commonDir)})
	}
	all = p.extend(all, Worktree{GitDir: r.commonDir})
	own := Worktree{GitDir: r.gitDir, Root: r.root}
	if r.gitDir == r.commonDir && r.root != "" && !own.isListed(all) &&
		leadsTo(filepath.Join(r.root, ".git"), r.gitDir) {
		all = append(all, own)
	}
	if len(all) == 0 {
		w := Worktree{GitDir: r.commonDir}
		if !p.bare {
			w.Unknown = "nothing says where it is"
		}
		all = append(all, w)
	}
	return all
}

// isListed reports whether a list has the worktree at the same place.
func (w Worktree) isListed(all []Worktree) bool {
	return slices.ContainsFunc(all, func(v Worktree) bool {
		return v.GitDir == w.GitDir && regular.SameFile(v.Root, w.Root)
	})
}

// A placement is what the configuration of a git directory says about its working tree.
type placement struct {
	root string // "" if it is where the git directory records it
	bare bool
	each bool // every linked worktree has a configuration of its own
}

// extend adds the configured place of a worktree. It does not replace the recorded one: what is
// there becomes the working tree again when the setting goes.
func (p placement) extend(all []Worktree, w Worktree) []Worktree {
	w.Root, w.Gone, w.Unknown = p.root, false, ""
	if w.Root == "" || w.isListed(all) {
		return all
	}
	if _, err := os.Lstat(w.Root); errors.Is(err, fs.ErrNotExist) {
		w.Gone, w.Unknown = true, "nothing is at "+w.Root
	}
	return append(all, w)
}

// placement reads the configuration of a git directory as git does to find its working tree:
// without that of the user and of the command line, which is not about one repository, and without
// included files. That of a linked worktree counts only if every one has its own.
func (r *Repo) placement(ctx context.Context, gitDir string) (p placement, err error) {
	if r.plain {
		return p, nil
	}
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		// Otherwise git would change to the directory in core.worktree, which may fail.
		"--git-dir=" + gitDir, "--work-tree=" + r.git.Dir,
		"config", "-z", "--no-includes", "--show-scope", "--get-regexp",
		`^(core\.(bare|worktree)|extensions\.worktreeconfig)$`,
	}})
	if err != nil && git.ExitCode(err) != 1 {
		return p, fmt.Errorf("read the configuration of %s: %w", gitDir, err)
	}
	for pair := range slices.Chunk(splitZ(out), 2) {
		if scope := pair[0]; scope != "local" && scope != "worktree" || len(pair) != 2 {
			continue
		}
		switch key, value, hasValue := strings.Cut(pair[1], "\n"); key {
		case "core.bare":
			p.bare = !hasValue || !isFalse(value)
		case "core.worktree":
			p.root = value
		default:
			p.each = !hasValue || !isFalse(value)
		}
	}
	if p.root != "" && !filepath.IsAbs(p.root) {
		p.root = filepath.Join(gitDir, p.root)
	}
	if p.root != "" {
		p.root = filepath.Clean(p.root)
	}
	return p, nil
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
	case regular.Exists(filepath.Join(w.GitDir, "locked")):
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

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
