package check

import (
	"os/exec"
	"testing"
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
