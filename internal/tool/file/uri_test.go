package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// workspace creates a root with files, and a link to it.
func workspace(t *testing.T) (root, link string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "proj")
	for _, name := range []string{
		"src/main.rs", "src/a b.txt", "docs/readme.md", ".jp/config.toml", ".git/config",
	} {
		put(t, filepath.Join(root, name), name)
	}
	put(t, filepath.Join(base, "outside", "secret.txt"), "secret")
	put(t, filepath.Join(base, "proj2", "x"), "x")
	link = filepath.Join(base, "link")
	symlink(t, root, link)
	return root, link
}

func put(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func space(t *testing.T, root string) *Space {
	t.Helper()
	s, err := NewSpace(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOneFileHasOneURI(t *testing.T) {
	root, link := workspace(t)
	symlink(t, "src", filepath.Join(root, "code"))
	symlink(t, "../src/main.rs", filepath.Join(root, "docs", "entry"))
	symlink(t, filepath.Join(link, "src"), filepath.Join(root, "far"))
	symlink(t, "new.rs", filepath.Join(root, "src", "dangling.rs"))
	put(t, filepath.Join(root, "deep/er/f"), "")
	symlink(t, "deep/er", filepath.Join(root, "down"))
	put(t, filepath.Join(root, "src", "naïve ☃.txt"), "")
	put(t, filepath.Join(root, "src", "nai\u0308ve"), "")
	put(t, filepath.Join(root, "$WORKSPACE", "x"), "")
	put(t, filepath.Join(root, "100%"), "")
	abs := "file://" + encode(filepath.ToSlash(root))
	const ws = "file:///$WORKSPACE"
	tests := []struct{ in, want string }{
		{"src/main.rs", ws + "/src/main.rs"},
		{"./src//main.rs", ws + "/src/main.rs"},
		{"docs/../src/./main.rs", ws + "/src/main.rs"},
		{root + "/src/main.rs", ws + "/src/main.rs"},
		{link + "/src/main.rs", ws + "/src/main.rs"},
		{"code/main.rs", ws + "/src/main.rs"},
		{"docs/entry", ws + "/src/main.rs"},
		{"far/main.rs", ws + "/src/main.rs"},
		{"code/../src/main.rs", ws + "/src/main.rs"},
		{"down/../x", ws + "/deep/x"}, // ".." after a link is the parent of its target
		{"src/dangling.rs", ws + "/src/new.rs"},
		{"code/not/yet.rs", ws + "/src/not/yet.rs"},
		{"not/there/../../code/main.rs", ws + "/src/main.rs"},
		{"src/", ws + "/src"},
		{".", ws},
		{"", ""},
		{"nul\x00", ""},
		{"src/Main.RS", ws + "/src/Main.RS"}, // case is kept
		{"src/a b.txt", ws + "/src/a%20b.txt"},
		{"src/naïve ☃.txt", ws + "/src/na%C3%AFve%20%E2%98%83.txt"},
		{"src/nai\u0308ve", ws + "/src/nai%CC%88ve"}, // not composed: another file
		{"100%", ws + "/100%25"},
		{"a#b?c[d]^e", ws + "/a%23b%3Fc%5Bd%5D%5Ee"},
		{"a:b@c,d;e=f&g!h'(i)*+~", ws + "/a:b@c,d;e=f&g!h'(i)*+~"},
		{`back\slash`, ws + `/back%5Cslash`},
		{"$WORKSPACE/x", ws + "/$WORKSPACE/x"},
		{"\xff\xfe", ws + "/%FF%FE"},
		{"../outside/secret.txt", "file://" + encode(filepath.ToSlash(filepath.Dir(root))) +
			"/outside/secret.txt"},
		{"../proj2/x", "file://" + encode(filepath.ToSlash(filepath.Dir(root))) + "/proj2/x"},
		{"/$WORKSPACE/src/main.rs", "file:///%24WORKSPACE/src/main.rs"},
		{"/$WORKSPACE", "file:///%24WORKSPACE"},
		{"/$WORKSPACES/x", "file:///$WORKSPACES/x"},
		{"/", "file:///"},

		{"file:///$WORKSPACE/src/main.rs", ws + "/src/main.rs"},
		{"FILE:///$WORKSPACE/src/%6Dain.rs", ws + "/src/main.rs"},
		{"file:///$WORKSPACE/code/./main.rs#L10-20", ws + "/src/main.rs#L10-20"},
		{"file:///$WORKSPACE", ws},
		{"file:///$WORKSPACE/", ws},
		{"file:///%24WORKSPACE/src/main.rs", "file:///%24WORKSPACE/src/main.rs"},
		{"file:///$WORKSPACE/$WORKSPACE/x", ws + "/$WORKSPACE/x"},
		{"file:///$WORKSPACE/../outside/secret.txt", "file://" +
			encode(filepath.ToSlash(filepath.Dir(root))) + "/outside/secret.txt"},
		{abs + "/src/a%20b.txt", ws + "/src/a%20b.txt"},
		{abs + "/src/a b.txt", ws + "/src/a%20b.txt"},
		{abs + "/src/na%c3%afve%20☃.txt", ws + "/src/na%C3%AFve%20%E2%98%83.txt"},
		{strings.Replace(abs, "file://", "file://localhost", 1) + "/src/main.rs", ws + "/src/main.rs"},
		{strings.Replace(abs, "file://", "file:", 1) + "/src/main.rs", ws + "/src/main.rs"},
		{"file:src/main.rs", ws + "/src/main.rs"},
		{"file:./code/main.rs", ws + "/src/main.rs"},
		{"file://src/main.rs", ws + "/src/main.rs"},
		{"file:100%25", ws + "/100%25"},
		{"file:src/main.rs#%4c1-%7e", ws + "/src/main.rs#L1-~"},
		{"file:src/main.rs#", ws + "/src/main.rs#"},
		{"file:100%", ""},
		{"file:a%2Fb", ""},
		{"file:a%00b", ""},
		{"file:a?b", ""},
		{"file:", ""},
	}
	s := space(t, link)
	for _, tt := range tests {
		got, err := canonical(s, tt.in)
		if (err != nil) != (tt.want == "") || got != tt.want {
			t.Errorf("%q: got %q (%v), want %q", tt.in, got, err, tt.want)
		}
		if tt.want == "" {
			continue
		}
		if again, err := s.Canonical(got); err != nil || again != got {
			t.Errorf("%q is not canonical: it becomes %q (%v)", got, again, err)
		}
		if again, err := s.Canonical(s.Expand(got)); err != nil || again != got {
			t.Errorf("expanded %q becomes %q (%v)", s.Expand(got), again, err)
		}
	}
}

// URI returns the canonical URI of path, which need not exist: links in its existing part are
// resolved.
func (s *Space) URI(path string) (string, error) {
	real, err := s.resolve(path)
	if err != nil {
		return "", fmt.Errorf("name file %q: %w", path, err)
	}
	return s.name(real), nil
}

func canonical(s *Space, in string) (string, error) {
	if IsURI(in) {
		return s.Canonical(in)
	}
	return s.URI(in)
}

func TestTwoClonesGiveTheSameName(t *testing.T) {
	a, _ := workspace(t)
	b, _ := workspace(t)
	ua, _ := space(t, a).URI("src/main.rs")
	ub, _ := space(t, b).URI("src/main.rs")
	if ua != ub || strings.Contains(ua, a) {
		t.Errorf("%q and %q", ua, ub)
	}
	expanded := space(t, a).Expand(ua)
	if want := "file://" + encode(filepath.ToSlash(a)) + "/src/main.rs"; expanded != want {
		t.Errorf("expanded to %q, want %q", expanded, want)
	}
}

func TestExpandOnlyReplacesTheAnchor(t *testing.T) {
	tests := []struct{ root, in, want string }{
		{"/home/ada/my proj", "file:///$WORKSPACE/a#L1-2", "file:///home/ada/my%20proj/a#L1-2"},
		{"/home/ada", "file:///$WORKSPACE", "file:///home/ada"},
		{"/home/ada", "file:///$WORKSPACE#L1-2", "file:///home/ada#L1-2"},
		{"/home/ada", "file:///$WORKSPACES/a", "file:///$WORKSPACES/a"},
		{"/home/ada", "file:///%24WORKSPACE/a", "file:///%24WORKSPACE/a"},
		{"/home/ada", "file:///x/$WORKSPACE/a", "file:///x/$WORKSPACE/a"},
		{"/home/ada", "https://a.example/$WORKSPACE", "https://a.example/$WORKSPACE"},
		{"/", "file:///$WORKSPACE/a", "file:///a"},
		{"/$WORKSPACE", "file:///$WORKSPACE/a", "file:///%24WORKSPACE/a"},
	}
	for _, tt := range tests {
		if got := Expand(tt.root, tt.in); got != tt.want {
			t.Errorf("Expand(%q, %q) = %q, want %q", tt.root, tt.in, got, tt.want)
		}
	}
}

func TestWindowsForms(t *testing.T) {
	paths := []struct{ in, want string }{
		{`C:\Users\Ada\a b.txt`, "file:///C:/Users/Ada/a%20b.txt"},
		{`c:\x`, "file:///C:/x"},
		{`c:/x/y`, "file:///C:/x/y"},
		{`\\?\C:\x`, "file:///C:/x"},
		{`\\Server\Share\x`, "file://server/Share/x"},
		{`\\?\UNC\server\share\x`, "file://server/share/x"},
		{`C:\100%\ü`, "file:///C:/100%25/%C3%BC"},
	}
	for _, tt := range paths {
		if got := absolute(tt.in, true); got != tt.want {
			t.Errorf("absolute(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	uris := []struct {
		in, want string
		relative bool
	}{
		{"file:///C:/x/y", "C:/x/y", false},
		{"file:///c|/x", "c:/x", false},
		{"file:C:/x", "C:/x", false},
		{"file:/C:/x", "C:/x", false},
		{"file://C:/x", "C:/x", false},
		{"file:///C:/a%20b#L1-2", "C:/a b", false},
		{"file://server/share/x", "//server/share/x", false},
		{"file:src/main.rs", "src/main.rs", true},
		{"file:///$WORKSPACE/src", "./src", true},
		{"file:a%5Cb", "", false},
	}
	for _, tt := range uris {
		f, err := parse(tt.in, true)
		if (err != nil) != (tt.want == "") || err == nil && (f.path != tt.want || f.relative != tt.relative) {
			t.Errorf("parse(%q) = %+v (%v), want %q, %t", tt.in, f, err, tt.want, tt.relative)
		}
	}
	if f, err := parse("file:///C:/x", false); err != nil || f.path != "/C:/x" {
		t.Errorf("elsewhere a drive is a name: %+v (%v)", f, err)
	}
}

func TestCyclesAreErrors(t *testing.T) {
	root, _ := workspace(t)
	symlink(t, "two", filepath.Join(root, "one"))
	symlink(t, "one", filepath.Join(root, "two"))
	if uri, err := space(t, root).URI("one/x"); err == nil {
		t.Errorf("a cycle of links has the name %q", uri)
	}
}

func TestEncodingIsReversible(t *testing.T) {
	s := &Space{root: "/nowhere/at/all"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\x00]{1,20}`).Draw(t, "name")
		if strings.Trim(name, ".") == "" {
			return
		}
		uri := s.name("/nowhere/at/all/" + name)
		f, err := parse(uri, false)
		if err != nil || f.path != "./"+name || f.fragment != "" {
			t.Fatalf("%q became %q, which reads as %+v (%v)", name, uri, f, err)
		}
		if Normalize(uri[len("file://"):]) != uri[len("file://"):] {
			t.Fatalf("%q is not normal", uri)
		}
	})
}

func TestLines(t *testing.T) {
	const uri = "file:///$WORKSPACE/a"
	if got := Lines(uri+"#L9-9", 3, 7); got != uri+"#L3-7" {
		t.Error(got)
	}
	fragments := []struct {
		in       string
		from, to int
		ok       bool
	}{
		{"L3-7", 3, 7, true},
		{"L3-L7", 3, 7, true},
		{"L3", 3, 3, true},
		{"L0", 0, 0, false},
		{"L7-3", 0, 0, false},
		{"3-7", 0, 0, false},
		{"L", 0, 0, false},
		{"L+3", 0, 0, false},
		{"intro", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, tt := range fragments {
		from, to, ok := ParseLines(tt.in)
		if ok != tt.ok || ok && (from != tt.from || to != tt.to) {
			t.Errorf("%q: %d, %d, %t", tt.in, from, to, ok)
		}
	}
	cuts := []struct {
		data     string
		from, to int
		want     string
		last     int
		ok       bool
	}{
		{"a\nb\nc\n", 1, 0, "a\nb\nc\n", 3, true},
		{"a\nb\nc\n", 2, 2, "b\n", 2, true},
		{"a\nb\nc", 3, 9, "c", 3, true},
		{"a\nb\nc\n", 4, 9, "", 0, false},
		{"a\n\n\nb", 2, 3, "\n\n", 3, true},
		{"", 1, 1, "", 0, false},
		{"a", 0, 1, "", 0, false},
		{"a\nb", 2, 1, "", 0, false},
	}
	for _, tt := range cuts {
		part, last, ok := Cut([]byte(tt.data), tt.from, tt.to)
		if string(part) != tt.want || last != tt.last || ok != tt.ok {
			t.Errorf("%q %d-%d: %q, %d, %t", tt.data, tt.from, tt.to, part, last, ok)
		}
	}
}
