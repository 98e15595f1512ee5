package gitint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const (
	// objectCacheSize bounds the objects kept in memory. Reading in the order of
	// discovery, 16 MiB are as fast as 96.
	objectCacheSize = 32 * cache.MiByte
	// reopens is how often one question is asked again of a repository that is
	// being repacked.
	reopens = 3
)

var (
	errNotHere  = errors.New("object not found")
	errTooLarge = errors.New("object too large")
	// errForGit is about what go-git would have in memory several times.
	errForGit = errors.New("object is for git to read")
)

// An object is what is stored under an OID.
type object struct {
	kind string // blob, tree, commit or tag
	data []byte
}

// goStore reads the SHA-1 objects of some directories in this process. It is not
// for several goroutines at once.
type goStore struct {
	paths []string
	cache cache.Object
	dirs  []*objectDir // as of the last opening
}

// objectDir is one directory with the packs it had when it was opened.
type objectDir struct {
	path    string
	storage *filesystem.ObjectStorage
	packs   time.Time // of the directory of packs
}

func newGoStore(paths []string) *goStore {
	return &goStore{paths: paths}
}

// read returns an object of at most limit bytes. The error is errNotHere only when no directory
// has it now.
func (s *goStore) read(id OID, limit int64) (object, error) {
	var obj object
	err := s.ask(func(dir *objectDir) error {
		var err error
		obj, err = dir.read(id, limit)
		return err
	})
	return obj, err
}

// size is read for the size alone.
func (s *goStore) size(id OID) (int64, error) {
	var n int64
	err := s.ask(func(dir *objectDir) error {
		var err error
		n, err = dir.size(plumbing.Hash(id.bytes()))
		return err
	})
	return n, err
}

// has asks for the presence alone.
func (s *goStore) has(id OID) error {
	return s.ask(func(dir *objectDir) error {
		return dir.storage.HasEncodedObject(plumbing.Hash(id.bytes()))
	})
}

// ask puts a question to every directory until one answers. When one fails, or
// has got other packs since it was opened, all are opened again: after an error
// go-git goes on with the part of the packs that it had read, in silence.
func (s *goStore) ask(question func(*objectDir) error) error {
	var err error
	for range reopens {
		s.open()
		err = s.askOnce(question)
		switch {
		case err == nil, errors.Is(err, errTooLarge):
			return err
		case errors.Is(err, errNotHere) && !s.changed():
			return err
		}
		_ = s.close() // files that were only read
	}
	return err
}

func (s *goStore) askOnce(question func(*objectDir) error) error {
	var failed error
	for _, dir := range s.dirs {
		err := question(dir)
		if err == nil || errors.Is(err, errTooLarge) {
			return err
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) && failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return errNotHere
}

func (s *goStore) open() {
	if s.dirs != nil {
		return
	}
	s.cache = cache.NewObjectLRU(objectCacheSize)
	for _, path := range s.paths {
		dir := dotgit.New(objectFS{path})
		s.dirs = append(s.dirs, &objectDir{
			path: path,
			// Before the packs are listed, so that a change in between is seen.
			packs: packTime(path),
			storage: filesystem.NewObjectStorageWithOptions(dir, s.cache,
				filesystem.Options{KeepDescriptors: true}),
		})
	}
}

func (s *goStore) changed() bool {
	for _, dir := range s.dirs {
		if !packTime(dir.path).Equal(dir.packs) {
			return true
		}
	}
	return false
}

func (s *goStore) close() error {
	var errs []error
	for _, dir := range s.dirs {
		errs = append(errs, dir.storage.Close())
	}
	s.dirs = nil
	return errors.Join(errs...)
}

func packTime(objectDir string) time.Time {
	info, err := os.Stat(filepath.Join(objectDir, "pack"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (d *objectDir) read(id OID, limit int64) (object, error) {
	h := plumbing.Hash(id.bytes())
	switch n, err := d.size(h); {
	case err != nil:
		return object{}, err
	case n > limit:
		return object{}, &ObjectSizeError{OID: id, Size: n, Max: limit}
	case n > maxPacked:
		return object{}, errForGit
	}
	encoded, err := d.storage.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return object{}, err
	}
	data, err := content(encoded)
	if err != nil {
		return object{}, err
	}
	obj := object{kind: encoded.Type().String(), data: data}
	return obj, obj.verify(id)
}

// size reads the head of an object in a file of its own here: go-git 5.19 leaves that file open.
func (d *objectDir) size(h plumbing.Hash) (n int64, err error) {
	name := h.String()
	f, err := objectFS{d.path}.Open(filepath.Join("objects", name[:2], name[2:]))
	if errors.Is(err, fs.ErrNotExist) {
		return d.storage.EncodedObjectSize(h)
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := objfile.NewReader(f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	_, n, err = r.Header()
	return n, err
}

func content(encoded plumbing.EncodedObject) ([]byte, error) {
	r, err := encoded.Reader()
	if err != nil {
		return nil, err
	}
	data := make([]byte, encoded.Size())
	_, err = io.ReadFull(r, data)
	return data, errors.Join(err, r.Close())
}

// verify compares the object with its name: neither go-git nor git do so when
// they read.
func (o object) verify(id OID) error {
	if actual := o.id(id.size); actual != id {
		return &CorruptObjectError{OID: id, Reason: "its content is that of " + actual.String()}
	}
	return nil
}

// id is the name of the object in the format with ids of this size.
func (o object) id(size uint8) OID {
	h := newHash(size)
	h.Write([]byte(o.kind + " " + strconv.Itoa(len(o.data)) + "\x00"))
	h.Write(o.data)
	return oidOf(h.Sum(nil))
}
