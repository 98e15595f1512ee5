package refs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOtherVersionsDoNotStay: files of another version are removed by whoever writes, once nobody
// has written them for a while; files of this version and of others stay.
func TestOtherVersionsDoNotStay(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, corpus(t))
	own := shardFiles(t, dir)
	old := time.Now().Add(-keptUnwritten - time.Hour)
	for name, at := range map[string]time.Time{
		"refs-1-0": old, "refs-1-f": old, "refs-40-0": old, "refs-3-0": time.Now(),
		"gc-history-3": old, "note": old,
	} {
		path := filepath.Join(dir, name)
		write(t, path, []byte("x"))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range own {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, dir, corpus(t)) // nothing is new, so nothing is written
	if _, err := os.Stat(filepath.Join(dir, "refs-1-0")); err != nil {
		t.Error(err)
	}
	fill(t, dir, [][]byte{stream("new", 2, false)})
	for name, want := range map[string]bool{
		"refs-1-0": false, "refs-1-f": false, "refs-40-0": false, "refs-3-0": true,
		"gc-history-3": true, "note": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	for _, name := range own {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
