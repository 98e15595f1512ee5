package gitint

import (
	"bufio"
	"bytes"
	"cmp" //nolint:gosec // what git writes behind an index
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/wholefile"
	"github.com/git-jp/git-jp/internal/regular"
)

// Git reads an index without verifying its checksum: it may read a truncated one as empty, or with
// other entries. So this package verifies every index.

// An indexFile is a verified index as it is stored. It keeps only the wanted entries, so that
// memory grows with these and not with the index.
type indexFile struct {
	version uint32
	entries []indexEntry
	names   []string // of the extensions
	link    []byte   // the extension of a split index, nil if it is none
	trees   []byte   // the cache-tree extension, nil if missing or very large
	sum     []byte   // zeroes with index.skipHash
}

const (
	indexHeader    = 12 // signature, version, number of entries
	indexStat      = 40 // the part of an entry before its object
	indexMode      = 24 // offset of the mode in it
	extensionHead  = 8  // name and size
	assumedFlag    = 0x8000
	extendedFlag   = 0x4000
	stageShift     = 12
	nameLengthMask = 0xfff
	skippedFlag    = 0x4000 // of the second flag word, like the next
	intendedFlag   = 0x2000
	oldestIndex    = 2
	newestIndex    = 4
	indexBuffer    = 1 << 18
	maxIndexTrees  = 1 << 20
)

// errIndexEnds reports that an index is shorter than its content says.
var errIndexEnds = errors.New("it is truncated or damaged: its length does not match")

// errIndexForm reports an unknown form of index.
var errIndexForm = errors.New("its format is unknown")

// summed reports whether git has written a checksum.
func (f *indexFile) summed() bool { return !object.IDOf(f.sum).IsZero() }

// known reports whether the entries are complete: git refuses an index with an unknown extension
// whose name begins in lower case.
func (f *indexFile) known() bool {
	for _, name := range f.names {
		if c := name[0]; (c < 'A' || c > 'Z') && name != "link" && name != "sdir" {
			return false
		}
	}
	return true
}

// An indexReader reads an index from its beginning to its end, once.
type indexReader struct {
	in      *bufio.Reader // without the checksum
	left    int64         // of it
	idSize  int
	version uint32
	name    []byte // of the entry before
	keep    entryFilter
}

// An entryFilter reports whether an entry is wanted, by its fields and its path. It must keep
// neither.
type entryFilter func(e *indexEntry, path []byte) bool

// parseIndexFile reads an index of a size and verifies it: its checksum, and that entries and
// extensions fill it exactly, which is the only check for one without a checksum. It keeps the
// entries that keep accepts, all if that is nil.
func parseIndexFile(
	in io.Reader, size int64, idSize int, keep entryFilter,
) (*indexFile, error) {
	if size < int64(indexHeader+idSize) {
		return nil, errIndexEnds
	}
	sum := object.NewHash(idSize)
	body := io.TeeReader(io.LimitReader(in, size-int64(idSize)), sum)
	r := indexReader{
		in: bufio.NewReaderSize(body, indexBuffer), left: size - int64(idSize),
		idSize: idSize, keep: keep,
	}
	f := new(indexFile)
	failed := r.read(f)
	// A wrong checksum explains all other faults.
	if _, err := io.Copy(io.Discard, r.in); err != nil {
		return nil, err
	}
	f.sum = make([]byte, idSize)
	if _, err := io.ReadFull(in, f.sum); err != nil {
		return nil, errIndexEnds
	}
	if f.summed() && !bytes.Equal(sum.Sum(nil), f.sum) {
		return nil, errors.New("it is truncated or damaged: its checksum does not match")
	}
	return f, failed
}

func (r *indexReader) read(f *indexFile) error {
	head, err := r.take(indexHeader)
	if err != nil {
		return err
	}
	r.version = binary.BigEndian.Uint32(head[4:])
	f.version = r.version
	count := binary.BigEndian.Uint32(head[8:])
	if !bytes.HasPrefix(head, []byte("DIRC")) ||
		r.version < oldestIndex || r.version > newestIndex {
		return errIndexForm
	}
	for range count {
		if err := r.entry(f); err != nil {
			return err
		}
	}
	for r.left > 0 {
		if err := r.extension(f); err != nil {
			return err
		}
	}
	return nil
}

// take returns the next n bytes, at most the size of the buffer. They are valid until the next
// call.
func (r *indexReader) take(n int) ([]byte, error) {
	if int64(n) > r.left {
		return nil, errIndexEnds
	}
	data, err := r.in.Peek(n)
	if err != nil {
		return nil, errIndexEnds
	}
	r.left -= int64(n)
	_, err = r.in.Discard(n)
	return data, err
}

