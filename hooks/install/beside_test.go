package install_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestBesideRunsOnce: a git that ran the hook of the configuration also runs the file beside it,
// which then does nothing; for a git that does not know the configuration's hooks the file is the
// hook.
func TestBesideRunsOnce(t *testing.T) {
	r := gittest.Repo(t)
	installIn(t, open(t, r, r.Dir, newGit), install.Options{Names: []string{"pre-commit"}})
	file := r.Path(".git/hooks/pre-commit")
	for name, tt := range map[string]struct {
		list string // what git hook list does
		want string
	}{
		"runs the configuration": {`printf 'jp-pre-commit\nhook from hookdir\n'`, ""},
		"has it disabled":        {`printf 'disabled\tjp-pre-commit\n'`, ""},
		"runs another's":         {`printf 'lint\nhook from hookdir\n'`, "hook pre-commit\n"},
		"does not know it":       {"exit 129", "hook pre-commit\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, log := fakeJP(t, r)
			dir := t.TempDir()
			git := "#!/bin/sh\nif [ \"$1\" = hook ]; then " + tt.list + "; exit; fi\n"
			gittest.WriteProgram(t, filepath.Join(dir, "git"), git)
			cmd := exec.Command(file)
			cmd.Dir = r.Dir
			for _, kv := range r.Env {
				if path, ok := strings.CutPrefix(kv, "PATH="); ok {
					kv = "PATH=" + dir + string(os.PathListSeparator) + path
				}
				cmd.Env = append(cmd.Env, kv)
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := read(t, log); got != tt.want {
				t.Errorf("it ran %q, want %q", got, tt.want)
			}
		})
	}
}
