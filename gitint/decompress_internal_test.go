package gitint

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// deflatedTexts are what packs hold, in short: text, trees, what was compressed before, and runs.
func deflatedTexts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var words, tree, skewed bytes.Buffer
	for words.Len() < 90_000 {
		words.WriteString([]string{"type", "content", " ", "\n  ", "chat", "0", "id"}[random.IntN(7)])
	}
	for range 300 {
		tree.WriteString("40000 ab\x00")
		tree.Write(noise[random.IntN(40_000):][:20])
	}
	for i := range 24 { // codes of very different lengths
		skewed.WriteString(strings.Repeat(string(rune('a'+i)), 1<<min(i, 16)))
	}
	mixed := skewed.Bytes()
	random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return map[string][]byte{
		"nothing": nil, "a byte": {7}, "noise": noise, "little noise": noise[:100],
		"words": words.Bytes(), "few words": words.Bytes()[:300], "tree": tree.Bytes(),
		"skewed": mixed, "zeros": make([]byte, 100_000), "period": bytes.Repeat([]byte("abc"), 900),
	}
}

func deflate(tb testing.TB, data []byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestDecompress(t *testing.T) {
	var z decompressor
	for name, data := range deflatedTexts() {
		for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
			src := deflate(t, data, level)
			for _, behind := range []string{"", "more behind it, as in a pack"} {
				dst := make([]byte, len(data))
				err := z.inflate(dst, append(bytes.Clone(src), behind...))
				if err != nil || !bytes.Equal(dst, data) {
					t.Errorf("%s, level %d: %v, same %t", name, level, err, bytes.Equal(dst, data))
				}
			}
			if err := z.inflate(make([]byte, len(data)+1), src); err == nil {
				t.Errorf("%s, level %d: more than there is", name, level)
			}
		}
	}
}

// TestDecompressCutAnywhere: what is cut is no object, wherever that happens.
func TestDecompressCutAnywhere(t *testing.T) {
	var z decompressor
	for name, data := range deflatedTexts() {
		data = data[:min(len(data), 2000)]
		for _, level := range []int{zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
			src := deflate(t, data, level)
			dst := make([]byte, len(data))
			for n := range src {
				err := z.inflate(dst, src[:n])
				if err == nil && !bytes.Equal(dst, data) {
					t.Errorf("%s, level %d, cut at %d: other content and no error", name, level, n)
				}
			}
		}
	}
}

// FuzzDecompress holds what comes out against the library's: where it finds no fault in the first
// bytes, ours are the same.
func FuzzDecompress(f *testing.F) {
	for _, data := range deflatedTexts() {
		data = data[:min(len(data), 500)]
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestCompression} {
			f.Add(deflate(f, data, level), len(data))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, size int) {
		if size < 0 || size > 1<<16 {
			return
		}
		var z decompressor
		got := make([]byte, size)
		err := z.inflate(got, src)
		want := make([]byte, size)
		r, wantErr := zlib.NewReader(bytes.NewReader(src))
		if wantErr == nil {
			_, wantErr = io.ReadFull(r, want)
		}
		if wantErr == nil && (err != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%x: %v, %x, want %x", src, err, got, want)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	for name, data := range deflatedTexts() {
		src, dst := deflate(b, data, zlib.DefaultCompression), make([]byte, len(data))
		b.Run("ours/"+name, func(b *testing.B) {
			var z decompressor
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := z.inflate(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("library/"+name, func(b *testing.B) {
			var z inflater
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, err := z.from(bytes.NewReader(src))
				if err == nil {
					_, err = io.ReadFull(r, dst)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
