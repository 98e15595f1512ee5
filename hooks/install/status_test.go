package install_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/trace"
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

// TestSettingsAreReadTogether counts the processes of git: one for the settings of all hooks and
// drivers and for where git looks for hooks.
func TestSettingsAreReadTogether(t *testing.T) {
	r := gittest.Repo(t)
	var log bytes.Buffer
	repo, err := gitint.Open(t.Context(), gitint.Options{
		Dir: r.Dir, Env: r.Env, Trace: trace.New(&log),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	in := installer(t, repo, install.Options{Names: install.AllNames(), Drivers: true})
	for what, plan := range map[string]func(context.Context) error{
		"Install":   func(ctx context.Context) error { _, err := in.Install(ctx); return err },
		"Status":    func(ctx context.Context) error { _, err := in.Status(ctx); return err },
		"Uninstall": func(ctx context.Context) error { _, err := in.Uninstall(ctx); return err },
	} {
		log.Reset()
		if err := plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, version := strings.Count(log.String(), "\n"), strings.Count(log.String(), " git version")
		if got := all - version; got != 1 {
			t.Errorf("%s: got %d processes that read settings, want 1:\n%s", what, got, &log)
		}
	}
}
