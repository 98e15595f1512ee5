package recheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/git-jp/git-jp/internal/regular"
)

const (
	// few is up to how many objects at once are read in this process. A git that is started for
	// them costs as much as a hundred; for more it is faster, and keeps less of them.
	few = 100
	// cached bounds what go-git keeps of what it has read, and largest is the size of the
	// largest object that is read whole. Others git gives us in pieces.
	cached  = 16 * cache.MiByte
	largest = 8 << 20
)

// A goGit reads a few objects with go-git, and through git many, and whatever go-git cannot read:
// it is not asked any more when it has not exactly the content that a name says.
type goGit struct {
	git     *git
	few     int
	storage *filesystem.ObjectStorage // nil where git reads everything
}

// objectsDir is how go-git wants a directory of objects to be called.
const objectsDir = "objects"

// newGoGit reads the objects of a directory. It knows one format of names.
func newGoGit(g *git, dir string, few int) *goGit {
	s := &goGit{git: g, few: few}
	if g.format == "sha1" && filepath.Base(dir) == objectsDir {
		files := objectFiles{osfs.New(filepath.Dir(dir))}
		s.storage = filesystem.NewObjectStorageWithOptions(dotgit.New(files),
			cache.NewObjectLRU(cached),
			filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: largest})
	}
	return s
}

// objectFiles hides from go-git where it looks for objects and git does not: in what somebody is
// pushing, and in other directories than those that are meant by the list of alternates.
type objectFiles struct{ billy.Filesystem }

// ReadDir implements billy.Dir.
func (f objectFiles) ReadDir(name string) ([]fs.FileInfo, error) {
	if name == objectsDir {
		return nil, nil
	}
	return f.Filesystem.ReadDir(name)
}

// Open implements billy.Basic.
func (f objectFiles) Open(name string) (billy.File, error) {
	if filepath.Base(name) == "alternates" {
		return nil, fs.ErrNotExist
	}
	return f.Filesystem.Open(name)
}

// objects implements reader.
func (s *goGit) objects(
	ctx context.Context, ids []oid, f func(i int, kind string, r io.Reader) error,
) error {
	if len(ids) > s.few {
		return s.git.objects(ctx, ids, f)
	}
	for i, id := range ids {
		kind, content, ok := s.object(id)
		if !ok {
			s.close()
			return s.git.objects(ctx, ids[i:], func(j int, kind string, r io.Reader) error {
				return f(i+j, kind, r)
			})
		}
		err := errors.Join(ctx.Err(), f(i, kind, bytes.NewReader(content)))
		if err != nil {
			return &objectError{id, err}
		}
	}
	return nil
}

// object returns an object that go-git has, of the right content.
func (s *goGit) object(id oid) (kind string, content []byte, ok bool) {
	if s.storage == nil {
		return "", nil, false
	}
	found, err := s.storage.EncodedObject(plumbing.AnyObject, plumbing.Hash([]byte(id)))
	if err != nil || found.Size() > largest {
		return "", nil, false
	}
	r, err := found.Reader()
	if err != nil {
		return "", nil, false
	}
	content, err = regular.ReadAll(r, largest)
	err = errors.Join(err, r.Close())
	kind = found.Type().String()
	sum := s.git.objectHash(kind, int64(len(content)))
	sum.Write(content)
	return kind, content, err == nil && oid(sum.Sum(nil)) == id
}

// close closes the files of go-git. Nothing was written to them.
func (s *goGit) close() {
	if s.storage != nil {
		_ = s.storage.Close()
	}
	s.storage = nil
}
