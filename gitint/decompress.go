package gitint

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errDeflate says that bytes are no deflated object, or not all of one.
var errDeflate = errors.New("cannot decompress")

// A decompressor decompresses by RFC 1950 and 1951 from memory to memory. A pack has very many
// small objects: what there is to prepare for each takes a general decompressor longer than the
// object. Checksums are not looked at.
type decompressor struct {
	src    []byte
	bits   uint64 // that were taken from src and not used
	n      uint   // how many
	dst    []byte
	out    int // how many bytes of dst are there
	fixed  *codes
	varied codes
	length huffman // of the lengths of codes
	sizes  [maxLiterals + maxDistances]uint8
}

// codes are the two alphabets of a block.
type codes struct{ literals, distances huffman }

const (
	maxLiterals  = 288
	maxDistances = 32
	maxCode      = 15 // bits of the longest code
	endOfBlock   = 256
)

// inflate fills dst with what src decompresses to. There may be more of both.
func (z *decompressor) inflate(dst, src []byte) error {
	const method, dictionary = 8, 0x20
	if len(src) < 2 || src[0]&15 != method || src[1]&dictionary != 0 ||
		(uint(src[0])<<8|uint(src[1]))%31 != 0 {
		return errDeflate
	}
	z.src, z.dst, z.bits, z.n, z.out = src[2:], dst, 0, 0, 0
	for z.out < len(dst) {
		last, err := z.take(1)
		if err != nil {
			return err
		}
		if err := z.block(); err != nil {
			return err
		}
		if last == 1 && z.out < len(dst) {
			return errDeflate
		}
	}
	return nil
}

func (z *decompressor) block() error {
	kind, err := z.take(2)
	switch {
	case err != nil:
		return err
	case kind == 0:
		return z.stored()
	case kind == 1:
		if z.fixed == nil {
			z.fixed = fixedCodes()
		}
		return z.coded(z.fixed)
	case kind == 2:
		if err := z.readCodes(); err != nil {
			return err
		}
		return z.coded(&z.varied)
	}
	return errDeflate
}

// fill takes bytes for at least 56 bits, as long as there are some.
func (z *decompressor) fill() {
	if len(z.src) >= 8 {
		z.bits |= binary.LittleEndian.Uint64(z.src) << z.n
		z.src = z.src[(63-z.n)/8:]
		z.n |= 56
		z.bits &= 1<<z.n - 1
		return
	}
	for z.n <= 56 && len(z.src) > 0 {
		z.bits |= uint64(z.src[0]) << z.n
		z.src, z.n = z.src[1:], z.n+8
	}
}

// take returns the next bits.
func (z *decompressor) take(n uint) (uint, error) {
	if z.n < n {
		if z.fill(); z.n < n {
			return 0, errDeflate
		}
	}
	v := uint(z.bits & (1<<n - 1))
	z.bits, z.n = z.bits>>n, z.n-n
	return v, nil
}

// stored copies a block that is not compressed.
func (z *decompressor) stored() error {
	z.bits, z.n = z.bits>>(z.n%8), z.n/8*8
	size, err := z.take(16)
	if err != nil {
		return err
	}
	check, err := z.take(16)
	if err != nil || size^check != 0xffff {
		return errDeflate
	}
	for ; size > 0 && z.n > 0 && z.out < len(z.dst); size-- {
		z.dst[z.out] = byte(z.bits)
		z.bits, z.n, z.out = z.bits>>8, z.n-8, z.out+1
	}
	wanted := min(int(size), len(z.dst)-z.out) //nolint:gosec // of 16 bits
	if wanted > len(z.src) {
		return errDeflate
	}
	z.out += copy(z.dst[z.out:], z.src[:wanted])
	z.src = z.src[wanted:]
	return nil
}

// enough is how many bits a length and a distance have at most, with what stands behind both codes.
const enough = 48

