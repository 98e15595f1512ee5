package gitint

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errInflate says that bytes are not what we can decompress. Git is asked then.
var errInflate = errors.New("not a whole stream of zlib")

// An inflater decompresses objects whose size is known, each in one go. The readers of the
// libraries are made for streams: for objects of forty bytes they take several times as long to
// begin as to read. What comes out is not held against the checksum, since the caller
// compares it with the name of the object.
type inflater struct {
	src  []byte
	pos  int    // of the next byte for acc
	acc  uint64 // bits that were taken from src, the next one lowest
	bits uint   // in acc

	literals, distances huffman
	fixed               *[2]huffman // of literals and distances, made when first needed
	lengths             [maxLiterals + maxDistances]byte
}

const (
	maxLiterals  = 288
	maxDistances = 32
	maxCode      = 15
	tableBits    = 9
)

// A huffman decodes a canonical code.
type huffman struct {
	// table has, by the next bits, the symbol shifted by four and the length of its code; 0 is
	// a longer one, or none.
	table   [1 << tableBits]uint16
	count   [maxCode + 1]uint16 // of codes by length
	symbols [maxLiterals]uint16 // by code
}

// inflate fills dst from the zlib stream at the beginning of src.
func (z *inflater) inflate(dst, src []byte) error {
	if len(src) < 2 || src[0]&0x0f != 8 || src[1]&0x20 != 0 ||
		binary.BigEndian.Uint16(src)%31 != 0 {
		return errInflate
	}
	z.src, z.pos, z.acc, z.bits = src, 2, 0, 0
	out := 0
	for last := false; !last; {
		z.fill()
		last = z.take(1) == 1
		ok := false
		switch z.take(2) {
		case 0:
			out, ok = z.stored(dst, out)
		case 1:
			fixed := z.fixedCodes()
			out, ok = z.block(dst, out, &fixed[0], &fixed[1])
		case 2:
			if ok = z.readCodes(); ok {
				out, ok = z.block(dst, out, &z.literals, &z.distances)
			}
		}
		if !ok || z.beyond() {
			return errInflate
		}
	}
	if out != len(dst) {
		return errInflate
	}
	return nil
}

// fill makes sure that there are 56 bits. Behind the end they are zeroes.
func (z *inflater) fill() {
	if z.pos+8 <= len(z.src) {
		z.acc |= binary.LittleEndian.Uint64(z.src[z.pos:]) << z.bits
		z.pos += int(63-z.bits) >> 3 //nolint:gosec // at most 7
		z.bits |= 56
		return
	}
	for z.bits < 56 {
		if z.pos < len(z.src) {
			z.acc |= uint64(z.src[z.pos]) << z.bits
		}
		z.pos++
		z.bits += 8
	}
}

func (z *inflater) take(n uint) int {
	v := z.acc & (1<<n - 1)
	z.acc >>= n
	z.bits -= n
	return int(v) //nolint:gosec // at most 16 bits
}

// beyond reports whether bits were taken that src has not.
func (z *inflater) beyond() bool {
	return z.pos-int(z.bits>>3) > len(z.src) //nolint:gosec // at most 64
}

func (z *inflater) stored(dst []byte, out int) (int, bool) {
	z.take(z.bits & 7) // to the next byte
	z.fill()
	n := z.take(16)
	if z.take(16) != n^0xffff {
		return 0, false
	}
	from := z.pos - int(z.bits>>3) //nolint:gosec // at most 64
	z.acc, z.bits = 0, 0
	if n > len(dst)-out || from < 0 || n > len(z.src)-from {
		return 0, false
	}
	copy(dst[out:], z.src[from:from+n])
	z.pos = from + n
	return out + n, true
}

// fixedCodes are those that every stream may use. Most small objects do.
func (z *inflater) fixedCodes() *[2]huffman {
	if z.fixed != nil {
		return z.fixed
	}
	z.fixed = new([2]huffman)
	all := z.lengths[:]
	for i := range maxLiterals {
		switch {
		case i < 144:
			all[i] = 8
		case i < 256:
			all[i] = 9
		case i < 280:
			all[i] = 7
		default:
			all[i] = 8
		}
	}
	for i := range maxDistances {
		all[maxLiterals+i] = 5
	}
	z.fixed[0].build(all[:maxLiterals])
	z.fixed[1].build(all[maxLiterals:])
	return z.fixed
}

// lengthOrder is the order in which the lengths of the codes for lengths are written.
const lengthOrder = "\x10\x11\x12\x00\x08\x07\x09\x06\x0a\x05\x0b\x04\x0c\x03\x0d\x02\x0e\x01\x0f"

