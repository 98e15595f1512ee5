package install_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestHooksOfTheConfiguration tests a user's hooks in the configuration, and hooks that are turned
// off there.
func TestHooksOfTheConfiguration(t *testing.T) {
	const ours = "hook.jp-pre-commit.command"
	for _, tt := range []struct {
		name     string
		settings [][2]string
		want     []string
		status   install.Status
	}{
		{
			"somebody's, which runs too",
			[][2]string{{"hook.lint.event", "pre-commit"}, {"hook.lint.command", "lint"}},
			[]string{"create pre-commit", "skip pre-commit"},
			install.Status{Active: true, Via: "config", Path: ours},
		},
		{
			"somebody's for another event, or for none any more",
			[][2]string{
				{"hook.lint.event", "pre-push"},
				{"hook.lint.command", "lint"},
				{"hook.old.event", "pre-commit"},
				{"hook.old.event", ""},
				{"hook.old.command", "x"},
			},
			[]string{"create pre-commit"},
			install.Status{Active: true, Via: "config", Path: ours},
		},
		{
			"somebody's that calls ours",
			[][2]string{
				{"hook.mine.event", "pre-commit"},
				{"hook.mine.command", "git jp hook pre-commit \"$@\""},
			},
			[]string{"skip pre-commit"},
			install.Status{Active: true, Via: "called", Path: "hook.mine.command"},
		},
		{
			"somebody's that called ours",
			[][2]string{
				{"hook.mine.event", "pre-commit"},
				{"hook.mine.command", "git jp hook pre-commit"},
				{"hook.mine.enabled", "off"},
			},
			[]string{"create pre-commit"},
			install.Status{Active: true, Via: "config", Path: ours},
		},
		{
			"ours, turned off",
			[][2]string{{"hook.jp-pre-commit.enabled", "false"}},
			[]string{"skip pre-commit"},
			install.Status{Path: ".git/hooks/pre-commit"},
		},
		{
			"all of the event, turned off",
			[][2]string{{"hook.pre-commit.enabled", "no"}},
			[]string{"skip pre-commit"},
			install.Status{Path: ".git/hooks/pre-commit"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			for _, kv := range tt.settings {
				r.Run("config", "--add", kv[0], kv[1])
			}
			one := install.Options{Names: []string{"pre-commit"}}
			repo := open(t, r, r.Dir, newGit)
			before := listing(t, r.Dir)
			wantDeeds(t, installIn(t, repo, one), tt.want...)
			tt.status.Hook = "pre-commit"
			if tt.status.Path[0] == '.' {
				tt.status.Path = r.Path(tt.status.Path)
			}
			if diff := cmp.Diff(tt.status, statusOf(t, repo)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			uninstall(t, repo)
			if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// TestHooksThatChangeLater: the user turns ours off, or calls it, after it was installed.
func TestHooksThatChangeLater(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, newGit)
	one := install.Options{Names: []string{"pre-commit"}}
	installIn(t, repo, one)
	r.Run("config", "hook.jp-pre-commit.enabled", "false")
	if got := statusOf(t, repo); got.Active || got.Setting != "hook.jp-pre-commit.enabled" ||
		got.Scope != "local" {
		t.Errorf("turned off: %+v", got)
	}
	r.Run("config", "--unset", "hook.jp-pre-commit.enabled")
	r.Run("config", "hook.mine.event", "pre-commit")
	r.Run("config", "hook.mine.command", "git jp hook pre-commit")
	if got := statusOf(t, repo); !got.Active || !got.Twice {
		t.Errorf("called by somebody's too: %+v", got)
	}
	wantDeeds(t, installIn(t, repo, one),
		"remove pre-commit", "remove pre-commit", "skip pre-commit")
	if got := statusOf(t, repo); !got.Active || got.Twice || got.Via != "called" {
		t.Errorf("left to somebody's: %+v", got)
	}
}

func statusOf(t *testing.T, repo install.Repo) install.Status {
	t.Helper()
	all, err := installer(t, repo, install.Options{Names: []string{"pre-commit"}}).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}
