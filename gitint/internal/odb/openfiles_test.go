package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestReadingLeavesNoFileOpen reads objects without the garbage collector, which would close leaked
// files: a long collection ran out of descriptors.
func TestReadingLeavesNoFileOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	repo := gittest.Repo(t)
	var ids []object.ID
	for i := range 64 {
		name := repo.RunInput(fmt.Sprint("content ", i), "hash-object", "-w", "--stdin")
		id, err := object.ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	db := Open([]string{filepath.Join(repo.Dir, ".git", "objects")})
	defer db.Close()
	before := openFiles(t)
	for _, id := range ids {
		if n, err := db.Size(id); err != nil || n == 0 {
			t.Fatalf("size of %s: %d, %v", id, n, err)
		}
		if _, err := db.Read(id, 1<<10); err != nil {
			t.Fatal(err)
		}
		if err := db.Find(id); err != nil {
			t.Fatal(err)
		}
	}
	if after := openFiles(t); after > before+1 {
		t.Errorf("%d files open, %d before %d objects were read", after, before, len(ids))
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
