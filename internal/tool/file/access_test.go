package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const rules = `{"fs": [
	{"path": ".", "read": true},
	{"path": "src", "read": true, "write": true, "delete": false},
	{"path": "src/gen", "write": true},
	{"path": "docs", "read": true, "create": true},
	{"path": "docs", "read": true, "update": true},
	{"path": "./.env"},
	{"path": "link", "read": true, "write": true},
	{"path": "/etc", "external": true, "read": true}
], "net": [{"host": "a.example"}]}`

func restricted(t *testing.T, root, access string) *Tree {
	t.Helper()
	tree, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	parsed, err := ParseAccess([]byte(access))
	if err != nil {
		t.Fatal(err)
	}
	out, err := tree.Restricted(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAccess(t *testing.T) {
	root, _ := workspace(t)
	for _, name := range []string{
		"README", ".env", ".environment", "src/lib", "src/gen/out", "srcs/x", "docs/a", "real/x",
	} {
		put(t, filepath.Join(root, name), "old")
	}
	symlink(t, "real", filepath.Join(root, "link"))
	tree := restricted(t, root, rules)
	tests := []struct{ path, want string }{
		{"README", "r"},
		{"src/lib", "rcu"},
		{"src/../src/lib", "rcu"},
		{"src/gen/out", "cud"}, // only the longest rule counts
		{"srcs/x", "r"},        // not below src
		{"docs/a", "ru"},       // the later of two
		{".env", ""},
		{".environment", "r"},
		{"real/x", "rcud"}, // a rule for a link is one for its target
		{"link/x", "rcud"},
	}
	for _, tt := range tests {
		rel, err := tree.Rel(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, c := range []Capability{CanRead, CanCreate, CanUpdate, CanDelete} {
			if tree.may(rel, c) {
				got += string(c[0])
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q is granted, want %q", tt.path, got, tt.want)
		}
	}
	for name, do := range map[string]func() error{
		"read":   func() error { _, err := tree.Read(".env", 0, CanRead); return err },
		"change": func() error { _, err := tree.Read("README", 0, CanUpdate); return err },
		"create": func() error { _, err := tree.Create("new", nil); return err },
		"update": func() error { _, err := tree.Replace("README", nil, nil); return err },
		"delete": func() error { _, err := tree.Remove("src/lib"); return err },
	} {
		if err := do(); !errors.Is(err, ErrNotGranted) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := tree.Read("src/gen/out", 0, CanUpdate); err != nil {
		t.Error(err)
	}
	if tree.IsFile(".env") || !tree.IsFile("README") {
		t.Error("files are listed otherwise than read")
	}
	all, err := tree.Walk(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if name == ".env" || strings.HasPrefix(name, "src/gen/") {
			t.Errorf("%s is listed", name)
		}
	}
}

func TestAccessThatIsNone(t *testing.T) {
	root, _ := workspace(t)
	for _, access := range []string{"", "{}", `{"fs":[]}`, `{"net":[{"host":"x"}]}`} {
		if _, err := restricted(t, root, access).Read("src/main.rs", 0, CanRead); err != nil {
			t.Errorf("%q: %v", access, err)
		}
	}
	// With rules for paths outside only, nothing inside is granted.
	out := restricted(t, root, `{"fs":[{"path":"/etc","external":true,"read":true}]}`)
	if _, err := out.Read("src/main.rs", 0, CanRead); !errors.Is(err, ErrNotGranted) {
		t.Errorf("error is %v", err)
	}
	for _, access := range []string{`{"fs":[{"path":"../x"}]}`, `{"fs":[{"path":".git"}]}`} {
		tree, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseAccess([]byte(access))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Restricted(parsed); err == nil {
			t.Errorf("%s is a restriction", access)
		}
		_ = tree.Close()
	}
	if _, err := ParseAccess([]byte(`{"fs":"all"}`)); err == nil {
		t.Error("a word is a list of rules")
	}
}

// TestAnotherNameOutsideIsNotWritten checks that a file with a hard link outside the workspace can
// be read by its name inside, but that a write does not change the other name.
func TestAnotherNameOutsideIsNotWritten(t *testing.T) {
	root, _ := workspace(t)
	outside := filepath.Join(filepath.Dir(root), "outside", "secret.txt")
	inside := filepath.Join(root, "src", "hard.txt")
	if err := os.Link(outside, inside); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	tree := restricted(t, root, "")
	if _, err := tree.Replace("src/hard.txt", []byte("secret"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{inside: "new", outside: "secret"} {
		if data, err := os.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s has %q (%v), want %q", name, data, err, want)
		}
	}
	if _, err := tree.Remove("src/hard.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
