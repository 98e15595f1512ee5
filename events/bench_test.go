package events_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// largest returns the largest real stream, 1.8 MB.
func largest(b *testing.B) []byte {
	b.Helper()
	var data []byte
	for _, d := range realFiles(b, "events.json") {
		if len(d) > len(data) {
			data = d
		}
	}
	return data
}

// discard is a writer that stores nothing.
type discard struct{}

func (discard) Write(p []byte) (blobs.Ref, error) { return blobs.RefTo(p), nil }

// referring returns the largest real stream with references.
func referring(b *testing.B) []byte {
	b.Helper()
	s, err := events.Decode(largest(b))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Externalize(discard{}, events.ExternalizeOptions{Legacy: true}); err != nil {
		b.Fatal(err)
	}
	return s.Encode()
}

func BenchmarkDecode(b *testing.B) {
	for name, data := range map[string][]byte{"legacy": largest(b), "references": referring(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := events.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReferences(b *testing.B) {
	for name, data := range map[string][]byte{"legacy": largest(b), "references": referring(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := events.References(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncodeAfterEdit(b *testing.B) {
	data := largest(b)
	s, err := events.Decode(data)
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		next := s.Clone()
		next.Set(300, s.At(300).WithTime(at))
		next.Append(events.NewElement(at, &events.ChatRequest{Content: "go on"}, events.Metadata{}))
		if len(next.Encode()) <= len(data) {
			b.Fatal("nothing was appended")
		}
	}
}
