package odb

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A packReader reads objects of packs one after the other. It must not be used concurrently.
type packReader struct {
	packs   []*pack
	idSize  int
	near    packWindow // of objects read in the order of a pack
	far     packPages  // of the bases of deltas
	inflate inflater
	scratch []byte     // a delta
	bases   []packBase // indexed by bits of the offset; nil until an object of a pack is read
	held    int        // bytes in bases
}

// A packBase is an object that was read, a possible base of deltas.
type packBase struct {
	at packAddress
	object.Object
}

// A packAddress identifies an object by its pack and offset.
type packAddress struct {
	pack   int
	offset int64
}

const (
	nearSize  = 32 << 10
	farSize   = 4 << 10
	pageSize  = 8 << 10
	maxPages  = 256
	maxBases  = 16 << 20
	baseBits  = 13
	baseSlots = 1 << baseBits
)

func newPackReader(all []*pack) *packReader {
	return &packReader{
		packs: all, idSize: object.SHA1Size, near: packWindow{size: nearSize, pack: -1},
		far: packPages{large: packWindow{size: farSize, pack: -1}},
	}
}

// A packWindow is a part of a pack.
type packWindow struct {
	size   int
	pack   int
	offset int64
	data   []byte
	room   []byte
}

// has reports whether there are bytes from an offset on.
func (w *packWindow) has(at packAddress) bool {
	return w.pack == at.pack && at.offset >= w.offset && at.offset < w.offset+int64(len(w.data))
}

// at implements packView.
func (w *packWindow) at(p *pack, number int, offset int64, want int) ([]byte, error) {
	end := w.offset + int64(len(w.data))
	if w.pack == number && offset >= w.offset && offset < end &&
		(offset+int64(want) <= end || end == p.size) {
		return w.data[offset-w.offset:], nil
	}
	if want = max(want, w.size); cap(w.room) < want {
		w.room = make([]byte, want)
	}
	w.pack = -1
	n, err := p.file.ReadAt(w.room[:want], offset)
	if err != nil && err != io.EOF { //nolint:errorlint // ReadAt returns it bare
		return nil, err
	}
	w.pack, w.offset, w.data = number, offset, w.room[:n]
	return w.data, nil
}

// A packView returns bytes of packs: at least want from an offset on, unless the file ends before.
type packView interface {
	at(p *pack, number int, offset int64, want int) ([]byte, error)
}

// packPages caches parts of packs that are read repeatedly: the bases of deltas are versions of the
// same trees, which are small, and scattered over the part of a pack that has trees.
type packPages struct {
	pages [maxPages]packWindow // direct-mapped; a page reuses the memory of the one it replaces
	large packWindow           // a read that fits in no page
}

// at implements packView.
func (f *packPages) at(p *pack, number int, offset int64, want int) ([]byte, error) {
	before := int(offset % pageSize)
	if before+want > pageSize+farSize {
		return f.large.at(p, number, offset, want)
	}
	page := offset - int64(before)
	w := &f.pages[(int(page/pageSize)+number)%maxPages]
	w.size = pageSize + farSize // most objects that begin in it end in it
	if w.offset != page {
		w.pack = -1 // the bytes after the page just read may begin with this one
	}
	data, err := w.at(p, number, page, before+want)
	if err != nil || len(data) < before {
		return nil, err
	}
	return data[before:], nil
}

// read returns the object at an address. The caller may change a blob; other objects may be bases,
// and must not be changed.
func (r *packReader) read(at packAddress) (object.Object, error) {
	known, ok := r.known(at)
	if !ok {
		return r.readIn(&r.near, at, 0)
	}
	if known.Kind == object.KindBlob {
		known.Data = slices.Clone(known.Data)
	}
	return known, nil
}

// The kinds of entries of a pack that are deltas.
const (
	deltaByOffset = 6
	deltaByName   = 7
)

// packKinds are the kinds of objects, whose numbers in packs begin with 1.
var packKinds = [...]string{
	object.KindCommit, object.KindTree, object.KindBlob, object.KindTag,
}

func packKind(n int) string {
	if n < 1 || n > len(packKinds) {
		return ""
	}
	return packKinds[n-1]
}

// size returns the size of the object at an address. A delta begins with the sizes of its base and
// its result; only these are decompressed.
func (r *packReader) size(at packAddress) (int64, error) {
	e, err := r.entry(&r.near, at)
	if err != nil || e.kind != "" {
		return int64(e.size), err
	}
	const longest = 2 * binary.MaxVarintLen64
	head := make([]byte, min(e.size, longest))
	if err := r.fill(&r.near, at, e.head, head); err != nil {
		return 0, err
	}
	_, n := binary.Uvarint(head)
	size, m := binary.Uvarint(head[max(n, 0):])
	if n <= 0 || m <= 0 || size > math.MaxInt64 {
		return 0, errPack
	}
	return int64(size), nil
}

func (r *packReader) readIn(w packView, at packAddress, depth int) (object.Object, error) {
	if known, ok := r.known(at); ok {
		return known, nil
	}
	e, err := r.entry(w, at)
	if err != nil {
		return object.Object{}, err
	}
	if e.size > maxPacked || depth > maxChain {
		return object.Object{}, errPack
	}
	obj := object.Object{Kind: e.kind}
	if e.kind == "" {
		obj, err = r.readDelta(w, at, e, depth)
	} else {
		obj.Data = make([]byte, e.size)
		err = r.fill(w, at, e.head, obj.Data)
	}
	if err != nil {
		return object.Object{}, err
	}
	r.keep(at, obj, depth)
	return obj, nil
}

