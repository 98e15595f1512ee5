package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

func TestMain(m *testing.M) {
	scripts.Main(m, ".", map[string]func(){"confined": confined})
}

// A pager of git shows what a terminal shows. What else is behind a pipe gets the text as it is:
// git, which calls some commands while its pager runs, and files that are written meanwhile.
func TestPagerOfGit(t *testing.T) {
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		args, inUse string
		out         *os.File
		want        bool
	}{
		{"log x", "true", pipe, true},
		{"log x", "", pipe, false},
		{"log x", "false", pipe, false},
		{"log x", "true", file, false},
		{"textconv blob x", "true", pipe, false},
		{"hook pre-commit", "true", pipe, false},
		{"", "true", pipe, false},
	} {
		w := &environment{args: strings.Fields(c.args), env: []string{"GIT_PAGER_IN_USE=" + c.inUse}}
		if got := w.startedInPager(c.out); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
