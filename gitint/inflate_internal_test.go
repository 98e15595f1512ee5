package gitint

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func deflated(tb testing.TB, data []byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func samples() [][]byte {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // only a sample
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var text, skewed strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d %x\n", random.IntN(500), noise[i%97:i%97+3])
		// Frequencies that halve make the longest codes.
		skewed.WriteByte(byte('a' + min(random.Uint32()|1<<20, 1<<20)>>20))
		skewed.WriteString(strings.Repeat(string(rune(33+i%90)), 1+random.IntN(1<<(i%12))))
	}
	steep := []byte(nil)
	for i := range 18 {
		for range 1 << i {
			steep = append(steep, byte(i*7), byte(random.IntN(3)))
		}
	}
	random.Shuffle(len(steep), func(i, j int) { steep[i], steep[j] = steep[j], steep[i] })
	return [][]byte{
		nil,
		{1},
		[]byte("100644 name\x00aaaaaaaaaaaaaaaaaaaa"), noise, []byte(text.String()),
		[]byte(skewed.String()), steep, bytes.Repeat([]byte("ab"), 70_000),
		bytes.Repeat([]byte{0}, 300), append(bytes.Clone(noise[:40_000]), noise[:40_000]...),
	}
}

func TestInflate(t *testing.T) {
	var z inflater
	for i, data := range samples() {
		for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
			packed := deflated(t, data, level)
			got := make([]byte, len(data))
			if err := z.inflate(got, append(bytes.Clone(packed), "more"...)); err != nil ||
				!bytes.Equal(got, data) {
				t.Errorf("sample %d, level %d: %v", i, level, err)
			}
			if err := z.inflate(got, packed); err != nil || !bytes.Equal(got, data) {
				t.Errorf("sample %d, level %d, at the end: %v", i, level, err)
			}
			if err := z.inflate(make([]byte, len(data)+1), packed); err == nil {
				t.Errorf("sample %d, level %d: a longer one is filled", i, level)
			}
			if n := len(packed) - 6; len(data) > 0 && z.inflate(got, packed[:n]) == nil {
				t.Errorf("sample %d, level %d: a shorter one is filled", i, level)
			}
		}
	}
}

// FuzzInflate holds that what we decompress is what the library does, and that we never read
// beyond anything.
func FuzzInflate(f *testing.F) {
	for _, data := range samples() {
		data = data[:min(len(data), 5000)]
		f.Add(deflated(f, data, 6), len(data))
		f.Add(deflated(f, data, 0), len(data))
	}
	f.Fuzz(func(t *testing.T, packed []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		var z inflater
		got := make([]byte, size)
		if z.inflate(got, packed) != nil {
			return
		}
		r, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("the library finds no stream: %v", err)
		}
		want := make([]byte, size)
		if _, err := io.ReadFull(r, want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %q, the library %q, %v", got, want, err)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	var z inflater
	for i, data := range samples() {
		packed := deflated(b, data, 6)
		got := make([]byte, len(data))
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := z.inflate(got, packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