// entry reads an entry. Before version 4 entries end in one to eight zeroes, at a multiple of
// eight; since version 4 they have the length of the prefix that their name shares with the one
// before, and end in one zero.
func (r *indexReader) entry(f *indexFile) error {
	size := indexStat + r.idSize + 2
	data, err := r.take(size)
	if err != nil {
		return err
	}
	mode := object.CanonicalMode(binary.BigEndian.Uint32(data[indexMode:]))
	id := object.IDOf(data[indexStat : indexStat+r.idSize])
	flags, more := binary.BigEndian.Uint16(data[size-2:]), uint16(0)
	if flags&extendedFlag != 0 {
		if data, err = r.take(2); err != nil {
			return err
		}
		more = binary.BigEndian.Uint16(data)
		size += 2
	}
	if err := r.readName(int(flags&nameLengthMask), size); err != nil {
		return err
	}
	e := indexEntry{
		Entry:  Entry{Mode: mode, OID: id},
		stage:  int(flags>>stageShift) & 3,
		pinned: flags&assumedFlag != 0 || more&skippedFlag != 0, assumed: more&skippedFlag == 0,
		intent: more&intendedFlag != 0,
	}
	if r.keep == nil || r.keep(&e, r.name) {
		e.Path = string(r.name)
		f.entries = append(f.entries, e)
	}
	return nil
}

// readName reads the name of an entry and its padding. size bytes of the entry were read before.
// The length is known unless it is the largest that the flags can have.
func (r *indexReader) readName(length, size int) error {
	kept := 0
	if r.version == newestIndex {
		cut, err := r.varint()
		if err != nil || cut > len(r.name) {
			return errIndexEnds
		}
		kept = len(r.name) - cut
	}
	r.name = r.name[:kept]
	if r.version == newestIndex || length == nameLengthMask {
		return r.readZeroed(size)
	}
	data, err := r.take(fill(size+length) - size)
	if err == nil {
		r.name = append(r.name, data[:length]...)
	}
	return err
}

// readZeroed reads a name that ends in a zero.
func (r *indexReader) readZeroed(size int) error {
	length := 0
	for ended := false; !ended; {
		part, err := r.in.ReadSlice(0)
		r.left -= int64(len(part))
		length += len(part)
		if ended = err == nil; ended {
			part = part[:len(part)-1]
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return errIndexEnds
		}
		r.name = append(r.name, part...)
	}
	if r.version == newestIndex {
		return nil
	}
	_, err := r.take(fill(size+length-1) - size - length)
	return err
}

// fill returns the padded size of an entry.
func fill(size int) int {
	const multiple = 8
	return (size + multiple) / multiple * multiple
}

// varint reads a number in git's offset encoding.
func (r *indexReader) varint() (int, error) {
	n := 0
	for {
		data, err := r.take(1)
		if err != nil || n > 1<<24 {
			return 0, errIndexEnds
		}
		n = n<<7 | int(data[0]&0x7f)
		if data[0]&0x80 == 0 {
			return n, nil
		}
		n++
	}
}

func (r *indexReader) extension(f *indexFile) error {
	head, err := r.take(extensionHead)
	if err != nil {
		return err
	}
	name, size := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
	if size > r.left {
		return errIndexEnds
	}
	f.names = append(f.names, name)
	r.left -= size
	switch {
	case name == "link":
		f.link = make([]byte, size)
		_, err = io.ReadFull(r.in, f.link)
	case name == "TREE" && size <= maxIndexTrees:
		f.trees = make([]byte, size)
		_, err = io.ReadFull(r.in, f.trees)
	default:
		_, err = io.CopyN(io.Discard, r.in, size)
	}
	return err
}

// load reads and verifies the file of an index, and the shared index of a split one.
func (x *Index) load() error {
	var err error
	if x.file, err = x.loadFile(x.path, x.keep); err != nil || x.file.link == nil {
		return err
	}
	if x.keep != nil { // positions count
		if x.file, err = x.loadFile(x.path, nil); err != nil || x.file.link == nil {
			return err
		}
	}
	size := x.repo.idSize()
	if len(x.file.link) < size {
		return fmt.Errorf("%s: %w", x.path, errIndexEnds)
	}
	id := x.file.link[:size]
	if object.IDOf(id).IsZero() {
		return nil // the file itself is complete
	}
	x.base, err = x.loadBase(hex.EncodeToString(id))
	if err == nil && !bytes.Equal(x.base.sum, id) {
		err = fmt.Errorf("%s: the shared index does not match it", x.path)
	}
	return err
}

// loadBase reads the shared index of a split index, where git looks for it: in the repository, or
// else beside the split one.
func (x *Index) loadBase(id string) (*indexFile, error) {
	name := "sharedindex." + id
	f, err := x.loadFile(filepath.Join(cmp.Or(x.gitDir, x.repo.gitDir), name), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return x.loadFile(filepath.Join(filepath.Dir(x.path), name), nil)
	}
	return f, err
}

// loadFile reads a file. One that is being written is read again, for a moment.
func (x *Index) loadFile(name string, keep entryFilter) (f *indexFile, err error) {
	for range wholefile.Attempts {
		var whole bool
		if f, whole, err = loadOnce(name, x.repo.idSize(), keep); whole {
			break
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", name, regular.Cause(err))
	}
	return f, err
}

// loadOnce also reports whether the file kept its size meanwhile.
func loadOnce(name string, idSize int, keep entryFilter) (f *indexFile, whole bool, err error) {
	file, err := regular.OpenFile(name)
	if err != nil {
		return nil, true, err
	}
	defer file.Close() //nolint:errcheck // was only read
	before, err := file.Stat()
	if err != nil {
		return nil, true, err
	}
	f, err = parseIndexFile(file, before.Size(), idSize, keep)
	after, failed := file.Stat()
	return f, failed == nil && after.Size() == before.Size(), errors.Join(err, failed)
}