// An entry is the header of an object or a delta in a pack.
type entry struct {
	head int // its length
	size int
	kind string      // "" for a delta
	base packAddress // of a delta
}

func (r *packReader) entry(w packView, at packAddress) (entry, error) {
	p := r.packs[at.pack]
	const maxHead = 64 // kind and size, and a base
	head, err := w.at(p, at.pack, at.offset, maxHead)
	if err != nil {
		return entry{}, err
	}
	kind, size, n := packHead(head)
	e := entry{head: n, size: size, kind: packKind(kind), base: packAddress{pack: at.pack}}
	ok := n > 0
	switch {
	case !ok:
	case kind == deltaByOffset:
		back, m := packBack(head[n:])
		e.head, e.base.offset = n+m, at.offset-back
		ok = m > 0 && back > 0 && e.base.offset > 0
	case kind == deltaByName:
		if ok = len(head) >= n+r.idSize; ok {
			e.head = n + r.idSize
			e.base.offset, ok = p.index.find(head[n:e.head])
		}
	default:
		ok = e.kind != ""
	}
	if !ok {
		return entry{}, errPack
	}
	return e, nil
}

func (r *packReader) readDelta(
	w packView, at packAddress, e entry, depth int,
) (object.Object, error) {
	below, err := r.readIn(&r.far, e.base, depth+1)
	if err != nil {
		return object.Object{}, err
	}
	if cap(r.scratch) < e.size {
		r.scratch = make([]byte, e.size)
	}
	delta := r.scratch[:e.size]
	if err := r.fill(w, at, e.head, delta); err != nil {
		return object.Object{}, err
	}
	data, err := applyDelta(below.Data, delta)
	return object.Object{Kind: below.Kind, Data: data}, err
}

// fill decompresses the data after the header of an object. Its compressed length is unknown:
// usually it is shorter than the result.
func (r *packReader) fill(w packView, at packAddress, head int, dst []byte) error {
	for want := head + len(dst)/2 + 64; ; want *= 2 {
		src, err := w.at(r.packs[at.pack], at.pack, at.offset, want)
		if err != nil {
			return err
		}
		if len(src) < head {
			return errPack
		}
		if r.inflate.fill(dst, src[head:]) == nil {
			return nil
		}
		if len(src) < want || want > 4*len(dst)+4096 {
			return errPack // reading more would not help
		}
	}
}

// slot returns the cache slot of an object, which replaces the one before.
func (r *packReader) slot(at packAddress) *packBase {
	if r.bases == nil {
		r.bases = make([]packBase, baseSlots)
	}
	const mixer = 0x9e3779b97f4a7c15
	mixed := uint64(at.offset)*mixer + uint64(at.pack) // any number will do
	return &r.bases[mixed>>(64-baseBits)]
}

func (r *packReader) known(at packAddress) (object.Object, bool) {
	slot := r.slot(at)
	return slot.Object, slot.at == at && slot.Kind != ""
}

// keep caches an object as a base, a blob only if it is one: most are not. If there are too many,
// all are dropped: the following ones are near.
func (r *packReader) keep(at packAddress, obj object.Object, depth int) {
	if depth == 0 && obj.Kind == object.KindBlob {
		return
	}
	slot := r.slot(at)
	if r.held += len(obj.Data) - len(slot.Data); r.held > maxBases {
		clear(r.bases)
		r.held = len(obj.Data)
	}
	*slot = packBase{at, obj}
}

// packHead parses the kind and the size of an object, and returns their length; 0 if invalid.
func packHead(b []byte) (kind, size, n int) {
	if len(b) == 0 {
		return 0, 0, 0
	}
	kind, size = int(b[0]>>4&7), int(b[0]&15)
	for shift := 4; b[n]&0x80 != 0; shift += 7 {
		if n++; n == len(b) || shift > 32 {
			return 0, 0, 0
		}
		size |= int(b[n]&0x7f) << shift
	}
	return kind, size, n + 1
}

// packBack parses the distance to the base of a delta.
func packBack(b []byte) (back int64, n int) {
	for ; n < len(b) && n < 8; n++ {
		back = back<<7 | int64(b[n]&0x7f)
		if b[n]&0x80 == 0 {
			return back, n + 1
		}
		back++
	}
	return 0, 0
}

// applyDelta applies a delta to a base.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errPack
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxPacked {
		return nil, errPack
	}
	out := make([]byte, 0, size)
	for delta = delta[n:]; len(delta) > 0; {
		op := delta[0]
		delta = delta[1:]
		var part []byte
		switch {
		case op == 0:
			return nil, errPack
		case op < 0x80:
			if int(op) > len(delta) {
				return nil, errPack
			}
			part, delta = delta[:op], delta[op:]
		default:
			var at, length int
			var ok bool
			if at, length, delta, ok = copyArguments(op, delta); !ok || at+length > len(base) {
				return nil, errPack
			}
			part = base[at : at+length]
		}
		if len(part) > int(size)-len(out) { // at most maxPacked
			return nil, errPack
		}
		out = append(out, part...)
	}
	if len(out) != int(size) { // at most maxPacked
		return nil, errPack
	}
	return out, nil
}

// copyArguments parses which part of the base a delta copies.
func copyArguments(op byte, delta []byte) (at, length int, rest []byte, ok bool) {
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		if i < 4 {
			at |= int(delta[0]) << (8 * i)
		} else {
			length |= int(delta[0]) << (8 * (i - 4))
		}
		delta = delta[1:]
	}
	if length == 0 {
		length = 0x10000
	}
	return at, length, delta, true
}
