package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/regular"
)

// A File is a verified index as it is stored. It keeps only the wanted entries, so that memory
// grows with these and not with the index.
type File struct {
	missing bool
	version uint32
	entries []Entry
	sparse  bool     // it has directories
	names   []string // of the extensions
	link    []byte   // the extension of a split index, nil if it is none
	trees   []byte   // the cache-tree extension, nil if missing or very large
	sum     []byte   // zeroes with index.skipHash
	base    *File    // the shared index of a split one
	idSize  int
}

const (
	signature      = "DIRC"
	headerSize     = 12 // signature, version, number of entries
	statSize       = 40 // the part of an entry before its object
	modeOffset     = 24 // offset of the mode in it
	extensionHead  = 8  // name and size
	assumedFlag    = 0x8000
	extendedFlag   = 0x4000
	stageShift     = 12
	nameLengthMask = 0xfff
	skippedFlag    = 0x4000 // of the second flag word, like the next
	intendedFlag   = 0x2000
	oldest         = 2
	newest         = 4
	bufferSize     = 1 << 18
	maxTrees       = 1 << 20
)

// errEnds reports that an index is shorter than its content says.
var errEnds = errors.New("it is truncated or damaged: its length does not match")

var errForm = errors.New("its format is unknown")

// summed reports whether git has written a checksum.
func (f *File) summed() bool { return !object.IDOf(f.sum).IsZero() }

// known reports whether the entries are complete: git refuses an index with an unknown extension
// whose name begins in lower case.
func (f *File) known() bool {
	for _, name := range f.names {
		if c := name[0]; (c < 'A' || c > 'Z') && name != "link" && name != "sdir" {
			return false
		}
	}
	return true
}

// IsPlain reports whether the file says everything in the most common form: it has a checksum, no
// unknown extension and no directories, and is not split.
func (f *File) IsPlain() bool {
	return f.missing || f.summed() && f.known() && f.link == nil && !f.sparse
}

// Entries returns the entries in the order of the file, and of all if the index is split. It is
// false if git must be asked, such as for an index with an unknown extension; for one without a
// checksum git's answer counts.
func (f *File) Entries() ([]Entry, bool) {
	switch {
	case f.missing:
		return nil, true
	case !f.summed() || !f.known():
		return nil, false
	case f.link == nil:
		return f.entries, true
	}
	all, err := f.join()
	return all, err == nil
}

// A reader reads an index from its beginning to its end, once.
type reader struct {
	in      *bufio.Reader // without the checksum
	left    int64         // of it
	idSize  int
	version uint32
	name    []byte // of the entry before
	keep    Filter
}

// A Filter reports whether an entry is wanted, by its fields and its path. It must keep
// neither.
type Filter func(e *Entry, path []byte) bool

// Is reports whether a file begins like an index. It is false if the file does not exist.
func Is(file string) (bool, error) {
	f, err := regular.OpenFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // was only read
	begins, err := io.ReadAll(io.LimitReader(f, int64(len(signature))))
	return string(begins) == signature, err
}

// parse reads an index of a size and verifies it. It keeps the entries that keep accepts, all if
// that is nil.
func parse(
	in io.Reader, size int64, idSize int, keep Filter,
) (*File, error) {
	if size < int64(headerSize+idSize) {
		return nil, errEnds
	}
	sum := object.NewHash(idSize)
	body := io.TeeReader(io.LimitReader(in, size-int64(idSize)), sum)
	r := reader{
		in: bufio.NewReaderSize(body, bufferSize), left: size - int64(idSize),
		idSize: idSize, keep: keep,
	}
	f := &File{idSize: idSize}
	failed := r.read(f)
	// A wrong checksum explains all other faults.
	if _, err := io.Copy(io.Discard, r.in); err != nil {
		return nil, err
	}
	f.sum = make([]byte, idSize)
	if _, err := io.ReadFull(in, f.sum); err != nil {
		return nil, errEnds
	}
	if f.summed() && !bytes.Equal(sum.Sum(nil), f.sum) {
		return nil, errors.New("it is truncated or damaged: its checksum does not match")
	}
	return f, failed
}

