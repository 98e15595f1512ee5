package gitint

import (
	"bytes"
	"cmp"
	"crypto/sha1" //nolint:gosec // what git writes behind an index
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Git takes an index for what it says without a look at its checksum: one that was cut off can
// have no entries for it, or other ones. So nobody reads an index here that was not checked.

// An indexFile is an index in the form in which it is stored, complete and sound.
type indexFile struct {
	body       []byte // without the checksum
	sum        []byte // only zeroes where index.skipHash left none
	extensions []indexExtension
}

// An indexExtension is what stands behind the entries, under four letters.
type indexExtension struct {
	name    string
	at      int // where it begins
	content []byte
}

const (
	indexHeader    = 12 // signature, version, number of entries
	indexStat      = 40 // what an entry begins with, before its object
	extensionHead  = 8  // name and size
	extendedFlag   = 0x4000
	nameLengthMask = 0xfff
	oldestIndex    = 2
	newestIndex    = 4
)

// errIndexEnds says that an index has not all that it says it has.
var errIndexEnds = errors.New("it was cut off or damaged: it does not end where it says")

// parseIndexFile checks an index: that its checksum is that of its content, and that entries
// and extensions fill it exactly, which is all that can be asked of one without a checksum.
func parseIndexFile(data []byte, idSize int) (*indexFile, error) {
	if len(data) < indexHeader+idSize {
		return nil, errIndexEnds
	}
	f := &indexFile{body: data[:len(data)-idSize], sum: data[len(data)-idSize:]}
	if f.summed() && !bytes.Equal(checksum(f.body, idSize), f.sum) {
		return nil, errors.New("it was cut off or damaged: its checksum is not that of its content")
	}
	if version := f.version(); !bytes.HasPrefix(data, []byte("DIRC")) ||
		version < oldestIndex || version > newestIndex {
		return nil, errors.New("it has a form that is not known")
	}
	at, err := f.skipEntries(idSize)
	if err != nil {
		return nil, err
	}
	return f, f.readExtensions(at)
}

func (f *indexFile) version() uint32 { return binary.BigEndian.Uint32(f.body[4:]) }

// summed reports whether git has written a checksum.
func (f *indexFile) summed() bool { return !oidOf(f.sum).IsZero() }

func checksum(body []byte, idSize int) []byte {
	if idSize == sha256Size {
		sum := sha256.Sum256(body)
		return sum[:]
	}
	sum := sha1.Sum(body) //nolint:gosec // as above
	return sum[:]
}

// skipEntries returns where the entries end.
func (f *indexFile) skipEntries(idSize int) (int, error) {
	at := indexHeader
	for range binary.BigEndian.Uint32(f.body[8:]) {
		size, ok := entrySize(f.body[at:], f.version(), idSize)
		if !ok || size > len(f.body)-at {
			return 0, errIndexEnds
		}
		at += size
	}
	return at, nil
}

// entrySize returns the size of the entry that a part of an index begins with. Before version
// 4 entries end in one to eight zeroes, on a multiple of eight; from it on they say how much of
// the name before theirs begins with, and end in one zero.
func entrySize(rest []byte, version uint32, idSize int) (size int, ok bool) {
	size = indexStat + idSize
	if len(rest) < size+2 {
		return 0, false
	}
	flags := binary.BigEndian.Uint16(rest[size:])
	size += 2
	if flags&extendedFlag != 0 {
		size += 2
	}
	if version == newestIndex {
		for size < len(rest) && rest[size]&0x80 != 0 {
			size++
		}
		size++
	}
	name := int(flags & nameLengthMask)
	if version == newestIndex || name == nameLengthMask {
		if size > len(rest) {
			return 0, false
		}
		name = bytes.IndexByte(rest[size:], 0)
	}
	switch {
	case name < 0:
		return 0, false
	case version == newestIndex:
		return size + name + 1, true
	}
	const multiple = 8
	return (size + name + multiple) / multiple * multiple, true
}

func (f *indexFile) readExtensions(at int) error {
	for at < len(f.body) {
		rest := f.body[at:]
		if len(rest) < extensionHead {
			return errIndexEnds
		}
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size > len(rest)-extensionHead {
			return errIndexEnds
		}
		f.extensions = append(f.extensions, indexExtension{
			name: string(rest[:4]), at: at,
			content: rest[extensionHead : extensionHead+size],
		})
		at += extensionHead + size
	}
	return nil
}

// extension returns the one of a name.
func (f *indexFile) extension(name string) (indexExtension, bool) {
	for _, e := range f.extensions {
		if e.name == name {
			return e, true
		}
	}
	return indexExtension{}, false
}

// load reads and checks the file of an index, and the one that a split index is based on.
func (x *Index) load() error {
	var err error
	if x.file, err = x.loadFile(x.path); err != nil {
		return err
	}
	link, ok := x.file.extension("link")
	if !ok {
		return nil
	}
	size := x.repo.idSize()
	if len(link.content) < size {
		return fmt.Errorf("%s: %w", x.path, errIndexEnds)
	}
	id := link.content[:size]
	if oidOf(id).IsZero() {
		return nil // everything is in the file itself
	}
	x.base, err = x.loadBase(hex.EncodeToString(id))
	if err == nil && !bytes.Equal(x.base.sum, id) {
		err = fmt.Errorf("%s: the index that it is based on is another one", x.path)
	}
	return err
}

// loadBase reads the large part of a split index, where git looks for it: in the repository,
// or else beside the small one.
func (x *Index) loadBase(id string) (*indexFile, error) {
	name := "sharedindex." + id
	f, err := x.loadFile(filepath.Join(cmp.Or(x.gitDir, x.repo.gitDir), name))
	if errors.Is(err, fs.ErrNotExist) {
		return x.loadFile(filepath.Join(filepath.Dir(x.path), name))
	}
	return f, err
}

func (x *Index) loadFile(name string) (*indexFile, error) {
	data, err := readWhole(name)
	if err != nil {
		return nil, err
	}
	f, err := parseIndexFile(data, x.repo.idSize())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}
