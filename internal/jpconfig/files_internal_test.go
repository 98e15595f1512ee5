package jpconfig

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/trust"
)

// TestReadRecipe checks that the sum of a file covers all of it, and that a file which is read in
// part, or is outside, has the sum of none.
func TestReadRecipe(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	large := func(size int64, last string) func(string) error {
		return func(name string) error {
			f, err := os.Create(name)
			if err == nil {
				_, err = f.WriteAt([]byte(last), size-1)
			}
			if err == nil {
				err = f.Close()
			}
			return err
		}
	}
	sums := map[string]string{}
	for name, make := range map[string]func(string) error{
		"one": large(maxRecipes+1, "1"), "two": large(maxRecipes+1, "2"),
		"whole": large(maxRun, "1"), "over": large(maxRun+1, "1"),
		"link": func(name string) error { return os.Symlink(base, name) },
		"sub":  nil, "none": nil,
	} {
		if make != nil {
			if err := make(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		sums[name], _ = readRecipe(dir, name)
	}
	if err := os.WriteFile(filepath.Join(base, "outside"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sums["link"], _ = readRecipe(dir, "link/outside")
	for name, to := range map[string]string{
		"gone": filepath.Join(base, "no", "such"), "back": filepath.Join(dir, "none"), "again": "gone",
		"self": "/proc/self/cwd/none", "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "sub"))
	for name, want := range map[string]string{
		"link/none": "", "link/outside/x": "", "gone": "", "gone/x": "", "again": "", "link": "", "link/ws/none": trust.Unbound,
		"back": trust.Unbound, "link/ws/one": trust.Unbound, "self": trust.Unbound, "loop": trust.Unbound,
	} {
		if sum, _ := readRecipe(dir, name); sum != want {
			t.Errorf("%s has the sum %q, want %q", name, sum, want)
		}
	}
	for _, name := range []string{"one", "two", "whole", "link"} {
		if len(sums[name]) != 64 {
			t.Errorf("%s has the sum %q", name, sums[name])
		}
	}
	if sums["one"] == sums["two"] {
		t.Error("files that differ in the last byte have one sum")
	}
	for _, name := range []string{"whole/below", "sub/" + strings.Repeat("x", 300), "sub/\x00"} {
		if sum, _ := readRecipe(dir, name); sum != "" {
			t.Errorf("%.20q has the sum %q, and does not exist", name, sum)
		}
	}
	for name, want := range map[string]string{"over": trust.Unbound, "sub": "", "none": ""} {
		if sums[name] != want {
			t.Errorf("%s has the sum %q, want %q", name, sums[name], want)
		}
	}
}

// TestFilesOfAreBounded checks that a claim which does not cover all files says so.
func TestFilesOfAreBounded(t *testing.T) {
	for n, want := range map[int]bool{maxRuns - 1: false, maxRuns + 1: true} {
		dir := t.TempDir()
		text := "include ../outside\n"
		for i := range n {
			name := fmt.Sprintf("f%d", i)
			text += "include " + name + "\n"
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, shell := range []bool{false, true} {
			words := []string{"make"}
			if shell {
				words = []string{"true && make"}
			}
			files := newTree(dir, Around(dir, ""), "").filesOf(words, shell)
			if _, more := files["…"]; more != want || !strings.Contains(files["f0"], "e3b0c442") {
				t.Errorf("%d files: %d are covered, more are not: %t", n, len(files), more)
			}
			if _, outside := files["../outside"]; outside {
				t.Error("a file outside is covered")
			}
		}
	}
}

// TestFilesOfFindIncludes finds what a Makefile includes where make looks for it.
func TestFilesOfFindIncludes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sub/Makefile": "include a.mk b.mk c.mk\n", "sub/a.mk": "", "b.mk": "", "inc/c.mk": "",
	} {
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := newTree(dir, Around(dir, ""), "").filesOf([]string{"make", "-C", "sub", "-I../inc"}, false)
	for _, want := range []string{"sub/a.mk", "b.mk", "inc/c.mk"} {
		if files[want] == "" {
			t.Errorf("%v has no %s", files, want)
		}
	}
}

// TestNamesOfOtherSystems checks that a name which is not in the list of a directory is tried if a
// system finds a listed file by it.
func TestNamesOfOtherSystems(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"program.sh": true, "PROGRAM.SH": true, "PROGRA~1.SH": true, "program.sh.": true,
		"program.sh ": true, "progr\u00e4m.sh": true, "PROGRA~1/x": true, "other.sh": false, "-n": false,
	} {
		if got := newTree(dir, Around(dir, ""), "").has(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

// TestFilesOfScripts checks that a claim covers what a script runs, wherever it says so.
func TestFilesOfScripts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Makefile", "a.sh", "a b.sh", "notes"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		words []string
		shell bool
		want  string
	}{
		{[]string{"true && make"}, true, "Makefile"},
		{[]string{"true;make all"}, true, "Makefile"},
		{[]string{"set -e\nmake"}, true, "Makefile"},
		{[]string{"x=$(make)"}, true, "Makefile"},
		{[]string{`"./a.sh" x`}, true, "a.sh"},
		{[]string{"./a.sh|cat"}, true, "a.sh"},
		{[]string{"sh", "-c", "true && make"}, false, "Makefile"},
		{[]string{"sh", "-c", "'./a.sh';true"}, false, "a.sh"},
		{[]string{"env", "sh", "-c", "(./a.sh)"}, false, "a.sh"},
		{[]string{"sh", "a b.sh"}, false, "a b.sh"},
		{[]string{"make"}, false, "Makefile"},
		{[]string{"echo", "make"}, false, ""},
		{[]string{"./a.sh", "notes"}, false, "a.sh notes"},
	} {
		files := newTree(dir, Around(dir, ""), "").filesOf(tt.words, tt.shell)
		if got := strings.Join(slices.Sorted(maps.Keys(files)), " "); got != tt.want {
			t.Errorf("%q covers %q, want %q", tt.words, got, tt.want)
		}
	}
}

// TestAround checks which files above a workspace others can commit, too.
func TestAround(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"super/.git", "super/sub/x", "super/own/.git", "bare/x", "super/linked/x"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"super/sub": "../.git/modules/sub\n", "super/linked": dir + "/other/.git/worktrees/linked\n",
	} {
		err := os.WriteFile(filepath.Join(dir, name, ".git"), []byte("gitdir: "+to), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ workspace, workTree, want string }{
		{"super/sub/x", "", "super"},
		{"super/own/x", "", "super/own"},
		{"super/x", "", "super"},
		{"super/linked/x", "", "super/linked"},
		{"super/own/x", "super/own", "super/own"},
		{"bare/x", "bare", "bare"},
		{"bare/x", "super", "bare/x"},
	} {
		workTree := ""
		if tt.workTree != "" {
			workTree = filepath.Join(dir, tt.workTree)
		}
		want := filepath.Join(dir, tt.want)
		if got := Around(filepath.Join(dir, tt.workspace), workTree); got != want {
			t.Errorf("%s in %q: %s, want %s", tt.workspace, tt.workTree, got, want)
		}
	}
}
