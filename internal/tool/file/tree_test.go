package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func tree(t *testing.T, root string, deny ...string) *Tree {
	t.Helper()
	tr, err := Open(root, deny...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// hostile returns paths that must not reach any file, in any operation.
func hostile(t *testing.T, root string) []string {
	outside := filepath.Join(filepath.Dir(root), "outside")
	symlink(t, outside, filepath.Join(root, "out"))
	symlink(t, "../../outside/secret.txt", filepath.Join(root, "src", "leak"))
	symlink(t, "../outside/new.txt", filepath.Join(root, "leak-new"))
	symlink(t, ".git", filepath.Join(root, "innocent"))
	symlink(t, "../.jp/config.toml", filepath.Join(root, "src", "config"))
	symlink(t, "src/../.git", filepath.Join(root, "winding"))
	put(t, filepath.Join(root, "vendor/lib/.git/config"), "nested")
	put(t, filepath.Join(root, "bare.git/config"), "bare")
	return []string{
		"../outside/secret.txt", outside + "/secret.txt", "src/../../outside/secret.txt",
		"out/secret.txt", "src/leak", "leak-new", "out/new.txt", "/etc/passwd",
		"..", "../proj2/x", "nothing/../../outside/secret.txt",
		".git/config", "./.git/config", "src/../.git/config", ".git", ".git/",
		".jp/config.toml", ".jp", ".jp/blobs/aa/bb/cc", "innocent/config", "winding/config",
		"src/config", "vendor/lib/.git/config", "vendor/lib/.git/hooks/pre-commit",
		".GIT/config", ".Git", "GIT~1/config", ".git./config", ".git /config", ".JP/config.toml",
		".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "jp~1", "bare.git/config",
		"bare.git/hooks/new",
	}
}

func TestNothingLeavesTheWorkspace(t *testing.T) {
	root, _ := workspace(t)
	paths := hostile(t, root)
	before := snapshot(t, filepath.Dir(root))
	tr := tree(t, root, filepath.Join(root, "bare.git"))
	for _, p := range paths {
		refused(t, "read "+p, func() error { _, err := tr.Read(p, 0, CanRead); return err })
		refused(t, "stat "+p, func() error { _, _, err := tr.Stat(p); return err })
		refused(t, "create "+p, func() error { _, err := tr.Create(p, []byte("x")); return err })
		refused(t, "replace "+p, func() error { _, err := tr.Replace(p, nil, []byte("x")); return err })
		refused(t, "remove "+p, func() error { _, err := tr.Remove(p); return err })
	}
	if after := snapshot(t, filepath.Dir(root)); !slices.Equal(before, after) {
		t.Errorf("files changed:\n%q\n%q", before, after)
	}
}

func refused(t *testing.T, what string, f func() error) {
	t.Helper()
	var ae *AccessError
	if err := f(); !errors.As(err, &ae) {
		t.Errorf("%s: %v", what, err)
	}
}

// snapshot lists every file with its content, without the directory for temporary files.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, readErr := os.ReadFile(p)
			all, err = append(all, p+"="+string(data)), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestLinksInsideAreFollowed(t *testing.T) {
	root, _ := workspace(t)
	symlink(t, "src", filepath.Join(root, "code"))
	tr := tree(t, root)
	f, err := tr.Read("code/main.rs", 0, CanRead)
	if err != nil || f.Rel != "src/main.rs" || f.URI != "file:///$WORKSPACE/src/main.rs" {
		t.Fatalf("%+v (%v)", f, err)
	}
	res := f.Resource()
	if res.MIMEType != "text/x-rust" || res.Name != "src/main.rs" {
		t.Errorf("%+v", res)
	}
	if _, err := tr.Replace("code/main.rs", f.Data, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(root, "src/main.rs")); string(data) != "new" {
		t.Errorf("replaced through a link: %q", data)
	}
	if info, _ := os.Lstat(filepath.Join(root, "code")); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestNamesThatOnlyLookReserved(t *testing.T) {
	root, _ := workspace(t)
	tr := tree(t, root)
	for _, name := range []string{".gitignore", ".github/x", "git", "jp/x", "a.git", ".gitx", "x~1"} {
		if _, err := tr.Create(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreateAndRemove(t *testing.T) {
	root, _ := workspace(t)
	tr := tree(t, root)
	if _, err := tr.Create("src/main.rs", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file: %v", err)
	}
	if f, err := tr.Create("new/dir/f.go", []byte("package f")); err != nil || f.Rel != "new/dir/f.go" {
		t.Errorf("%+v (%v)", f, err)
	}
	if rel, err := tr.Remove("new/dir/f.go"); err != nil || rel != "new/dir/f.go" {
		t.Errorf("%q (%v)", rel, err)
	}
	if _, err := tr.Remove("new/dir/f.go"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove twice: %v", err)
	}
	for _, p := range []string{"new", "new/", "x/", "."} {
		if _, err := tr.Create(p, nil); err == nil {
			t.Errorf("created %q", p)
		}
		if _, err := tr.Remove(p); err == nil {
			t.Errorf("removed %q", p)
		}
	}
}

func TestNamesThatNobodyCouldRead(t *testing.T) {
	root, _ := workspace(t)
	tr := tree(t, root)
	for name, want := range map[string]error{
		"a\nb": ErrControl, "dir\x1b[2J/x": ErrControl, "a\u009bb": ErrControl,
		"x\u202egpj.exe": ErrControl, "a\u2028b": ErrControl, "a\x7f": ErrControl,
		"zero\u200bwidth": ErrControl, "tag\U000e0041": ErrControl,
		"file:///tmp/x": ErrURI, "FILE:x": ErrURI, "https://example.org/x": ErrURI,
		"jp://a": ErrURI,
	} {
		if _, err := tr.Create(name, nil); !errors.Is(err, want) {
			t.Errorf("create %q: %v, want %v", name, err, want)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasPrefix(strings.ToLower(e.Name()), "file") || strings.HasPrefix(e.Name(), "dir")
	}) {
		t.Errorf("something was made: %v (%v)", entries, err)
	}
	for _, name := range []string{"a b", "naïve.md", "日本.txt", "a:b", "dir/x://y", "👍"} {
		if _, err := tr.Create(name, nil); err != nil {
			t.Errorf("create %q: %v", name, err)
		}
	}
}

func TestLimitAndDirectories(t *testing.T) {
	root, _ := workspace(t)
	tr := tree(t, root)
	if _, err := tr.Read("src/main.rs", 3, CanRead); !errors.Is(err, ErrTooLarge) {
		t.Errorf("limit: %v", err)
	}
	if _, err := tr.Read("src", 0, CanRead); !errors.Is(err, ErrNotRegular) {
		t.Errorf("directory: %v", err)
	}
}

func TestWalkSkipsWhatIsForbidden(t *testing.T) {
	root, _ := workspace(t)
	hostile(t, root)
	got, err := tree(t, root, filepath.Join(root, "bare.git")).Walk(".")
	want := []string{"docs/readme.md", "src/a b.txt", "src/main.rs"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}

func TestTypes(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"a.rs", "fn main() {}", "text/x-rust"},
		{"A.MD", "# x", "text/markdown"},
		{"Makefile", "all:\n", "text/plain"},
		{"a.json", "{}", "application/json"},
		{"a.go", "\x00\x01\x02", "application/octet-stream"},
		{"a.png", "\x89PNG\r\n\x1a\n", "image/png"},
		{"a.bin", "%PDF-1.7\n", "application/pdf"},
		{"empty", "", "text/plain"},
	}
	for _, tt := range tests {
		got := Type(tt.name, []byte(tt.data))
		if got != tt.want || strings.Contains(got, ";") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
