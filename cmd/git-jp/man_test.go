package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/report"
)

// output runs the program in an empty environment and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := &environment{
		args: args, dir: t.TempDir(), stdin: strings.NewReader(""), stdout: &stdout,
		stderr: &stderr, now: time.Now, session: sessionID, version: "1.2.3",
	}
	if code := run(t.Context(), w); code != report.ExitDone {
		t.Fatalf("git jp %v: exit code %d: %s", args, code, &stderr)
	}
	return stdout.String()
}

// TestManPageIsComplete verifies that every command and flag that help shows is in the page, which
// is all that `git jp --help` shows.
func TestManPageIsComplete(t *testing.T) {
	page := output(t, "man")
	parser, err := kong.New(&cli{}, kongOptions(&environment{})...)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(node *kong.Node, path string)
	walk = func(node *kong.Node, path string) {
		for _, f := range node.Flags {
			if shown := `\-\-` + hyphens(f.Name); !f.Hidden && !strings.Contains(page, shown) {
				t.Errorf("%s has --%s, the page does not", path, f.Name)
			}
		}
		for _, child := range node.Children {
			name := path + " " + child.Name
			heading := `.SS "` + hyphens(name)
			switch {
			case child.Hidden && strings.Contains(page, heading):
				t.Errorf("%s is hidden and in the page", name)
			case child.Hidden:
			case !strings.Contains(page, heading):
				t.Errorf("%s is not in the page", name)
			default:
				walk(child, name)
			}
		}
	}
	walk(parser.Model.Node, "git jp")
	for _, want := range []string{".SH EXIT STATUS", ".SH ENVIRONMENT", ".SH FILES", "1.2.3"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// hyphens spells a name as the page does.
func hyphens(name string) string { return strings.ReplaceAll(name, "-", `\-`) }

// TestManPageHasNoWarnings checks the page with troff itself.
func TestManPageHasNoWarnings(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	cmd := exec.Command("groff", "-ww", "-man", "-Tutf8")
	cmd.Stdin = strings.NewReader(output(t, "man"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("groff: %v\n%s", err, &stderr)
	}
	if stdout.Len() == 0 {
		t.Error("the page is empty")
	}
}

// TestManPageKeepsTheQuarantine verifies that the page calls caches deletable, and nothing that has
// the only copy of something.
func TestManPageKeepsTheQuarantine(t *testing.T) {
	_, files, _ := strings.Cut(output(t, "man"), ".SH FILES")
	files, _, _ = strings.Cut(files, ".SH ")
	kept := false
	for paragraph := range strings.SplitSeq(files, ".PP") {
		text := strings.Join(strings.Fields(paragraph), " ")
		if strings.Contains(text, "at any time") && !strings.Contains(text, "/jp/cache/:") {
			t.Errorf("it calls deletable: %s", text)
		}
		kept = kept || strings.Contains(text, "/jp/trash/,") && strings.Contains(text, "only copy")
	}
	if !kept {
		t.Errorf("it does not say what the quarantine is worth:\n%s", files)
	}
}
