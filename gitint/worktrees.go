package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Worktree is one of the work trees of a repository.
type Worktree struct {
	// Name is "" for the main one, else that of its directory in worktrees.
	Name string
	// GitDir is the absolute path of its part of the repository.
	GitDir string
	// Root is its absolute path; empty when the main one is bare or cannot be found.
	Root string
	// Gone says that there is nothing at Root. Its HEAD, refs and index are still there.
	Gone bool
	// Unknown says why its files cannot be looked at, "" when they can or are gone.
	Unknown string
}

// Index is the path of its index, whatever GIT_INDEX_FILE says.
func (w Worktree) Index() string { return filepath.Join(w.GitDir, "index") }

// Title names the work tree for people.
func (w Worktree) Title() string {
	if w.Name == "" {
		return "the main work tree"
	}
	return fmt.Sprintf("work tree %q", w.Name)
}

// Worktrees returns the main work tree, also of a bare repository, and the linked ones,
// also those whose files are gone.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	first, err := r.mainWorktree(ctx)
	if err != nil {
		return nil, fmt.Errorf("list work trees: %w", err)
	}
	all := []Worktree{first}
	entries, err := os.ReadDir(filepath.Join(r.commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list work trees: %w", err)
	}
	for _, e := range entries {
		w, ok, err := r.linkedWorktree(e.Name())
		if err != nil {
			return nil, fmt.Errorf("list work trees: %w", err)
		}
		if ok {
			all = append(all, w)
		}
	}
	return all, nil
}

// mainWorktree finds the work tree that belongs to the shared part. Git writes its place
// down only where it is not beside the repository.
func (r *Repo) mainWorktree(ctx context.Context) (Worktree, error) {
	w := Worktree{GitDir: r.commonDir}
	if r.gitDir == r.commonDir {
		w.Root = r.root
		if r.root == "" && !r.bare {
			w.Unknown = "asked from inside the repository's own directory"
		}
		return w, nil
	}
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
	case filepath.Base(r.commonDir) == ".git":
		w.Root = filepath.Dir(r.commonDir)
	default:
		w.Unknown = "nothing says where it is"
		return w, nil
	}
	_, err = os.Lstat(w.Root)
	w.Gone = errors.Is(err, fs.ErrNotExist)
	return w, nil
}

// commonConfig is the value of a key as the main work tree sees it, "" when there is none.
func (r *Repo) commonConfig(ctx context.Context, key string) (string, error) {
	out, err := r.run(ctx, command{args: []string{
		"--git-dir=" + r.commonDir, "config", "--get", key,
	}})
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// linkedWorktree reads one directory in worktrees; false when it is none, or just goes.
func (r *Repo) linkedWorktree(name string) (Worktree, bool, error) {
	w := Worktree{Name: name, GitDir: filepath.Join(r.commonDir, "worktrees", name)}
	if info, err := os.Stat(w.GitDir); err != nil || !info.IsDir() {
		return w, false, ignoreMissing(err)
	}
	data, err := os.ReadFile(filepath.Join(w.GitDir, "gitdir"))
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
	if _, err := os.Lstat(link); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return w, true, nil
	}
	w.Gone = true
	if _, err := os.Lstat(filepath.Join(w.GitDir, "locked")); err == nil {
		w.Unknown = "it is locked, and nothing is at " + w.Root
	}
	return w, true, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
