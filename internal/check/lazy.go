package check

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/spare"
)

// LeftOut returns the snapshots that have the blobs which the working tree of a lazy clone leaves
// out, in the order in which they are searched; for every other clone it returns none. HEAD comes
// first, because reading a few small trees is enough. The index has many entries, so the part that
// HEAD does not have is only read when needed.
func LeftOut(ctx context.Context, repo *gitint.Repo) ([]gitint.Snapshot, error) {
	lazy, err := repo.Lazy(ctx)
	if err != nil || !lazy {
		return nil, err
	}
	head, err := repo.Tree(ctx, "HEAD")
	if errors.Is(err, gitint.ErrUnknownRevision) {
		index, err := repo.Index(ctx)
		return []gitint.Snapshot{index}, err
	}
	index := gitint.Later(IndexName, func() (gitint.Snapshot, error) {
		return repo.IndexBeyond(ctx, head, func(path []byte) bool {
			return bytes.Contains(path, []byte(".jp/"+blobs.Dir+"/"))
		})
	})
	return []gitint.Snapshot{head, index}, err
}

// LeftOutOf is [LeftOut] for [Options.LeftOut] of a check of the files below a directory of the
// working tree. The repository may be nil.
func LeftOutOf(ctx context.Context, repo *gitint.Repo, root string) (all []Source, err error) {
	if repo == nil {
		return nil, nil
	}
	snapshots, err := LeftOut(ctx, repo)
	if err != nil || len(snapshots) == 0 {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	dir, err := filepath.Rel(repo.Root(), root)
	for _, snap := range snapshots {
		all = append(all, &gitSource{snap, repo.AtOnce(), repo, filepath.ToSlash(dir), true})
	}
	return append(all, found{spare.NewFinder(repo), repo, filepath.ToSlash(dir)}), err
}

// A seeker is a Source that may have blobs which no listing of it has.
type seeker interface {
	// Seek looks for a file by its path.
	Seek(ctx context.Context, name string) (Entry, bool)
}

// found is the source of what a [spare.Finder] finds: nothing until it is asked for.
type found struct {
	finder *spare.Finder
	repo   *gitint.Repo
	dir    string // as in gitSource
}

var _ seeker = found{}

// Name implements [Source].
func (found) Name() string { return WorkTreeName }

// List implements [Source].
func (found) List(string) ([]Entry, error) { return nil, nil }

// Sizes implements [Source].
func (found) Sizes(_ context.Context, files []File) ([]int64, error) {
	return slices.Repeat([]int64{-1}, len(files)), nil
}

// Seek implements seeker.
func (s found) Seek(ctx context.Context, name string) (Entry, bool) {
	id, ok := s.finder.Find(ctx, path.Join(s.dir, name))
	return Entry{ID: id}, ok
}

// ReadFile implements [Source].
func (s found) ReadFile(name string) ([]byte, error) {
	ctx := context.Background() // nothing is fetched
	name = path.Join(s.dir, name)
	switch id, ok := s.finder.Find(ctx, name); {
	case !ok:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	case id.IsZero():
		return s.finder.File(name)
	default:
		return s.repo.ReadObject(ctx, id, 0)
	}
}

// IsAway reports whether reading a file failed because its content is only at a remote.
func IsAway(err error) bool {
	missing, ok := errors.AsType[*gitint.MissingObjectError](err)
	return ok && missing.Promised
}

// A promiser is a Source that may name blobs which are not here but at a remote.
type promiser interface {
	IsLazy(ctx context.Context) bool
	// Lost returns the files whose objects are neither here nor promised by a remote.
	Lost(ctx context.Context, files []File) ([]File, error)
}

// IsLazy reports whether blobs that a source names count as present even if they are not here.
func IsLazy(ctx context.Context, src Source) bool {
	p, ok := src.(promiser)
	return ok && p.IsLazy(ctx)
}

// IsLazy reports whether the repository is a lazy clone.
func (s *gitSource) IsLazy(ctx context.Context) bool {
	lazy, err := s.repo.Lazy(ctx)
	return lazy && err == nil
}

// Lost implements promiser. What is in a directory that a remote has as the source has it is not
// looked for.
func (s *gitSource) Lost(ctx context.Context, files []File) (all []File, err error) {
	if tree, ok := s.Snapshot.(*gitint.Tree); ok && !s.mixed {
		has, err := tree.PromisedDirs(ctx)
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(slices.Clone(files), func(f File) bool {
			return has(path.Dir(s.at(f.Path)))
		})
	}
	entries := make([]gitint.Entry, 0, len(files))
	for _, f := range files {
		if id, ok := s.object(f); ok {
			entries = append(entries, gitint.Entry{Path: s.at(f.Path), OID: id})
		}
	}
	found, err := s.repo.Unpromised(ctx, entries)
	for _, e := range found {
		all = append(all, File{Path: strings.TrimPrefix(e.Path, s.dir+"/")})
	}
	return all, err
}

// unread returns one finding for all content that could not be read because it is not here.
func (v *verifier) unread() []Finding {
	n := v.away.Load()
	if n == 0 || !v.opts.Content {
		return nil
	}
	return []Finding{{
		State: Unchecked, Element: -1,
		Detail: "the content of " + count(int(n), "blob") +
			" is missing locally and was not checked",
		Next: "git jp config set storage.checkout full",
	}}
}

// Lazily returns a working tree together with the files that a lazy clone leaves out of it.
func Lazily(src Source, left []Source) Source {
	if len(left) == 0 {
		return src
	}
	return &lazySource{src, left}
}

// A lazySource is the working tree of a lazy clone with the blobs that it leaves out added.
type lazySource struct {
	Source
	left []Source
}

var (
	_ Walker   = (*lazySource)(nil)
	_ promiser = (*lazySource)(nil)
	_ seeker   = (*lazySource)(nil)
)

// Seek implements seeker.
func (s *lazySource) Seek(ctx context.Context, name string) (Entry, bool) {
	for _, left := range s.left {
		if from, ok := left.(seeker); ok {
			return from.Seek(ctx, name)
		}
	}
	return Entry{}, false
}

// IsLazy implements promiser.
func (*lazySource) IsLazy(context.Context) bool { return true }

// Lost implements promiser. The first source that has a path counts: a file with an id is that of
// the source that listed it.
func (s *lazySource) Lost(ctx context.Context, files []File) (all []File, err error) {
	named, other := byName(files)
	for _, left := range s.left {
		p, ok := left.(promiser)
		if !ok {
			continue
		}
		found, err := p.Lost(ctx, append(pick(files, other), pick(files, named)...))
		if err != nil {
			return nil, err
		}
		all, named = append(all, found...), nil // all sources share one object database
	}
	return s.notElsewhere(ctx, all)
}

// notElsewhere returns the lost files that no other source has under another object either.
func (s *lazySource) notElsewhere(ctx context.Context, lost []File) ([]File, error) {
	for i, f := range lost {
		lost[i] = File{Path: f.Path}
	}
	sizes, err := s.Sizes(ctx, lost)
	var all []File
	for i, size := range sizes {
		if size < 0 && !s.restore(lost[i].Path) {
			all = append(all, lost[i])
		}
	}
	return all, err
}

// restore reports whether a copy of a lost file came back.
func (s *lazySource) restore(name string) bool {
	return slices.ContainsFunc(s.left, func(left Source) bool {
		from, ok := left.(found)
		return ok && from.finder.Restore(path.Join(from.dir, name))
	})
}

// byName separates files with known objects from files with only a path.
func byName(files []File) (named, other []int) {
	for i, f := range files {
		if !f.ID.IsZero() {
			named = append(named, i)
		} else {
			other = append(other, i)
		}
	}
	return named, other
}

func pick(files []File, which []int) []File {
	return lists.Map(which, func(n int) File { return files[n] })
}

// ReadFile implements [Source].
func (s *lazySource) ReadFile(name string) ([]byte, error) {
	data, err := s.Source.ReadFile(name)
	if !errors.Is(err, fs.ErrNotExist) || !leftOut(name, 0) {
		return data, err
	}
	for _, left := range s.left {
		data, leftErr := left.ReadFile(name)
		if leftErr == nil {
			return data, nil
		}
		if IsAway(leftErr) {
			err = leftErr
		}
	}
	return nil, err
}

// OpenFolder opens a directory of the working tree if that has all of it.
func (s *lazySource) OpenFolder(name string) (*regular.Folder, error) {
	if from, ok := s.Source.(openerOfFolders); ok && !leftOut(name, fs.ModeDir) {
		return from.OpenFolder(name)
	}
	return nil, nil // no folder, as of other sources
}

// Sizes implements [Source].
func (s *lazySource) Sizes(ctx context.Context, files []File) ([]int64, error) {
	sizes := slices.Repeat([]int64{-1}, len(files))
	ask := func(src Source, which []int) error {
		found, err := src.Sizes(ctx, pick(files, which))
		for i, size := range found {
			sizes[which[i]] = size
		}
		return err
	}
	named, absent := byName(files)
	err := ask(s.Source, absent)
	for _, left := range s.left {
		if err != nil {
			return nil, err
		}
		absent = slices.DeleteFunc(absent, func(i int) bool {
			return sizes[i] >= 0 || !leftOut(files[i].Path, 0)
		})
		err = ask(left, append(slices.Clone(absent), named...))
		named = nil // all sources share one object database
	}
	return sizes, err
}

// List implements [Source].
func (s *lazySource) List(dir string) ([]Entry, error) {
	if path.Base(dir) != ".jp" && !leftOut(dir, fs.ModeDir) {
		return s.Source.List(dir)
	}
	entries, err := list(s.Source, dir)
	if err != nil {
		return nil, err
	}
	names := lists.Set(lists.Map(entries, func(e Entry) string { return e.Name }))
	for _, left := range s.left {
		found, err := list(left, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !names[e.Name] && leftOut(path.Join(dir, e.Name), e.Mode) {
				names[e.Name] = true
				entries = append(entries, Entry{Name: e.Name, Mode: e.Mode})
			}
		}
	}
	if len(entries) == 0 {
		return s.Source.List(dir) // so that an absent directory is an error
	}
	return entries, nil
}

// leftOut reports whether the working tree leaves out a path, or a path below it.
func leftOut(name string, mode fs.FileMode) bool {
	const store = "/.jp/" + blobs.Dir
	name = "/" + name
	return strings.HasSuffix(name, store) && mode.IsDir() || strings.Contains(name, store+"/")
}

// Walk implements [Walker]. If several sources have a path the first counts, so it is listed last.
// Only directories in a store are incomplete.
func (s *lazySource) Walk(ctx context.Context, dir string, f func(Entry)) error {
	for _, src := range slices.Backward(s.left) {
		if !leftOut(dir, fs.ModeDir) {
			break
		}
		var err error
		switch w := src.(type) {
		case objectSource:
			err = walkInParts(ctx, src, w, dir, f)
		case Walker:
			err = w.Walk(ctx, dir, f)
		}
		if err != nil {
			return err
		}
	}
	if w, ok := s.Source.(Walker); ok {
		return w.Walk(ctx, dir, f)
	}
	return ctx.Err()
}

// walkInParts walks a store in groups of directories to limit memory.
func walkInParts(
	ctx context.Context, src Source, o objectSource, dir string, f func(Entry),
) error {
	top, err := list(src, dir)
	if err != nil {
		return err
	}
	for group := range slices.Chunk(top, partsAtOnce) {
		var dirs, names []string
		for _, e := range group {
			if !e.Mode.IsDir() {
				f(e)
				continue
			}
			dirs, names = append(dirs, path.Join(dir, e.Name)), append(names, e.Name)
		}
		err := o.WalkAll(ctx, dirs, func(i int, e Entry) {
			e.Name = names[i] + "/" + e.Name
			f(e)
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