// readCodes reads the codes of a block.
func (z *inflater) readCodes() bool {
	z.fill()
	literals, distances, n := z.take(5)+257, z.take(5)+1, z.take(4)+4
	var own [len(lengthOrder)]byte
	for i := range n {
		z.fill()
		own[lengthOrder[i]] = byte(z.take(3))
	}
	if literals > maxLiterals || !z.literals.build(own[:]) {
		return false
	}
	all := z.lengths[:literals+distances]
	for i := 0; i < len(all); {
		z.fill()
		symbol, ok := z.symbol(&z.literals)
		if !ok || z.beyond() {
			return false
		}
		value, times := byte(symbol), 1 //nolint:gosec // at most 18
		switch symbol {
		case 16:
			if i == 0 {
				return false
			}
			value, times = all[i-1], 3+z.take(2)
		case 17:
			value, times = 0, 3+z.take(3)
		case 18:
			value, times = 0, 11+z.take(7)
		}
		if times > len(all)-i {
			return false
		}
		for range times {
			all[i] = value
			i++
		}
	}
	return z.literals.build(all[:literals]) && z.distances.build(all[literals:])
}

// build makes the code in which symbols have these lengths. It is false when there are too many.
func (h *huffman) build(lengths []byte) bool {
	clear(h.table[:])
	clear(h.count[:])
	for _, n := range lengths {
		h.count[n]++
	}
	h.count[0] = 0
	var at [maxCode + 2]uint16   // in symbols, by length
	var code [maxCode + 2]uint32 // the first of each length
	left := 1
	for n := 1; n <= maxCode; n++ {
		left = left<<1 - int(h.count[n])
		if left < 0 {
			return false
		}
		at[n+1] = at[n] + h.count[n]
		code[n+1] = (code[n] + uint32(h.count[n])) << 1
	}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		h.symbols[at[n]] = uint16(symbol) //nolint:gosec // at most 288
		at[n]++
		if n <= tableBits {
			entry := uint16(symbol)<<4 | uint16(n) //nolint:gosec // at most 13 bits
			reversed := bits.Reverse32(code[n]) >> (32 - n)
			for i := reversed; i < 1<<tableBits; i += 1 << n {
				h.table[i] = entry
			}
		}
		code[n]++
	}
	return true
}

// symbol decodes the next one. There must be enough bits.
func (z *inflater) symbol(h *huffman) (int, bool) {
	if e := h.table[z.acc&(1<<tableBits-1)]; e != 0 {
		z.acc >>= e & 15
		z.bits -= uint(e & 15)
		return int(e >> 4), true
	}
	code, first, at := 0, 0, 0
	for n := 1; n <= maxCode; n++ {
		code |= int(z.acc>>(n-1)) & 1
		count := int(h.count[n])
		if code-count < first {
			z.take(uint(n))
			return int(h.symbols[at+code-first]), true
		}
		at, first, code = at+count, (first+count)<<1, code<<1
	}
	return 0, false
}

// block decodes the rest of a block behind dst[:out], and returns its end.
func (z *inflater) block(dst []byte, out int, literals, distances *huffman) (int, bool) {
	for {
		z.fill()
		symbol, ok := z.symbol(literals)
		switch {
		case !ok:
			return 0, false
		case symbol < 256:
			if out == len(dst) {
				return 0, false
			}
			dst[out] = byte(symbol)
			out++
			continue
		case symbol == 256:
			return out, true
		}
		length, ok := z.length(symbol)
		if !ok {
			return 0, false
		}
		distance, ok := z.distance(distances)
		if !ok || distance > out || length > len(dst)-out {
			return 0, false
		}
		repeat(dst[:out+length], out, distance)
		out += length
	}
}

// repeat fills dst[out:] with what begins distance bytes before, which may be itself.
func repeat(dst []byte, out, distance int) {
	for n := out - distance; out < len(dst); {
		out += copy(dst[out:], dst[n:out])
	}
}

// length is that of a match, by its symbol.
func (z *inflater) length(symbol int) (int, bool) {
	switch n := symbol - 257; {
	case n < 8:
		return n + 3, true
	case n < 28:
		extra := uint(n>>2 - 1) //nolint:gosec // at most 5
		return (4+n&3)<<extra + 3 + z.take(extra), true
	case n == 28:
		return 258, true
	}
	return 0, false
}

func (z *inflater) distance(h *huffman) (int, bool) {
	n, ok := z.symbol(h)
	switch {
	case !ok || n > 29:
		return 0, false
	case n < 4:
		return n + 1, true
	}
	extra := uint(n>>1 - 1) //nolint:gosec // at most 13
	return (2+n&1)<<extra + 1 + z.take(extra), true
}
