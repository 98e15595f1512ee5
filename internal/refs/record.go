package refs

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const (
	mark      = "\xffjp\n"
	frameSize = len(mark) + 4 + 4
	bodyHead  = 2       // kind, size of the id
	maxBody   = 1 << 26 // longer ones are not written, and are treated as damaged
)

// appendRecord appends the framed record to dst.
func appendRecord(dst []byte, k key, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, mark...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(bodyHead+int(k.size)+len(payload)))
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, byte(k.kind), k.size)
	dst = append(dst, k.id[:k.size]...)
	dst = append(dst, payload...)
	binary.LittleEndian.PutUint32(dst[start+8:], checksum(dst[start:]))
	return dst
}

// checksum covers the length and the body of the record rec.
func checksum(rec []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(rec[4:8], table), table, rec[frameSize:])
}

// parseRecord parses the record at the beginning of data. ok is false if there is no complete,
// intact one.
func parseRecord(data []byte) (k key, payload []byte, size int, ok bool) {
	if len(data) < frameSize+bodyHead || string(data[:len(mark)]) != mark {
		return key{}, nil, 0, false
	}
	body := binary.LittleEndian.Uint32(data[4:])
	if body < bodyHead || body > maxBody || int(body) > len(data)-frameSize {
		return key{}, nil, 0, false
	}
	size = frameSize + int(body)
	if binary.LittleEndian.Uint32(data[8:]) != checksum(data[:size]) {
		return key{}, nil, 0, false
	}
	k.kind, k.size = kind(data[frameSize]), data[frameSize+1]
	rest := data[frameSize+bodyHead : size]
	if int(k.size) > len(k.id) || int(k.size) > len(rest) {
		return key{}, nil, 0, false
	}
	copy(k.id[:], rest[:k.size])
	return k, rest[k.size:], size, true
}

// A span is the place of a record in a file. A short payload is kept with it, so that it need not
// be read again: most answers are that there is no fault.
type span struct {
	off   int64
	size  int32
	known bool // short holds the entire payload
	n     uint8
	short [maxShort]byte
}

const maxShort = 2

func spanOf(off, size int, payload []byte) span {
	at := span{off: int64(off), size: int32(size)} // at most maxBody
	if len(payload) <= maxShort {
		at.known, at.n = true, uint8(copy(at.short[:], payload)) // at most maxShort
	}
	return at
}

// moved returns the span of the same record at another offset.
func (at span) moved(by int64) span {
	at.off += by
	return at
}

// scan calls found for every intact record of data. Damage only affects the records in which it is:
// scanning continues at the next mark.
func scan(data []byte, found func(key, span)) {
	for off := 0; off < len(data); {
		if k, payload, size, ok := parseRecord(data[off:]); ok {
			found(k, spanOf(off, size, payload))
			off += size
			continue
		}
		next := bytes.Index(data[min(off+1, len(data)):], []byte(mark))
		if next < 0 {
			return
		}
		off += 1 + next
	}
}
