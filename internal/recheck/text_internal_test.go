package recheck

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/git-jp/git-jp/blobs"
)

// TestHexRuns compares the runs with those from splitting the whole text, for every small size of
// buffer and read.
func TestHexRuns(t *testing.T) {
	h := strings.Repeat("0123456789abcdefABCDEF", 4)
	for _, text := range []string{
		"", "x", "abc", h[:64], h[:65], h[:63], h, " " + h[:64], h[:64] + "\n", h[:64] + h[:64],
		"sha256:" + h[:64] + `"` + h[1:65] + "g" + h[:63] + " dead beef " + h[:66],
		strings.Repeat("z", 70) + h[:64], strings.Repeat("a", 200) + "." + h[:64],
	} {
		const least = 4
		var want []string
		for _, run := range strings.FieldsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("0123456789abcdefABCDEF", r)
		}) {
			if least <= len(run) && len(run) <= hashDigits {
				want = append(want, run)
			}
		}
		for size := hashDigits + 2; size < hashDigits+40; size++ {
			for _, r := range []io.Reader{
				strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
				iotest.DataErrReader(strings.NewReader(text)),
			} {
				var got []string
				err := hexRuns(r, make([]byte, size), least, func(run []byte) {
					got = append(got, string(run))
				})
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%q with %d: %q, %v; want %q", text, size, got, err, want)
				}
			}
		}
	}
}

func TestWatch(t *testing.T) {
	one, other := blobs.Sum([]byte("one")), blobs.Sum([]byte("other"))
	w := newWatch([]blobs.Hash{one, other, one})
	for text, want := range map[string][]int32{
		one.String(): {0},
		`{"$blob":"` + strings.ToUpper(other.String()) + `"} ` + one.String() + " " + one.String(): {0, 1},
		one.String() + "0": nil,
		"f" + one.String(): nil,
		one.String()[1:]:   nil,
	} {
		if got, err := w.in(strings.NewReader(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	if _, err := w.in(iotest.ErrReader(io.ErrUnexpectedEOF)); err == nil {
		t.Error("no error of the reader")
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("40000 .jp\x00aaaaaaaaaaaaaaaaaaaa100644 b\x00bbbbbbbbbbbbbbbbbbbb"))
	f.Add([]byte("160000 sub\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseTree(nil, data, 20)
		for _, e := range all {
			if len(e.id) != 20 || bytes.IndexByte(e.name, 0) >= 0 {
				t.Errorf("entry %q", e.name)
			}
		}
		if err == nil && len(all) > len(data)/22 {
			t.Errorf("%d entries of %d bytes", len(all), len(data))
		}
	})
}
