//go:build unix && !aix && !solaris

package filelock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/internal/filelock"
)

// TestUnlockWithACopy releases a lock while another process, which is being started, has the file
// open too.
func TestUnlockWithACopy(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := open()
	if ok, err := filelock.Try(first); !ok || err != nil {
		t.Fatal(ok, err)
	}
	held, err := syscall.Dup(int(first.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(held) // was only held
	if err := filelock.Unlock(first); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open()
	defer second.Close() // nothing was written
	if ok, err := filelock.Try(second); !ok || err != nil {
		t.Errorf("still held: %v, %v", ok, err)
	}
}