// coded reads a block up to its end, or until dst is full.
func (z *decompressor) coded(c *codes) error {
	for z.out < len(z.dst) {
		z.quickly(c)
		if z.n < enough {
			z.fill()
		}
		if z.out == len(z.dst) {
			return nil
		}
		symbol, err := z.symbol(&c.literals)
		switch {
		case err != nil:
			return err
		case symbol < endOfBlock:
			z.dst[z.out] = byte(symbol)
			z.out++
		case symbol == endOfBlock:
			return nil
		default:
			if err := z.again(c, symbol-endOfBlock-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// quickly reads on as long as codes are short, and far enough from the end of src, which is most of
// the work: what it needs of z is in registers.
func (z *decompressor) quickly(c *codes) {
	const all = 1<<shortCode - 1
	src, dst, out, held, n := z.src, z.dst, z.out, z.bits, z.n
	literals, distances := c.literals.mask, c.distances.mask
	for out < len(dst) {
		if n < enough {
			if len(src) < 8 {
				break
			}
			held |= binary.LittleEndian.Uint64(src) << (n & 63)
			src = src[(63-n)/8:]
			n |= 56
		}
		e := c.literals.short[held&literals&all]
		if e == 0 {
			break
		}
		if e < endOfBlock<<4 {
			dst[out] = byte(e >> 4)
			out++
			held, n = held>>(e&15), n-uint(e&15)
			continue
		}
		symbol := uint(e>>4) - endOfBlock - 1 // of the end of a block, more than any
		if symbol >= uint(len(lengthBase)) {
			break
		}
		bits := held >> (e & 15)
		length := int(lengthBase[symbol]) + int(bits&(1<<lengthBits[symbol]-1))
		bits >>= lengthBits[symbol]
		d := c.distances.short[bits&distances&all]
		if d == 0 || int(d>>4) >= len(distanceBase) {
			break
		}
		bits >>= d & 15
		more := distanceBits[d>>4]
		distance := int(distanceBase[d>>4]) + int(bits&(1<<more-1))
		if distance > out {
			break
		}
		n -= uint(e&15) + uint(lengthBits[symbol]) + uint(d&15) + uint(more)
		held = bits >> more
		out = repeat(dst, out, distance, length)
	}
	z.src, z.out, z.bits, z.n = src, out, held&(1<<n-1), n
}

// repeat copies a part of dst that ends before out, or overlaps it, and returns the new end.
func repeat(dst []byte, out, distance, length int) int {
	end := min(out+length, len(dst))
	if distance >= length {
		return out + copy(dst[out:end], dst[out-distance:])
	}
	for from := out - distance; out < end; {
		out += copy(dst[out:end], dst[from:out])
	}
	return out
}

// again repeats what came before; symbol is that of the length.
func (z *decompressor) again(c *codes, symbol uint) error {
	if symbol >= uint(len(lengthBase)) {
		return errDeflate
	}
	more, err := z.take(uint(lengthBits[symbol]))
	if err != nil {
		return err
	}
	length := int(lengthBase[symbol]) + int(more) //nolint:gosec // of few bits
	if symbol, err = z.symbol(&c.distances); err != nil || symbol >= uint(len(distanceBase)) {
		return errDeflate
	}
	if more, err = z.take(uint(distanceBits[symbol])); err != nil {
		return err
	}
	distance := int(distanceBase[symbol]) + int(more) //nolint:gosec // of few bits
	if distance > z.out {
		return errDeflate
	}
	z.out = repeat(z.dst, z.out, distance, length)
	return nil
}

// symbol reads one code.
func (z *decompressor) symbol(h *huffman) (uint, error) {
	if e := h.short[z.bits&h.mask]; e != 0 && uint(e&15) <= z.n {
		z.bits, z.n = z.bits>>(e&15), z.n-uint(e&15)
		return uint(e >> 4), nil
	}
	z.fill()
	first, at := 0, 0
	code := 0
	for size := 1; size <= maxCode && uint(size) <= z.n; size++ {
		code |= int(z.bits >> (size - 1) & 1)
		count := int(h.count[size])
		if code-first < count {
			z.bits, z.n = z.bits>>size, z.n-uint(size)
			return uint(h.symbols[at+code-first]), nil
		}
		at, first, code = at+count, (first+count)<<1, code<<1
	}
	return 0, errDeflate
}

// readCodes reads the codes of a block that brings its own.
func (z *decompressor) readCodes() error {
	head, err := z.take(5 + 5 + 4)
	if err != nil {
		return err
	}
	literals, distances, lengths := 257+head&31, 1+head>>5&31, 4+head>>10
	if literals > maxLiterals {
		return errDeflate
	}
	clear(z.sizes[:len(lengthOrder)])
	for _, i := range lengthOrder[:lengths] {
		size, err := z.take(3)
		if err != nil {
			return err
		}
		z.sizes[i] = uint8(size) //nolint:gosec // of 3 bits
	}
	if err := z.length.set(z.sizes[:len(lengthOrder)]); err != nil {
		return err
	}
	if err := z.readSizes(int(literals + distances)); err != nil { //nolint:gosec // of few bits
		return err
	}
	if err := z.varied.literals.set(z.sizes[:literals]); err != nil {
		return err
	}
	return z.varied.distances.set(z.sizes[literals : literals+distances])
}

// readSizes reads the lengths of the codes of both alphabets, one behind the other.
func (z *decompressor) readSizes(n int) error {
	const previous, zeros, manyZeros = 16, 17, 18
	for i := 0; i < n; {
		symbol, err := z.symbol(&z.length)
		if err != nil {
			return err
		}
		if symbol < previous {
			z.sizes[i] = uint8(symbol) //nolint:gosec // looked at
			i++
			continue
		}
		var size uint8
		least, more := uint(3), uint(2)
		switch symbol {
		case previous:
			if i == 0 {
				return errDeflate
			}
			size = z.sizes[i-1]
		case zeros:
			more = 3
		case manyZeros:
			least, more = 11, 7
		}
		count, err := z.take(more)
		if err != nil {
			return err
		}
		for count += least; count > 0; count-- {
			if i == n {
				return errDeflate
			}
			z.sizes[i] = size
			i++
		}
	}
	return nil
}

const shortCode = 10

// A huffman is an alphabet: codes of up to ten bits are found at once, the few longer ones bit by
// bit.
type huffman struct {
	short   [1 << shortCode]uint16 // the symbol, and in four bits how long its code is
	mask    uint64
	count   [maxCode + 1]uint16 // codes by their length
	symbols [maxLiterals]uint16 // in the order of their codes
}

// set makes the alphabet in which the symbols have codes of these lengths, 0 for none.
func (h *huffman) set(sizes []uint8) error {
	h.count = [maxCode + 1]uint16{}
	longest := uint8(1)
	for _, size := range sizes {
		h.count[size]++
		longest = max(longest, size)
	}
	h.count[0] = 0
	var next, at [maxCode + 2]uint16 // the first code of a length, and its place in symbols
	left := 1
	for size := 1; size <= maxCode; size++ {
		if left = left<<1 - int(h.count[size]); left < 0 {
			return errDeflate
		}
		next[size+1] = (next[size] + h.count[size]) << 1
		at[size+1] = at[size] + h.count[size]
	}
	width := min(longest, shortCode)
	h.mask = 1<<width - 1
	if left > 0 {
		clear(h.short[:1<<width])
	} else if longest > shortCode {
		clear(h.short[:])
	}
	for symbol, size := range sizes {
		if size == 0 {
			continue
		}
		h.symbols[at[size]] = uint16(symbol) //nolint:gosec // below 288
		at[size]++
		code := next[size]
		next[size]++
		if size > shortCode {
			continue
		}
		e := uint16(symbol)<<4 | uint16(size) //nolint:gosec // below 288
		for i := int(bits.Reverse16(code) >> (16 - size)); i < 1<<width; i += 1 << size {
			h.short[i] = e
		}
	}
	return nil
}

func fixedCodes() *codes {
	var sizes [maxLiterals]uint8
	for i := range sizes {
		switch {
		case i < 144:
			sizes[i] = 8
		case i < 256:
			sizes[i] = 9
		case i < 280:
			sizes[i] = 7
		default:
			sizes[i] = 8
		}
	}
	var c codes
	_ = c.literals.set(sizes[:]) // they are right
	for i := range maxDistances {
		sizes[i] = 5
	}
	_ = c.distances.set(sizes[:maxDistances])
	return &c
}

var (
	lengthOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	lengthBase  = [...]uint16{
		3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258,
	}
	lengthBits = [...]uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
	}
	distanceBase = [...]uint16{
		1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
		2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
	}
	distanceBits = [...]uint8{
		0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12,
		13, 13,
	}
)