func (r *reader) read(f *File) error {
	head, err := r.take(headerSize)
	if err != nil {
		return err
	}
	r.version = binary.BigEndian.Uint32(head[4:])
	f.version = r.version
	count := binary.BigEndian.Uint32(head[8:])
	if !bytes.HasPrefix(head, []byte(signature)) ||
		r.version < oldest || r.version > newest {
		return errForm
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
func (r *reader) take(n int) ([]byte, error) {
	if int64(n) > r.left {
		return nil, errEnds
	}
	data, err := r.in.Peek(n)
	if err != nil {
		return nil, errEnds
	}
	r.left -= int64(n)
	_, err = r.in.Discard(n)
	return data, err
}

// entry reads an entry. Before version 4 entries end in one to eight zeroes, at a multiple of
// eight; since version 4 they have the length of the prefix that their name shares with the one
// before, and end in one zero.
func (r *reader) entry(f *File) error {
	size := statSize + r.idSize + 2
	data, err := r.take(size)
	if err != nil {
		return err
	}
	mode := object.CanonicalMode(binary.BigEndian.Uint32(data[modeOffset:]))
	id := object.IDOf(data[statSize : statSize+r.idSize])
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
	e := Entry{
		Entry:  object.Entry{Mode: mode, OID: id},
		Stage:  int(flags>>stageShift) & 3,
		Pinned: flags&assumedFlag != 0 || more&skippedFlag != 0, Assumed: more&skippedFlag == 0,
		Intent: more&intendedFlag != 0,
	}
	f.sparse = f.sparse || mode == object.ModeDir
	if r.keep == nil || r.keep(&e, r.name) {
		e.Path = string(r.name)
		f.entries = append(f.entries, e)
	}
	return nil
}

// readName reads the name of an entry and its padding. size bytes of the entry were read before.
// The length is known unless it is the largest that the flags can have.
func (r *reader) readName(length, size int) error {
	kept := 0
	if r.version == newest {
		cut, err := r.varint()
		if err != nil || cut > len(r.name) {
			return errEnds
		}
		kept = len(r.name) - cut
	}
	r.name = r.name[:kept]
	if r.version == newest || length == nameLengthMask {
		return r.readZeroed(size)
	}
	data, err := r.take(fill(size+length) - size)
	if err == nil {
		r.name = append(r.name, data[:length]...)
	}
	return err
}

// readZeroed reads a name that ends in a zero.
func (r *reader) readZeroed(size int) error {
	length := 0
	for ended := false; !ended; {
		part, err := r.in.ReadSlice(0)
		r.left -= int64(len(part))
		length += len(part)
		if ended = err == nil; ended {
			part = part[:len(part)-1]
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return errEnds
		}
		r.name = append(r.name, part...)
	}
	if r.version == newest {
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
func (r *reader) varint() (int, error) {
	n := 0
	for {
		data, err := r.take(1)
		if err != nil || n > 1<<24 {
			return 0, errEnds
		}
		n = n<<7 | int(data[0]&0x7f)
		if data[0]&0x80 == 0 {
			return n, nil
		}
		n++
	}
}

func (r *reader) extension(f *File) error {
	head, err := r.take(extensionHead)
	if err != nil {
		return err
	}
	name, size := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
	if size > r.left {
		return errEnds
	}
	f.names = append(f.names, name)
	f.sparse = f.sparse || name == "sdir"
	r.left -= size
	switch {
	case name == "link":
		f.link = make([]byte, size)
		_, err = io.ReadFull(r.in, f.link)
	case name == "TREE" && size <= maxTrees:
		f.trees = make([]byte, size)
		_, err = io.ReadFull(r.in, f.trees)
	default:
		_, err = io.CopyN(io.Discard, r.in, size)
	}
	return err
}

// Read reads and verifies the file of an index, and the shared index of a split one, which git
// looks for in gitDir and beside the file. A missing file has no entries. It keeps the entries that
// keep accepts, all if that is nil or the index is split. One that is being written is read again,
// for a moment.
func Read(name, gitDir string, idSize int, keep Filter) (*File, error) {
	f, err := readFile(name, idSize, keep)
	if err == nil && f.link != nil && keep != nil { // positions count
		f, err = readFile(name, idSize, nil)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &File{missing: true}, nil
	}
	if err != nil || f.link == nil {
		return f, err
	}
	if len(f.link) < idSize {
		return nil, fmt.Errorf("%s: %w", name, errEnds)
	}
	if f.complete() {
		return f, nil
	}
	shared := "sharedindex." + hex.EncodeToString(f.link[:idSize])
	f.base, err = readFile(filepath.Join(gitDir, shared), idSize, nil)
	if errors.Is(err, fs.ErrNotExist) {
		f.base, err = readFile(filepath.Join(filepath.Dir(name), shared), idSize, nil)
	}
	if err == nil && !bytes.Equal(f.base.sum, f.link[:idSize]) {
		err = fmt.Errorf("%s: the shared index does not match it", name)
	}
	return f, err
}

// complete reports whether a split index needs no shared one.
func (f *File) complete() bool { return object.IDOf(f.link[:f.idSize]).IsZero() }

// readFile reads one file.
func readFile(name string, idSize int, keep Filter) (f *File, err error) {
	for range gitfile.Attempts {
		var whole bool
		if f, whole, err = readOnce(name, idSize, keep); whole {
			break
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", name, regular.Cause(err))
	}
	return f, err
}

// readOnce also reports whether the file kept its size meanwhile.
func readOnce(name string, idSize int, keep Filter) (f *File, whole bool, err error) {
	file, err := regular.OpenFile(name)
	if err != nil {
		return nil, true, err
	}
	defer file.Close() //nolint:errcheck // was only read
	before, err := file.Stat()
	if err != nil {
		return nil, true, err
	}
	f, err = parse(file, before.Size(), idSize, keep)
	after, failed := file.Stat()
	return f, failed == nil && after.Size() == before.Size(), errors.Join(err, failed)
}
