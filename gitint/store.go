package gitint

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

// A store reads the SHA-1 objects of some directories in this process, one at a time. It knows the
// size of each object before it decompresses it, also of the bases of deltas.
type store struct {
	dirs    []string
	packs   *packs
	reader  *packReader // nil before the first read
	leave   func()      // releases the packs of reader
	listed  []time.Time // times of the pack directories before reader was made
	missed  error       // why not all packs could be opened
	inflate inflater    // of loose objects
}

// read returns an object of at most limit bytes. The error is object.ErrMissing only if no directory has
// it now.
func (s *store) read(id OID, limit int64) (obj object.Object, err error) {
	fits := func(n int64) error {
		switch {
		case n > limit:
			return &ObjectSizeError{OID: id, Size: n, Max: limit}
		case n > maxPacked:
			return errForGit
		}
		return nil
	}
	err = s.ask(id, func(l *looseObject) error {
		if err := fits(l.size); err != nil {
			return err
		}
		obj = object.Object{Kind: l.kind, Data: make([]byte, l.size)}
		_, err := io.ReadFull(l, obj.Data)
		return errors.Join(err, obj.Verify(id))
	}, func(at packAddress) error {
		n, err := s.reader.size(at)
		if err := errors.Join(err, fits(n)); err != nil {
			return err
		}
		if obj, err = s.reader.read(at); err != nil {
			return err
		}
		if obj.Kind != object.KindBlob {
			obj.Data = slices.Clone(obj.Data) // it may be the base of others
		}
		return obj.Verify(id)
	})
	if err != nil {
		return object.Object{}, err
	}
	return obj, nil
}

// size returns only the size.
func (s *store) size(id OID) (n int64, err error) {
	err = s.ask(id, func(l *looseObject) error {
		n = l.size
		return nil
	}, func(at packAddress) error {
		n, err = s.reader.size(at)
		return err
	})
	return n, err
}

// has checks only the presence.
func (s *store) has(id OID) error {
	return s.ask(id,
		func(*looseObject) error { return nil }, func(packAddress) error { return nil })
}

// ask calls loose with a loose object, or packed with its position in a pack. If it is in neither,
// ask searches again as long as there are other packs than before.
func (s *store) ask(
	id OID, loose func(*looseObject) error, packed func(packAddress) error,
) (err error) {
	for range reopens {
		s.open()
		err = s.askLoose(id, loose)
		if errors.Is(err, object.ErrMissing) {
			err = s.askPacked(id, packed)
		}
		if err == nil || isTooLarge(err) || !s.changed() {
			return err
		}
		s.close()
	}
	return err
}

func (s *store) askPacked(id OID, packed func(packAddress) error) error {
	places, _ := findPacked(s.reader.packs, []OID{id})
	if len(places) == 0 {
		return cmp.Or(s.missed, object.ErrMissing)
	}
	return packed(packAddress{places[0].pack, places[0].offset})
}

func (s *store) open() {
	if s.reader != nil {
		return
	}
	s.listed = packTimes(s.dirs) // before the packs, to notice changes in between
	var all []*pack
	all, s.leave, s.missed = s.packs.use(s.dirs)
	s.reader = newPackReader(all)
}

func (s *store) changed() bool {
	return !slices.EqualFunc(s.listed, packTimes(s.dirs), time.Time.Equal)
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

func (s *store) close() {
	if s.reader != nil {
		s.leave()
		s.reader = nil
	}
}

func isTooLarge(err error) bool {
	_, is := errors.AsType[*ObjectSizeError](err)
	return is
}

// A looseObject is a loose object whose header was read.
type looseObject struct {
	kind string
	size int64
	io.Reader
}

// askLoose opens the file of an object in the first directory that has it.
func (s *store) askLoose(id OID, f func(*looseObject) error) error {
	name := id.String()
	for _, dir := range s.dirs {
		file, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l, err := s.looseHead(file)
		if err == nil {
			err = f(l)
		}
		return errors.Join(err, file.Close())
	}
	return object.ErrMissing
}

// looseHead parses "<kind> <size> NUL".
func (s *store) looseHead(file *os.File) (*looseObject, error) {
	out, err := s.inflate.from(file)
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
	known := slices.Contains([]string{object.KindBlob, object.KindTree, object.KindCommit, object.KindTag}, kind)
	if err != nil || size < 0 || !known {
		return nil, errLoose
	}
	return &looseObject{kind, size, r}, nil
}

// HashBlob returns the id of a blob with this content in the repository, whether it exists or not.
func (r *Repo) HashBlob(content []byte) OID {
	return object.Object{Kind: object.KindBlob, Data: content}.ID(r.idSize())
}
