package hooks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/gittest"
)

func TestStatus(t *testing.T) {
	r := gittest.Repo(t)
	older, newer := open(t, r, r.Dir, oldGit), open(t, r, r.Dir, newGit)
	one := hooks.Options{Names: []string{"pre-commit"}}
	status := func(repo hooks.Repo) hooks.Status {
		t.Helper()
		all, err := installer(t, repo, one).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	file := r.Path(".git/hooks/pre-commit")
	check := func(step string, got hooks.Status, want hooks.Status) {
		t.Helper()
		want.Hook = "pre-commit"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step, diff)
		}
	}
	check("nothing", status(older), hooks.Status{Path: file})
	install(t, older, one)
	check("file", status(older), hooks.Status{Path: file, Active: true, Via: "file"})
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	check("mode", status(older), hooks.Status{
		Path: file, Via: "file", Detail: "the file is not executable",
	})
	wantDeeds(t, install(t, older, one), "update pre-commit")
	check("mode again", status(older), hooks.Status{Path: file, Active: true, Via: "file"})
	r.Run("config", "core.hooksPath", ".githooks")
	got := status(older)
	if got.Active || !strings.Contains(got.Detail, "so git does not run "+file) {
		t.Errorf("dormant: %+v", got)
	}
	r.Run("config", "--unset", "core.hooksPath")
	r.Run("config", "hook.jp-pre-commit.enabled", "true")
	install(t, newer, hooks.Options{Names: one.Names})
	key := "hook.jp-pre-commit.command"
	check("config", status(newer), hooks.Status{Path: key, Active: true, Via: "config"})
	check("config, old git", status(older), hooks.Status{
		Path: file, Active: true, Via: "file", Beside: true,
	})
	r.Remove(".git/hooks/pre-commit")
	check("config alone, old git", status(older), hooks.Status{
		Path: key, Detail: "this git does not run hooks of the configuration",
	})
	wantDeeds(t, install(t, newer, one), "create pre-commit")
	check("config again", status(newer), hooks.Status{Path: key, Active: true, Via: "config"})
}
