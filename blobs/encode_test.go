package blobs

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io"
	"os"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// A vector is one line of testdata/vectors.json, which docs/format.md repeats.
type vector struct {
	Name     string `json:"name"`
	Content  string `json:"content"` // how to make the content
	Hash     Hash   `json:"sha256"`
	Size     int64  `json:"size"`
	FileHash Hash   `json:"file_sha256"`
	FileSize int64  `json:"file_size"`
}

// random returns n bytes of a generator that can be described in one line: the top bytes of x =
// 6364136223846793005·x + 1442695040888963407 mod 2^64, from x = 1.
func random(n int) []byte {
	b, x := make([]byte, n), uint64(1)
	for i := range b {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = byte(x >> 56)
	}
	return b
}

const verse = "The quick brown fox jumps over the lazy dog.\n"

func vectorContents() map[string][]byte {
	return map[string][]byte{
		"empty":  {},
		"byte":   {0},
		"hello":  []byte("hello\n"),
		"zeros":  make([]byte, 64<<10),
		"random": random(1 << 20),
		"text":   bytes.Repeat([]byte(verse), 1000),
	}
}

func TestEncode_vectors(t *testing.T) {
	const file = "testdata/vectors.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	contents := vectorContents()
	if len(vectors) != len(contents) {
		t.Errorf("%d vectors for %d contents", len(vectors), len(contents))
	}
	for i, want := range vectors {
		content, ok := contents[want.Name]
		if !ok {
			t.Fatalf("no content %q", want.Name)
		}
		gz := Encode(content)
		got := vector{
			Name: want.Name, Content: want.Content,
			Hash: Sum(content), Size: int64(len(content)),
			FileHash: Sum(gz), FileSize: int64(len(gz)),
		}
		if got != want && !*update {
			t.Errorf("%s:\ngot  %+v\nwant %+v", want.Name, got, want)
		}
		vectors[i] = got
	}
	if *update {
		data, _ := json.MarshalIndent(vectors, "", "  ")
		if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEncode_header(t *testing.T) {
	gz := Encode([]byte("hello\n"))
	if got := hex.EncodeToString(gz[:10]); got != "1f8b08000000000000ff" {
		t.Errorf("header %s", got)
	}
	z, err := stdgzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	if b, err := io.ReadAll(z); err != nil || string(b) != "hello\n" {
		t.Errorf("content %q, %v", b, err)
	}
}

// Pooled writers must not carry over state, whatever the order of their use.
func TestEncode_isPure(t *testing.T) {
	contents := vectorContents()
	want := map[string]Hash{}
	for name, b := range contents {
		want[name] = Sum(Encode(b))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				for name, b := range contents {
					if Sum(Encode(b)) != want[name] {
						t.Errorf("%s: other bytes", name)
					}
				}
			}
		})
	}
	wg.Wait()
}
