package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// stores searches directories of blobs: those of other worktrees, the user-local one, and the
// quarantine of garbage collection.
func (s *search) stores(ctx context.Context) error {
	s.storesIn(s.storeDirs(ctx))
	return nil
}

func (s *search) storesIn(dirs []storeDir) {
	for _, at := range dirs {
		for _, h := range s.hashes() {
			name := h.Path()
			if at.flat {
				name = h.String()
			}
			file := filepath.Join(at.dir, filepath.FromSlash(name))
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				s.add(Find{Ref: blobs.Ref{Hash: h}, Place: at.place, Where: file, file: file})
			}
		}
	}
}

// A storeDir is a directory with blobs; a flat one has no subdirectories.
type storeDir struct {
	dir   string
	place Place
	flat  bool
}

func (s *search) storeDirs(ctx context.Context) []storeDir {
	all := []storeDir{{s.Workspace.Blobs().Dir(), PlaceStore, false}}
	var trash []string
	if userLocal := s.Workspace.UserDir(); userLocal != "" {
		dir := filepath.Join(userLocal, blobs.Dir)
		all = append(all, storeDir{dir, PlaceStore, false})
		trash = append(trash, filepath.Join(dir, ".tmp", "trash"))
	}
	for _, w := range s.worktrees(ctx) {
		all = append(all, storeDir{filepath.Join(w.Root, s.own, blobs.Dir), PlaceStore, false})
	}
	if s.Repo != nil {
		trash = append(trash, filepath.Join(s.Repo.Dir(), "trash"))
	}
	for _, dir := range trash {
		runs, _ := os.ReadDir(dir) // a missing directory has no runs
		for _, r := range runs {
			all = append(all, storeDir{
				filepath.Join(dir, r.Name(), "files"), PlaceQuarantine, true,
			}, storeDir{
				filepath.Join(dir, r.Name(), blobs.Dir), PlaceQuarantine, false,
			})
		}
	}
	return all
}

// worktrees returns the other worktrees that have files. A search does not fail if they cannot be
// listed.
func (s *search) worktrees(ctx context.Context) []gitint.Worktree {
	if s.Repo == nil {
		return nil
	}
	all, err := s.Repo.Worktrees(ctx)
	if err != nil {
		return nil
	}
	return lists.Filter(all, func(w gitint.Worktree) bool {
		return w.Root != "" && !w.Gone && w.Unknown == "" && w.Root != s.Repo.Root()
	})
}

// indexes searches the index of every worktree, including all stages of a conflict.
func (s *search) indexes(ctx context.Context) error {
	if s.Repo == nil {
		return nil
	}
	own, err := s.Repo.Index(ctx)
	if err != nil {
		return err
	}
	s.index(own)
	all, err := s.Repo.Worktrees(ctx)
	for _, w := range all {
		if x, err := s.Repo.IndexOf(ctx, w); err == nil {
			s.index(x)
		}
	}
	return err
}

func (s *search) index(x *gitint.Index) {
	s.snapshot(x, Find{Place: PlaceIndex})
	for _, e := range x.Stages() {
		if h, ok := s.hashOf(e.Path); ok {
			s.add(Find{Ref: blobs.Ref{Hash: h}, Place: PlaceIndex, Where: e.Path, object: e.OID})
		}
	}
}

// snapshot searches the store of a commit or an index, which at names.
func (s *search) snapshot(snap gitint.Snapshot, at Find) {
	for _, h := range s.hashes() {
		name := path.Join(s.own, blobs.Dir, h.Path())
		if id, ok := snap.OID(name); ok {
			at.Hash, at.Where, at.object = h, name, id
			s.add(at)
		}
	}
}

// hashOf returns the hash of the blob at a path of a repository, in any workspace, if it is lost.
func (s *search) hashOf(name string) (blobs.Hash, bool) {
	const parts = 3 // of the path of a blob in a store
	all := strings.Split(name, "/")
	if len(all) < parts {
		return blobs.Hash{}, false
	}
	h, ok := blobs.ParsePath(strings.Join(all[len(all)-parts:], "/"))
	if ok {
		_, ok = s.lost[h]
	}
	return h, ok
}

// maxParents bounds how many parents of HEAD are examined.
const maxParents = 8

// heads searches HEAD and its parents, and the commits of a merge or rebase in progress.
func (s *search) heads(ctx context.Context) error {
	if s.Repo == nil {
		return nil
	}
	revs := []string{"HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"}
	if head, err := s.Repo.Resolve(ctx, "HEAD"); err == nil {
		parents, err := s.Repo.Parents(ctx, head)
		if err != nil {
			return err
		}
		for _, p := range parents[:min(len(parents), maxParents)] {
			revs = append(revs, p.String())
		}
	}
	for _, rev := range revs {
		t, err := s.Repo.Tree(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue
		}
		if err != nil {
			return err
		}
		commit, _ := s.Repo.Resolve(ctx, rev) // known: it has a tree
		s.snapshot(t, Find{Place: PlaceCommit, Commit: commit})
	}
	return nil
}

// copies searches streams in files: the user-local copies, those of other worktrees, and jp's
// trash. Such a stream may hold inline what ours refers to.
func (s *search) copies(ctx context.Context) error {
	dirs := []string{s.Workspace.Dir()}
	if userLocal := s.Workspace.UserDir(); userLocal != "" {
		dirs = append(dirs, userLocal)
	}
	for _, w := range s.worktrees(ctx) {
		dirs = append(dirs, filepath.Join(w.Root, s.own))
	}
	return s.copiesBelow(ctx, dirs)
}

// neighbours searches the stores and streams of the other workspaces of this and other worktrees: a
// conversation may have been moved or copied from there by hand.
func (s *search) neighbours(ctx context.Context) error {
	if s.Repo == nil {
		return nil
	}
	roots := []string{s.Repo.Root()}
	for _, w := range s.worktrees(ctx) {
		roots = append(roots, w.Root)
	}
	var stores []storeDir
	var dirs []string
	var faults []error
	for _, root := range roots {
		found, err := workspace.FindAll(root)
		faults = append(faults, err)
		for _, one := range found {
			dir := filepath.Join(one, workspace.DirName)
			if pathIn(root, dir) != s.own {
				stores = append(stores, storeDir{filepath.Join(dir, blobs.Dir), PlaceStore, false})
				dirs = append(dirs, dir)
			}
		}
	}
	s.storesIn(stores)
	return errors.Join(append(faults, s.copiesBelow(ctx, dirs))...)
}

// copiesBelow searches the streams below directories .jp.
func (s *search) copiesBelow(ctx context.Context, dirs []string) error {
	for _, dir := range dirs {
		for _, below := range []string{"conversations", archiveDir, trashDir} {
			if err := s.copiesIn(filepath.Join(dir, filepath.FromSlash(below))); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

const (
	archiveDir = "conversations/.archive"
	trashDir   = "conversations/.trash" // where jp moves what it cannot read
)

func (s *search) copiesIn(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		id, ok := events.ParseDirname(e.Name())
		if !ok || !e.IsDir() || !s.wanted(id) {
			continue
		}
		file := filepath.Join(dir, e.Name(), workspace.EventsFile)
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
			s.add(Find{Place: PlaceStream, Where: file, file: file})
		}
	}
	return nil
}
