//go:build linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestWrite_readOnlyDirectory(t *testing.T) {
	root, _ := openRoot(t)
	if err := root.MkdirAll(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := root.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("d/x", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := root.Chmod("d", 0o555); err != nil {
		t.Fatal(err)
	}
	gittest.AsNobody(t, func() {
		err := Write(root, "d/x", []byte("new"), Options{TempDir: tmp})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), `write "d/x"`) {
			t.Errorf("error %v", err)
		}
	})
	if got := readFile(t, root, "d/x"); got != "old" {
		t.Errorf("content %q", got)
	}
	noTemps(t, root)
}

func TestWrite_linksOutOfTheRoot(t *testing.T) {
	root, dir := openRoot(t)
	outside := t.TempDir()
	secret := outside + "/secret"
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"dir": outside, "file": secret, "up": "../", "state": outside,
	} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	opts := Options{TempDir: "tmp"}
	for _, name := range []string{"dir/secret", "dir/new", "up/new"} {
		if err := Write(root, name, []byte("x"), opts); err == nil {
			t.Errorf("%s: written through a link", name)
		}
	}
	if err := Write(root, "x", []byte("x"), Options{TempDir: tmp}); err == nil {
		t.Error("temporary written through a link")
	}
	// A symlink at the name itself is replaced, not followed.
	if err := Write(root, "file", []byte("x"), opts); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	if info, err := root.Lstat("file"); err != nil || !info.Mode().IsRegular() {
		t.Errorf("file: %v, %v", info, err)
	}
}
