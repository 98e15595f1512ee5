package odb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

const (
	// maxIndexes limits the size of all pack indexes that are kept in memory.
	maxIndexes = 64 << 20
	// maxPacked limits the size of an object that is read here.
	maxPacked = 4 << 20
	// maxChain limits the length of a chain of deltas. Git makes none of more than 4095, and most
	// have at most 50.
	maxChain = 4095
)

// errPack reports a pack in an unknown form, or without some object. It is never final: git is
// asked.
var errPack = errors.New("cannot read pack")

// A packIndex is the index of a pack, of version 2.
type packIndex struct {
	idSize int
	n      int
	fanout []byte
	names  []byte
	offset []byte
	large  []byte // offsets of 64 bits
}

const packIndexHead = "\xfftOc\x00\x00\x00\x02"

func newPackIndex(data []byte, idSize int) (*packIndex, error) {
	const table = 256 * 4
	rest, ok := bytes.CutPrefix(data, []byte(packIndexHead))
	if !ok || len(rest) < table+2*idSize {
		return nil, errPack
	}
	x := &packIndex{idSize: idSize, fanout: rest[:table]}
	x.n = int(binary.BigEndian.Uint32(rest[table-4:]))
	rest = rest[table : len(rest)-2*idSize]
	if len(rest)/(idSize+8) < x.n {
		return nil, errPack
	}
	x.names, rest = rest[:x.n*idSize], rest[x.n*(idSize+4):]
	x.offset, x.large = rest[:4*x.n], rest[4*x.n:]
	return x, nil
}

// find returns the offset of an object.
func (x *packIndex) find(id []byte) (int64, bool) {
	low, high := 0, int(binary.BigEndian.Uint32(x.fanout[4*int(id[0]):]))
	if id[0] > 0 {
		low = int(binary.BigEndian.Uint32(x.fanout[4*int(id[0])-4:]))
	}
	if high > x.n {
		return 0, false
	}
	// Names are evenly distributed: most are near their interpolated position.
	const near = 32
	part := uint64(binary.BigEndian.Uint32(id[1:]))
	guess := low + int(uint64(max(high-low, 0))*part>>32) // at most high
	if i := guess - near; i > low && i < high && bytes.Compare(x.name(i), id) <= 0 {
		low = i
	}
	if i := guess + near; i > low && i < high && bytes.Compare(x.name(i), id) > 0 {
		high = i
	}
	first := binary.BigEndian.Uint64(id)
	for low < high {
		middle := int(uint(low+high) >> 1) // both are positive
		name := x.name(middle)
		order := cmp.Compare(binary.BigEndian.Uint64(name), first)
		if order == 0 {
			order = bytes.Compare(name, id)
		}
		switch order {
		case 0:
			return x.at(middle)
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

func (x *packIndex) name(i int) []byte { return x.names[i*x.idSize : (i+1)*x.idSize] }

func (x *packIndex) at(i int) (int64, bool) {
	const isLarge = 1 << 31
	at := binary.BigEndian.Uint32(x.offset[4*i:])
	if at&isLarge == 0 {
		return int64(at), true
	}
	i = int(at &^ isLarge)
	if i >= len(x.large)/8 {
		return 0, false
	}
	long := binary.BigEndian.Uint64(x.large[8*i:])
	return int64(long), long < 1<<62 // was looked at
}

// A pack is a file of objects with its index.
type pack struct {
	name  string // of the index
	file  packFile
	size  int64
	index *packIndex
	users int // reads in progress
	gone  bool
}

// A packFile is an open file.
type packFile interface {
	io.ReaderAt
	io.Closer
}

const (
	indexSuffix = ".idx"
	packSuffix  = ".pack"
)

// ClosedIndex returns why a pack index cannot be opened, "" if all can. Git does not report that.
func ClosedIndex(objectDirs []string) string {
	names, _, err := packIndexes(objectDirs)
	for _, name := range names {
		f, failed := os.Open(name)
		if failed != nil {
			return failed.Error()
		}
		_ = f.Close() // was not even read
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// IndexSize returns the size of all pack indexes. It ignores errors: it only decides who is asked
// first.
func IndexSize(objectDirs []string) int64 {
	_, size, _ := packIndexes(objectDirs)
	return size
}

// packIndexes returns the pack indexes in directories of objects, their size in all, and the first
// error: it lists what it can.
func packIndexes(objectDirs []string) (names []string, size int64, missed error) {
	for _, dir := range objectDirs {
		dir = filepath.Join(dir, "pack")
		entries, err := os.ReadDir(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			missed = cmp.Or(missed, err)
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != indexSuffix {
				continue
			}
			info, err := e.Info()
			if missed = cmp.Or(missed, err); err == nil {
				names = append(names, filepath.Join(dir, e.Name()))
				size += info.Size()
			}
		}
	}
	return names, size, missed
}

func openPack(name string) (*pack, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	x, err := newPackIndex(data, object.SHA1Size)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(strings.TrimSuffix(name, indexSuffix) + packSuffix)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errPack, err, f.Close())
	}
	return &pack{name: name, file: f, size: info.Size(), index: x}, nil
}

// packs has the packs of a repository. They are listed again for every read, so that no removed one
// is used, but only new ones are opened.
type packs struct {
	mu   sync.Mutex
	open []*pack
}

// use returns the current packs, until leave is called. It opens none that are too large or
// unreadable, and returns that as an error.
func (p *packs) use(dirs []string) (all []*pack, leave func(), missed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names, size, missed := packIndexes(dirs)
	if size > maxIndexes {
		names, missed = nil, errPack
	}
	known := make(map[string]*pack, len(p.open))
	for _, old := range p.open {
		known[old.name] = old
		old.gone = true
	}
	before := p.open
	p.open = nil
	for _, name := range names {
		opened := known[name]
		if opened == nil {
			var err error
			opened, err = openPack(name)
			missed = cmp.Or(missed, err)
		}
		if opened != nil {
			opened.gone = false
			p.open = append(p.open, opened)
		}
	}
	all = slices.Clone(p.open)
	p.drop(before, 0)
	p.drop(all, -1)
	return all, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(all, 1)
	}, missed
}

// drop removes users from packs, and closes removed packs without users.
func (p *packs) drop(all []*pack, users int) {
	for _, old := range all {
		if old.users -= users; old.gone && old.users == 0 {
			_ = old.file.Close() // was only read
		}
	}
}

func (p *packs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, old := range p.open {
		old.gone = true
	}
	p.drop(p.open, 0)
	p.open = nil
}

// A packPlace is the position of an object.
type packPlace struct {
	pack, index int // of the object in the request
	offset      int64
}

// findPacked returns the position of each object, and which are in no pack.
func findPacked(all []*pack, ids []object.ID) (places []packPlace, elsewhere []int) {
	places = make([]packPlace, 0, len(ids))
	var name [object.SHA256Size]byte
next:
	for i, id := range ids {
		for n, in := range all {
			if id.Size() == in.index.idSize {
				if at, ok := in.index.find(id.AppendBytes(name[:0])); ok && at < in.size {
					places = append(places, packPlace{n, i, at})
					continue next
				}
			}
		}
		elsewhere = append(elsewhere, i)
	}
	return places, elsewhere
}
