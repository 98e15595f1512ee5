package blobs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestStore_closeReleases checks that a store leaves no descriptor open, neither of its directory
// nor of its file system, and that a joint leaves none of its batches.
func TestStore_closeReleases(t *testing.T) {
	s := newStore(t, Options{})
	open := func() (n int) {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		for _, e := range all {
			name, _ := os.Readlink("/proc/self/fd/" + e.Name())
			if strings.HasPrefix(name, s.dir) || strings.HasPrefix(s.dir, name+"/") && name != "/" {
				n++
			}
		}
		return n
	}
	before := open()
	j := s.NewJoint()
	for _, text := range []string{"a", "b"} {
		mustWrite(t, j.NewBatch(), []byte(text))
	}
	if s.Volume() == nil {
		t.Skip("the file system cannot be synced as a whole")
	}
	if n := open(); n < before+3 {
		t.Errorf("%d descriptors are open, %d before", n, before)
	}
	j.Close()
	noTemps(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := open(); n != before {
		t.Errorf("%d descriptors are open after the end, %d before", n, before)
	}
	if s.Volume() != nil {
		t.Error("a closed store has opened its file system again")
	}
	if _, err := s.Stat(RefTo(nil).Hash); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed store says %v", err)
	}
}
