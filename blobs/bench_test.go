package blobs

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// source returns n bytes that compress like program text.
func source(n int) []byte {
	var buf bytes.Buffer
	noise := random(n)
	for i := 0; buf.Len() < n; i++ {
		fmt.Fprintf(&buf, "\tif err := step%x(ctx, %q); err != nil { return err }\n",
			noise[i%n]%16, noise[i%n:min(n, i%n+4)])
	}
	return buf.Bytes()[:n]
}

var benchSizes = []int{100, 4 << 10, 64 << 10, 1 << 20}

func sizes(b *testing.B, f func(b *testing.B, content []byte)) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("%dB", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			f(b, source(n))
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		for b.Loop() {
			Encode(content)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		gz, ref := Encode(content), RefTo(content)
		for b.Loop() {
			if _, err := Decode(gz, ref); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		s := newStore(b, withClock())
		ref := mustWrite(b, s, content)
		for b.Loop() {
			if _, err := s.Read(ref); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		s := newStore(b, withClock())
		ref := mustWrite(b, s, content)
		for b.Loop() {
			if err := s.Verify(ref); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWriteExisting(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		s := newStore(b, withClock())
		mustWrite(b, s, content)
		for b.Loop() {
			mustWrite(b, s, content)
		}
	})
}

// distinct returns content of the same length that differs for each i.
func distinct(content []byte, i int) []byte {
	c := bytes.Clone(content)
	copy(c, fmt.Sprintf("%20d", i))
	return c
}

func BenchmarkWriteNew(b *testing.B) {
	sizes(b, func(b *testing.B, content []byte) {
		s := newStore(b, withClock())
		for i := 0; b.Loop(); i++ {
			mustWrite(b, s, distinct(content, i))
		}
	})
}

// Each iteration of a batch of 1000 blobs counts as one blob.
func BenchmarkBatch(b *testing.B) {
	for _, writers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("%dwriters", writers), func(b *testing.B) {
			s := newStore(b, withClock())
			content := source(4 << 10)
			const blobs = 1000
			b.SetBytes(blobs * int64(len(content)))
			for round := 0; b.Loop(); round++ {
				batch := s.NewBatch()
				var wg sync.WaitGroup
				for w := range writers {
					wg.Go(func() {
						for i := w; i < blobs; i += writers {
							mustWrite(b, batch, distinct(content, round*blobs+i))
						}
					})
				}
				wg.Wait()
				if err := batch.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*blobs), "µs/blob")
		})
	}
}
