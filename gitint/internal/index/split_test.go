package index

import (
	"bytes"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

func TestParseBitmap(t *testing.T) {
	data := []byte{
		0, 0, 0, 200, 0, 0, 0, 3, // 200 bits in 3 words
		0, 0, 0, 0, 0, 0, 0, 1<<1 | 1, // one word of ones, no plain ones
		0, 0, 0, 2, 0, 0, 0, 1 << 1, // one word of zeroes, one plain one
		0, 0, 0, 0, 0, 0, 0, 5,
		0, 0, 0, 1, // position of the last marker
		9,
	}
	b, rest, err := parseBitmap(data)
	if err != nil || !slices.Equal(rest, []byte{9}) {
		t.Fatalf("rest %v, %v", rest, err)
	}
	for i := range 300 {
		want := i < 64 || i == 128 || i == 130
		if b.has(i) != want {
			t.Errorf("bit %d is %v", i, b.has(i))
		}
	}
}

func FuzzParseIndexFile(f *testing.F) {
	for _, version := range []byte{2, 3, 4} {
		f.Add(append([]byte("DIRC\x00\x00\x00"+string(rune(version))+"\x00\x00\x00\x00"+
			"link\x00\x00\x00\x14aaaaaaaaaaaaaaaaaaaa"), make([]byte, object.SHA1Size)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parse(bytes.NewReader(data), int64(len(data)), object.SHA1Size, nil)
		if err != nil {
			return
		}
		odd := func(_ *Entry, name []byte) bool { return len(name)%2 == 1 }
		some, err := parse(bytes.NewReader(data), int64(len(data)), object.SHA1Size, odd)
		if err != nil {
			t.Fatalf("in part: %v", err)
		}
		want := slices.DeleteFunc(all.entries, func(e Entry) bool { return len(e.Path)%2 == 0 })
		if !slices.Equal(some.entries, want) {
			t.Errorf("in part %v, not %v", some.entries, want)
		}
	})
}
