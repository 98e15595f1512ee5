package check

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestShellQuote(t *testing.T) {
	shell, noShell := exec.LookPath("bash")
	for name, want := range map[string]string{
		".jp/a-b_c,d:e@1%~":  ".jp/a-b_c,d:e@1%~",
		"~a":                 "'~a'",
		"":                   "''",
		"a b":                "'a b'",
		"it's":               `'it'\''s'`,
		"ü":                  "'ü'",
		"a\nb'\\1":           `$'a\nb\'\\1'`,
		"a\x1b[1m\u202e\xff": `$'a\033[1m\342\200\256\377'`,
	} {
		got := ShellQuote(name)
		if got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
		if noShell != nil {
			continue
		}
		out, err := exec.Command(shell, "-c", "printf %s "+got).Output()
		if err != nil || string(out) != name {
			t.Errorf("%s is %q for a shell, %v, want %q", got, out, err, name)
		}
	}
}

// TestPathspec asks git whether the path alone is meant, in the root and elsewhere.
func TestPathspec(t *testing.T) {
	r := gittest.Repo(t)
	names := []string{
		".jp/x", "_a/x", "-a/x", ":a/x", "!a/x", ":(top)a/x", "#a/x", "^a/x", "@/x", "[a]/x", "a*/x", "ü/x", "a b/x",
	}
	for _, name := range names {
		r.WriteFile(name, "")
	}
	r.WriteFile("a/x", "")
	r.WriteFile("ab/x", "")
	r.Run("add", "-A")
	for _, name := range names {
		for _, root := range []bool{true, false} {
			dir := map[bool]string{true: ".", false: "a"}[root]
			got := r.Run("-C", dir, "ls-files", "--full-name", "-z", "--", unquote(PathspecAt(root, name)))
			if got != name+"\x00" {
				t.Errorf("%s in %s: git means %q", PathspecAt(root, name), dir, got)
			}
		}
	}
	if got := PathspecAt(true, ".jp/x"); got != ".jp/x" {
		t.Errorf("got %s", got)
	}
}

func unquote(s string) string { return strings.Trim(s, "'") }

func TestOutOfLFS(t *testing.T) {
	for file, want := range map[string]string{
		".jp/conversations/17800000001-one/events.json":              ".jp",
		"my/conversations/.jp/conversations/17800000001/events.json": "my/conversations/.jp",
	} {
		want = "echo '/conversations/** -filter' >> " + want +
			"/.gitattributes && git add --renormalize " + want
		if got := OutOfLFS(file); got != want {
			t.Errorf("OutOfLFS(%s) = %s, want %s", file, got, want)
		}
	}
}
