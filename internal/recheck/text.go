package recheck

import (
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"github.com/git-jp/git-jp/blobs"
)

// hashDigits is the number of digits in a hash.
const hashDigits = 2 * len(blobs.Hash{})

// A watch searches text for hashes, which it identifies by number.
type watch struct {
	hashes  []blobs.Hash
	numbers map[blobs.Hash]int32
	buf     []byte
}

func newWatch(all []blobs.Hash) *watch {
	w := &watch{numbers: make(map[blobs.Hash]int32, len(all)), buf: make([]byte, 64<<10)}
	for _, h := range all {
		if _, ok := w.numbers[h]; !ok {
			w.numbers[h] = int32(len(w.hashes)) // so many do not fit a disk
			w.hashes = append(w.hashes, h)
		}
	}
	return w
}

// in returns the numbers of the hashes in a text, sorted and without duplicates.
func (w *watch) in(r io.Reader) ([]int32, error) {
	var found []int32
	err := hexRuns(r, w.buf, hashDigits, func(run []byte) {
		if n, ok := w.number(run); ok {
			found = append(found, n)
		}
	})
	slices.Sort(found)
	return slices.Clip(slices.Compact(found)), err
}

func (w *watch) number(digits []byte) (int32, bool) {
	var h blobs.Hash
	if len(digits) != hashDigits {
		return 0, false
	}
	if _, err := hex.Decode(h[:], digits); err != nil {
		return 0, false
	}
	n, ok := w.numbers[h]
	return n, ok
}

// hexRuns calls f with each maximal run of hexadecimal digits, in either case, that has at least so
// many digits and no more than a hash. The run is valid during the call. buf must be much larger
// than a run.
func hexRuns(r io.Reader, buf []byte, least int, f func(run []byte)) error {
	// A run that began before the end of the buffer is moved to its beginning. Of a run that is too
	// long, one digit more than a hash has is kept.
	kept, run := 0, 0
	end := func(data []byte) {
		if least <= run && run <= hashDigits {
			f(data[len(data)-run:])
		}
		run = 0
	}
	for {
		n, err := r.Read(buf[kept:])
		data := buf[:kept+n]
		for i := kept; i < len(data); i++ {
			if isHex[data[i]] {
				run++
			} else if run > 0 {
				end(data[:i])
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			end(data)
			return nil
		case err != nil:
			return err
		}
		kept = min(run, hashDigits+1)
		copy(buf, data[len(data)-kept:])
	}
}

// isHex has the bytes that are hexadecimal digits.
var isHex = func() (is [256]bool) {
	for _, c := range "0123456789abcdefABCDEF" {
		is[c] = true
	}
	return is
}()
