//go:build linux

package blobs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestStore_readOnly(t *testing.T) {
	s := newStore(t, withClock())
	ref := mustWrite(t, s, hello)
	for _, dir := range []string{".", ".tmp", "58", "58/91"} {
		if err := os.Chmod(filepath.Join(s.dir, dir), 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(s.dir, dir), 0o755)
	}
	gittest.AsNobody(t, func() {
		if b, err := s.Read(ref); err != nil || string(b) != "hello\n" {
			t.Errorf("Read: %q, %v", b, err)
		}
		for _, content := range []string{"new", "hello\n"} {
			want := RefTo([]byte(content))
			if os.Geteuid() != 0 && want == ref {
				continue // the owner may set the time
			}
			_, err := s.Write([]byte(content))
			if !errors.Is(err, fs.ErrPermission) ||
				!strings.HasPrefix(err.Error(), "write blob "+want.Hash.String()+": ") {
				t.Errorf("Write %q: %v", content, err)
			}
		}
	})
	if err := os.Chmod(s.file(ref.Hash), 0); err != nil {
		t.Fatal(err)
	}
	gittest.AsNobody(t, func() {
		_, err := s.Read(ref)
		var corrupt *CorruptError
		if !errors.Is(err, fs.ErrPermission) || errors.As(err, &corrupt) ||
			!strings.HasPrefix(err.Error(), "read blob "+ref.Hash.String()+": ") {
			t.Errorf("Read without permission: %v", err)
		}
	})
}

// An intact file of another user, whose time cannot be set, is replaced with a copy.
func TestWrite_fileOfAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs two users")
	}
	s := newStore(t, withClock())
	ref := mustWrite(t, s, hello)
	before := age(t, s, ref.Hash)
	for _, dir := range []string{".tmp", "58", "58/91"} {
		if err := os.Chmod(filepath.Join(s.dir, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	gittest.AsNobody(t, func() { mustWrite(t, s, hello) })
	after, err := s.Stat(ref.Hash)
	if err != nil || !after.ModTime().After(before.ModTime().AddDate(0, 6, 0)) {
		t.Errorf("time %v, %v", after.ModTime(), err)
	}
}
