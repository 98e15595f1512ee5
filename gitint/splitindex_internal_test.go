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

func FuzzFindLink(f *testing.F) {
	f.Add([]byte("link\x00\x00\x00\x14aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("link\x00\x00\x00\x2caaaaaaaaaaaaaaaaaaaa" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		link, err := findLink(body)
		if (link == nil) == (err == nil) {
			t.Errorf("findLink = %v, %v", link, err)
		}
	})
}
