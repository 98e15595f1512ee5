package gitint

import (
	"slices"
	"testing"
)

func TestParseBitmap(t *testing.T) {
	data := []byte{
		0, 0, 0, 200, 0, 0, 0, 3, // 200 bits in 3 words
		0, 0, 0, 0, 0, 0, 0, 1<<1 | 1, // one word of ones, no plain ones
		0, 0, 0, 2, 0, 0, 0, 1 << 1, // one word of zeroes, one plain one
		0, 0, 0, 0, 0, 0, 0, 5,
		0, 0, 0, 1, // where the last marker is
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
			"link\x00\x00\x00\x14aaaaaaaaaaaaaaaaaaaa"), make([]byte, sha1Size)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseIndexFile(data, sha1Size)
		if err != nil {
			return
		}
		for _, e := range file.extensions {
			if e.at+extensionHead+len(e.content) > len(file.body) {
				t.Errorf("extension %q at %d of %d bytes", e.name, e.at, len(file.body))
			}
		}
	})
}
