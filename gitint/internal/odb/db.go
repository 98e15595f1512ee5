package odb

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// reopens limits how often a read is repeated while the repository is being repacked.
const reopens = 3

var (
	// errForGit reports an object that is too large for this process's memory.
	errForGit = errors.New("object is for git to read")
	errLoose  = errors.New("cannot read the object's file")
)

// A DB reads the SHA-1 objects of some directories.
type DB struct {
	dirs  []string
	packs packs

	mu      sync.Mutex  // one read at a time, except for those of many objects
	reader  *packReader // nil before the first read
	leave   func()      // releases the packs of reader
	listed  []time.Time // times of the pack directories before reader was made
	missed  error       // why not all packs could be opened
	inflate inflater    // of loose objects
}

// Open returns the objects of some directories, which [Dirs] finds. It opens no file.
func Open(dirs []string) *DB { return &DB{dirs: dirs} }

// Read returns an object of at most limit bytes. A larger one is an [*object.SizeError]. The error
// is [object.ErrMissing] only if no directory has the object now.
func (d *DB) Read(id object.ID, limit int64) (obj object.Object, err error) {
	err = d.ask(id, func(l *looseObject) error {
		obj, err = l.read(id, limit)
		return err
	}, func(at packAddress) error {
		n, err := d.reader.size(at)
		if err := errors.Join(err, fits(id, n, limit)); err != nil {
			return err
		}
		if obj, err = d.reader.read(at); err != nil {
			return err
		}
		obj.Data = obj.Own() // it may be the base of others
		return obj.Verify(id)
	})
	if err != nil {
		return object.Object{}, err
	}
	return obj, nil
}

// fits returns an error for an object that is not read here.
func fits(id object.ID, size, limit int64) error {
	switch {
	case size > limit:
		return &object.SizeError{OID: id, Size: size, Max: limit}
	case size > maxPacked:
		return errForGit
	}
	return nil
}

// Loose returns an object that has a file of its own and is not large. It opens no pack: an open
// one keeps what is deleted from it.
func (d *DB) Loose(id object.ID) (obj object.Object, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = d.askLoose(id, func(l *looseObject) error {
		obj, err = l.read(id, maxPacked)
		return err
	})
	return obj, err
}

// Size returns the size of an object, which it does not decompress.
func (d *DB) Size(id object.ID) (n int64, err error) {
	err = d.ask(id, func(l *looseObject) error {
		n = l.size
		return nil
	}, func(at packAddress) error {
		n, err = d.reader.size(at)
		return err
	})
	return n, err
}

// Find returns nil for an object that is in a pack or has a file, whatever that contains.
func (d *DB) Find(id object.ID) error {
	return d.ask(id,
		func(*looseObject) error { return nil }, func(packAddress) error { return nil })
}

// ask calls loose with a loose object, or packed with its position in a pack. If it is in neither,
// ask searches again as long as there are other packs than before.
func (d *DB) ask(
	id object.ID, loose func(*looseObject) error, packed func(packAddress) error,
) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for range reopens {
		d.open()
		err = d.askLoose(id, loose)
		if errors.Is(err, object.ErrMissing) {
			err = d.askPacked(id, packed)
		}
		if err == nil || object.IsTooLarge(err) || !d.changed() {
			return err
		}
		d.release()
	}
	return err
}

func (d *DB) askPacked(id object.ID, packed func(packAddress) error) error {
	places, _ := findPacked(d.reader.packs, []object.ID{id})
	if len(places) == 0 {
		return cmp.Or(d.missed, object.ErrMissing)
	}
	return packed(packAddress{places[0].pack, places[0].offset})
}

func (d *DB) open() {
	if d.reader != nil {
		return
	}
	d.listed = packTimes(d.dirs) // before the packs, to notice changes in between
	var all []*pack
	all, d.leave, d.missed = d.packs.use(d.dirs)
	d.reader = newPackReader(all)
}

func (d *DB) changed() bool {
	return !slices.EqualFunc(d.listed, packTimes(d.dirs), time.Time.Equal)
}

// packTimes returns the times of the last changes to the pack directories.
func packTimes(dirs []string) []time.Time {
	times := make([]time.Time, len(dirs))
	for i, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, "pack")); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

func (d *DB) release() {
	if d.reader != nil {
		d.leave()
		d.reader = nil
	}
}

// Close closes the files that are kept open. A later read opens them again.
func (d *DB) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.release()
	d.packs.close()
}

// A looseObject is a loose object whose header was read.
type looseObject struct {
	kind string
	size int64
	io.Reader
}

// read returns the object, of at most limit bytes.
func (l *looseObject) read(id object.ID, limit int64) (object.Object, error) {
	if err := fits(id, l.size, limit); err != nil {
		return object.Object{}, err
	}
	obj := object.Object{Kind: l.kind, Data: make([]byte, l.size)}
	_, err := io.ReadFull(l, obj.Data)
	return obj, errors.Join(err, obj.Verify(id))
}

// askLoose opens the file of an object in the first directory that has it.
func (d *DB) askLoose(id object.ID, f func(*looseObject) error) error {
	name := id.String()
	for _, dir := range d.dirs {
		file, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l, err := d.looseHead(file)
		if err == nil {
			err = f(l)
		}
		return errors.Join(err, file.Close())
	}
	return object.ErrMissing
}

// looseHead parses "<kind> <size> NUL".
func (d *DB) looseHead(file *os.File) (*looseObject, error) {
	out, err := d.inflate.from(file)
	if err != nil {
		return nil, err
	}
	const longest = 32
	r := bufio.NewReaderSize(out, longest)
	head, err := r.ReadSlice(0)
	if err != nil {
		return nil, errors.Join(errLoose, err)
	}
	kind, digits, _ := strings.Cut(string(bytes.TrimSuffix(head, []byte{0})), " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 || !slices.Contains(packKinds[:], kind) {
		return nil, errLoose
	}
	return &looseObject{kind, size, r}, nil
}
