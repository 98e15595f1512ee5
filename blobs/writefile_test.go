package blobs_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"github.com/git-jp/git-jp/blobs"
)

// TestWriteFileKeepsTheBytes writes what another encoder made: git knows a blob by its bytes.
func TestWriteFileKeepsTheBytes(t *testing.T) {
	var gz bytes.Buffer
	w, _ := gzip.NewWriterLevel(&gz, gzip.NoCompression)
	_, _ = w.Write([]byte("content"))
	_ = w.Close()
	s, err := blobs.Open(t.TempDir()+"/blobs", blobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // the test reads it itself
	h := blobs.Sum([]byte("content"))
	batch := s.NewBatch()
	defer batch.Discard()
	if err := batch.WriteFile(blobs.Sum([]byte("other")), gz.Bytes()); err == nil {
		t.Error("the file of another content was taken")
	}
	if err := batch.WriteFile(h, gz.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(s.Dir() + "/" + h.Path()); err != nil || !bytes.Equal(got, gz.Bytes()) {
		t.Errorf("%d bytes, %v; want the %d written", len(got), err, gz.Len())
	}
}
