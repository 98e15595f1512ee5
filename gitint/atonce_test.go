package gitint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/gitint"
)

// TestAtOnce checks that concurrent reading passes each object once, with the same content as
// reading one at a time. Large objects are passed alone; an error of the caller or the end of its
// context stops the reading.
func TestAtOnce(t *testing.T) {
	const large = 5 << 20
	r := manyBlobs(t, 5_000)
	r.WriteFile("large", strings.Repeat("x", large))
	loose, err := gitint.ParseOID(r.Run("hash-object", "-w", "large"))
	if err != nil {
		t.Fatal(err)
	}

	var blobs, trees []gitint.OID
	all := r.Run("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(all) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, err := gitint.ParseOID(name)
		switch {
		case err != nil:
			t.Fatal(err)
		case kind == "blob":
			blobs = append(blobs, id)
		case kind == "tree":
			trees = append(trees, id)
		}
	}
	if len(blobs) < 5_001 || len(trees) < 1_000 {
		t.Fatalf("%d blobs, %d trees", len(blobs), len(trees))
	}
	repo := open(t, r)
	want := make([]string, len(blobs))
	err = repo.ReadObjects(t.Context(), blobs, func(i int, content []byte, err error) error {
		want[i] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make([]atomic.Int32, len(blobs))
	var reading atomic.Int32
	tell := func(i int, content []byte, err error) error {
		if n := reading.Add(1); len(content) == large && n > 1 {
			t.Errorf("%d are read beside what is large", n-1)
		}
		defer reading.Add(-1)
		if string(content) != want[i] {
			t.Errorf("object %s has %d bytes", blobs[i], len(content))
		}
		told[i].Add(1)
		return err
	}
	if err := repo.AtOnce().ReadObjects(t.Context(), blobs, tell); err != nil {
		t.Error(err)
	}
	every := func(int64) bool { return true }
	err = repo.AtOnce().ReadObjectsOf(t.Context(), blobs, every,
		func(i int, size int64, content []byte, err error) error {
			if size != int64(len(want[i])) {
				t.Errorf("object %s: size %d, want %d", blobs[i], size, len(want[i]))
			}
			return tell(i, content, err)
		})
	if err != nil {
		t.Error(err)
	}
	for i := range told {
		if n := told[i].Load(); n != 2 {
			t.Errorf("object %s was told %d times by two readings", blobs[i], n)
		}
	}
	var read, entries atomic.Int32
	err = repo.AtOnce().ReadTrees(t.Context(), trees, func(_ int, d gitint.TreeData) error {
		read.Add(1)
		d.Entries(func(gitint.Entry) { entries.Add(1) })
		return nil
	})
	if err != nil || int(read.Load()) != len(trees) || entries.Load() < 5_000 {
		t.Errorf("%d trees of %d, %d entries, %v", read.Load(), len(trees), entries.Load(), err)
	}
	packed := slices.DeleteFunc(blobs, func(id gitint.OID) bool { return id == loose })
	stop := errors.New("stop")
	err = repo.AtOnce().ReadObjects(t.Context(), packed, func(int, []byte, error) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("%v, want the caller's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = repo.AtOnce().ReadObjects(ctx, packed, func(int, []byte, error) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}
