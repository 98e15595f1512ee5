package stage

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
)

// A closureSource is the working tree with a store that has only the blobs of some closures, so
// that the cost of a check depends on them alone.
type closureSource struct {
	check.Source
	survey *survey
	store  string
	files  []storeFile             // those that exist, sorted by path
	absent map[string]gitint.Entry // those of them that have no file in the working tree

	mu   sync.Mutex
	seen map[string]gitint.OID // blobs that were read
}

// A storeFile is the file at the path of a blob.
type storeFile struct {
	path string // from the root
	mode fs.FileMode
}

func newClosureSource(ctx context.Context, s *survey, closures []*closure) *closureSource {
	src := &closureSource{
		Source: check.FS(check.WorkTreeName, s.fsys, s.req.Repo.Limits()), survey: s,
		store: s.req.Dir + "/" + blobs.Dir, seen: map[string]gitint.OID{},
		absent: map[string]gitint.Entry{},
	}
	known := map[blobs.Hash]bool{}
	for _, c := range closures {
		for _, at := range c.refs {
			switch h := at.Ref.Hash; {
			case !at.Counts():
				src.readLoose(at.Ref)
			case !known[h]:
				known[h] = true
				src.add(ctx, s.blobPath(h))
			}
		}
	}
	slices.SortFunc(src.files, func(a, b storeFile) int { return strings.Compare(a.path, b.path) })
	return src
}

func (src *closureSource) add(ctx context.Context, name string) {
	if info, err := fs.Lstat(src.survey.fsys, name); err == nil {
		src.files = append(src.files, storeFile{name, info.Mode().Type()})
		return
	}
	if e, ok := src.survey.leftOut(ctx, name); ok {
		src.files = append(src.files, storeFile{name, 0})
		if !e.OID.IsZero() {
			src.absent[name] = e
		}
	}
}

// IsLazy reports that blobs that a lazy clone leaves out count as present.
func (src *closureSource) IsLazy(context.Context) bool { return len(src.survey.left) > 0 }

// Lost returns the blobs that have no file and whose objects are neither here nor on a remote.
func (src *closureSource) Lost(ctx context.Context, files []check.File) ([]check.File, error) {
	var entries []gitint.Entry
	for _, f := range files {
		if e, ok := src.absent[f.Path]; ok {
			entries = append(entries, e)
		}
	}
	var all []check.File
	lost, err := src.survey.req.Repo.Unpromised(ctx, entries)
	for _, e := range lost {
		if src.survey.finder.Restore(e.Path) {
			delete(src.absent, e.Path) // it is a file again, which git has to read
			continue
		}
		all = append(all, check.File{Path: e.Path})
	}
	return all, err
}

// readLoose reads content that an object names which is not a reference. It is staged if it exists
// and is intact.
func (src *closureSource) readLoose(ref blobs.Ref) {
	limits := blobs.Limits{MaxBlobBytes: src.survey.req.MaxBlobBytes}
	if limits.Check(ref.Size) != nil {
		return
	}
	name := src.survey.blobPath(ref.Hash)
	data, err := regular.Read(src.survey.fsys, name, src.survey.req.Repo.Limits().Of(name))
	if err == nil && blobs.Verify(data, ref, limits.Max()) == nil {
		src.note(name, data)
	}
}

// List implements [check.Source].
func (src *closureSource) List(dir string) ([]check.Entry, error) {
	if !src.inStore(dir) {
		entries, err := src.Source.List(dir)
		isStore := func(e check.Entry) bool { return e.Name == blobs.Dir }
		below := dir == src.survey.req.Dir && len(src.absent) > 0
		if below && !slices.ContainsFunc(entries, isStore) {
			entries = append(entries, check.Entry{Name: blobs.Dir, Mode: fs.ModeDir})
		}
		return src.identified(dir, entries), err
	}
	var entries []check.Entry
	for _, f := range src.below(dir) {
		name, _, deeper := strings.Cut(f.path[len(dir)+1:], "/")
		e := check.Entry{Name: name, Mode: f.mode}
		if deeper {
			e.Mode = fs.ModeDir
		}
		if n := len(entries); n == 0 || entries[n-1] != e {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// OpenFolder opens a directory of the working tree that is not in the store.
func (src *closureSource) OpenFolder(dir string) (*regular.Folder, error) {
	if src.inStore(dir) {
		return nil, nil // no folder, as of sources of other files
	}
	return src.survey.fsys.OpenFolder(dir)
}

// identified sets the ids of the files of a directory that were read.
func (src *closureSource) identified(dir string, entries []check.Entry) []check.Entry {
	d, ok := src.survey.fsys.known[dir]
	if !ok {
		return entries
	}
	for i, e := range entries {
		entries[i].ID = d.files[e.Name].id
	}
	return entries
}

// Walk implements [check.Walker].
func (src *closureSource) Walk(ctx context.Context, dir string, f func(check.Entry)) error {
	if !src.inStore(dir) {
		if w, ok := src.Source.(check.Walker); ok {
			return w.Walk(ctx, dir, f)
		}
		return fmt.Errorf("walk %s: %w", dir, fs.ErrInvalid)
	}
	for _, file := range src.below(dir) {
		f(check.Entry{Name: file.path[len(dir)+1:], Mode: file.mode})
	}
	return ctx.Err()
}

func (src *closureSource) inStore(dir string) bool {
	return dir == src.store || strings.HasPrefix(dir, src.store+"/")
}

// below returns the files below a directory of the store.
func (src *closureSource) below(dir string) []storeFile {
	search := func(name string) int {
		i, _ := slices.BinarySearchFunc(src.files, name, func(f storeFile, name string) int {
			return strings.Compare(f.path, name)
		})
		return i
	}
	return src.files[search(dir+"/"):search(dir+"0")] // '0' comes after '/'
}

// ReadFile records which object a blob would be.
func (src *closureSource) ReadFile(name string) ([]byte, error) {
	data, err := src.survey.fsys.again(name)
	if err == nil && src.inStore(path.Dir(name)) {
		src.note(name, data)
	}
	return data, err
}

func (src *closureSource) note(name string, data []byte) {
	oid := src.survey.req.Repo.HashBlob(data)
	src.mu.Lock()
	defer src.mu.Unlock()
	src.seen[name] = oid
}
