package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// TestRun writes both files twice beside a program, the test's own: equal bytes, in which the
// toolchain is listed and every file has its checksum.
func TestRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var bills, sums [2][]byte
	for i := range bills {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "git-jp-v1-linux-amd64"), program)
		write(t, filepath.Join(dir, "git-jp.1"), []byte("page\n"))
		for range 2 { // also over existing files
			if err := run(dir, "v1"); err != nil {
				t.Fatal(err)
			}
		}
		bills[i], sums[i] = read(t, dir, billName), read(t, dir, sumsName)
	}
	if !bytes.Equal(bills[0], bills[1]) || !bytes.Equal(sums[0], sums[1]) {
		t.Error("the same programs gave other bytes")
	}
	const page = "362a07bbb5c74b982bed644b9f7e298837d7a3a232c964d039bb7e49ebea825f  git-jp.1\n"
	if !strings.Contains(string(sums[0]), page) { // printf 'page\n' | sha256sum
		t.Errorf("checksums:\n%s\nwant %s", sums[0], page)
	}
	if n := bytes.Count(sums[0], []byte("\n")); n != 3 {
		t.Errorf("%d checksums, want those of three files:\n%s", n, sums[0])
	}
	var b bill
	if err := json.Unmarshal(bills[0], &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Components) == 0 || b.Components[0].Version != strings.TrimPrefix(runtime.Version(), "go") {
		t.Errorf("components %v, want the toolchain first", b.Components)
	}
}

func TestLibrary(t *testing.T) {
	const sum = "h1:J16l9JAHWgkFPR3VIPbQ1gvS0cWab6laK1q7PFL3qh0="
	c, err := library(&debug.Module{Path: "example.org/a/v2", Version: "v2.1.0", Sum: sum})
	if err != nil {
		t.Fatal(err)
	}
	const digest = "275ea5f490075a09053d1dd520f6d0d60bd2d1c59a6fa95a2b5abb3c52f7aa1d"
	if c.PURL != "pkg:golang/example.org/a/v2@v2.1.0" || c.Hashes[0].Content != digest {
		t.Errorf("library is %+v", c)
	}
	if _, err := library(&debug.Module{Path: "example.org/a", Version: "v1.0.0"}); err == nil {
		t.Error("a module without a hash is listed")
	}
}

func TestNoPrograms(t *testing.T) {
	if err := run(t.TempDir(), "v1"); err == nil {
		t.Error("a release of nothing has a bill")
	}
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
