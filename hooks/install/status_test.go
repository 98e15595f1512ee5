package install_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

func TestStatus(t *testing.T) {
	r := gittest.Repo(t)
	older, newer := open(t, r, r.Dir, oldGit), open(t, r, r.Dir, newGit)
	one := install.Options{Names: []string{"pre-commit"}}
	status := func(repo install.Repo) install.Status {
		t.Helper()
		all, err := installer(t, repo, one).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	file := r.Path(".git/hooks/pre-commit")
	check := func(step string, got install.Status, want install.Status) {
		t.Helper()
		want.Hook = "pre-commit"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step, diff)
		}
	}
	check("nothing", status(older), install.Status{Path: file})
	installIn(t, older, one)
	check("file", status(older), install.Status{Path: file, Active: true, Via: "file"})
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	check("mode", status(older), install.Status{
		Path: file, Via: "file", Detail: "the file is not executable",
	})
	wantDeeds(t, installIn(t, older, one), "update pre-commit")
	check("mode again", status(older), install.Status{Path: file, Active: true, Via: "file"})
	r.Run("config", "core.hooksPath", ".githooks")
	got := status(older)
	if got.Active || !strings.Contains(got.Detail, "so git does not run "+file) {
		t.Errorf("dormant: %+v", got)
	}
	r.Run("config", "--unset", "core.hooksPath")
	r.Run("config", "hook.jp-pre-commit.enabled", "true")
	installIn(t, newer, install.Options{Names: one.Names})
	key := "hook.jp-pre-commit.command"
	check("config", status(newer), install.Status{Path: key, Active: true, Via: "config"})
	check("config, old git", status(older), install.Status{
		Path: file, Active: true, Via: "file", Beside: true,
	})
	r.Remove(".git/hooks/pre-commit")
	check("config alone, old git", status(older), install.Status{
		Path: key, Detail: "this git does not run hooks of the configuration",
	})
	wantDeeds(t, installIn(t, newer, one), "create pre-commit")
	check("config again", status(newer), install.Status{Path: key, Active: true, Via: "config"})
}
