package secrets_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// BenchmarkScan measures text without keywords, and agents' output with its escapes and base64.
func BenchmarkScan(b *testing.B) {
	prose := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog, 7 times.\n"), 1<<14)
	b.Run("prose", func(b *testing.B) { benchmarkScan(b, prose) })
	b.Run("agents", func(b *testing.B) {
		var all [][]byte
		for _, data := range realFiles(b, "agents") {
			all = append(all, data)
		}
		slices.SortFunc(all, bytes.Compare)
		benchmarkScan(b, bytes.Join(all, nil))
	})
}

func benchmarkScan(b *testing.B, text []byte) {
	rules := secrets.Builtin()
	rules.Scan(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		rules.Scan(text)
	}
}

// BenchmarkStart measures the cost of scanning one line in a new process.
func BenchmarkStart(b *testing.B) {
	line := []byte("nothing")
	for b.Loop() {
		secrets.Builtin().Scan(line)
	}
}
