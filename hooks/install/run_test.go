package install_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// Real git runs the installed hooks.
func TestGitRunsTheHooks(t *testing.T) {
	r, log := fakeJP(t, gittest.Repo(t))
	installIn(t, open(t, r, r.Dir, oldGit), install.Options{})
	r.WriteFile("a", "a")
	r.Commit("a")
	if got, want := read(t, log), "hook pre-commit\nhook post-commit\n"; got != want {
		t.Errorf("git ran %q, want %q", got, want)
	}
	r.WriteFile("a", "b")
	if _, err := r.With("JP_EXIT=1").Try("commit", "-q", "-a", "-m", "b"); err == nil {
		t.Error("a failing pre-commit hook did not stop the commit")
	}
}

func TestWithoutGitJP(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
	}{{"script", ""}, {"chained", userScript}} {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			if tt.text != "" {
				writeHook(t, r, ".git/hooks/pre-commit", tt.text, 0o755)
			}
			installIn(t, open(t, r, r.Dir, oldGit), install.Options{
				Names: []string{"pre-commit"}, Foreign: install.ForeignChain,
			})
			cmd := exec.Command(r.Path(".git/hooks/pre-commit"))
			cmd.Dir, cmd.Env = r.Dir, []string{"PATH=/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			want := "git-jp is not installed: its pre-commit hook was skipped\n"
			if string(out) != want {
				t.Errorf("it said %q, want %q", out, want)
			}
			if ran := read(t, r.Path("ran")) != ""; ran != (tt.text != "") {
				t.Errorf("the user's hook ran: %v", ran)
			}
		})
	}
}

// The block runs before the script, though the script ends in exec, and stops it only if git can be
// stopped.
func TestChainedHooksRunBoth(t *testing.T) {
	for _, tt := range []struct {
		hook, exit string
		mine       bool
		fails      bool
	}{
		{"pre-commit", "0", true, false},
		{"pre-commit", "3", false, true},
		{"post-commit", "3", true, false},
	} {
		t.Run(tt.hook+" "+tt.exit, func(t *testing.T) {
			r, log := fakeJP(t, gittest.Repo(t))
			writeHook(t, r, ".git/hooks/"+tt.hook, userScript, 0o755)
			installIn(t, open(t, r, r.Dir, oldGit), install.Options{
				Names: []string{tt.hook}, Foreign: install.ForeignChain,
			})
			_, err := r.With("JP_EXIT="+tt.exit).Try("commit", "-q", "--allow-empty", "-m", "b")
			if (err != nil) != tt.fails {
				t.Errorf("commit: %v", err)
			}
			if got := read(t, log); got != "hook "+tt.hook+"\n" {
				t.Errorf("ours ran as %q", got)
			}
			if mine := read(t, r.Path("ran")) == "mine\n"; mine != tt.mine {
				t.Errorf("theirs ran: %v, want %v", mine, tt.mine)
			}
		})
	}
}

// Both hooks of a chain get the complete input, in every available shell.
func TestChainedHooksShareTheInput(t *testing.T) {
	const input = "refs/heads/a\\n $HOME 1 2\n`x` \"y\" 'z'\n"
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "zsh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for name, in := range map[string]string{"lines": input, "nothing": ""} {
			t.Run(shell+" "+name, func(t *testing.T) {
				r, log := fakeJP(t, gittest.Repo(t))
				writeHook(t, r, ".git/hooks/pre-push", "#!"+path+"\ncat >theirs\n", 0o755)
				installIn(t, open(t, r, r.Dir, oldGit), install.Options{
					Names: []string{"pre-push"}, Foreign: install.ForeignChain,
				})
				cmd := exec.Command(r.Path(".git/hooks/pre-push"), "origin", "url")
				cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, strings.NewReader(in)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if got := read(t, r.Path("theirs")); got != in {
					t.Errorf("theirs read %q, want %q", got, in)
				}
				if got, want := read(t, log), "hook pre-push origin url\n"+in; got != want {
					t.Errorf("ours got %q, want %q", got, want)
				}
			})
		}
	}
}

// The command in the configuration works the way git runs it: as a shell command, with "$@" after
// it when there are arguments.
func TestConfiguredCommand(t *testing.T) {
	r, log := fakeJP(t, gittest.Repo(t))
	installIn(t, open(t, r, r.Dir, newGit), install.Options{
		Names: []string{"post-checkout", "pre-commit"},
	})
	run := func(env []string, hook string, args ...string) string {
		command := r.Run("config", "hook.jp-"+hook+".command")
		if got := r.Run("config", "hook.jp-"+hook+".event"); got != hook {
			t.Errorf("event %q", got)
		}
		if len(args) > 0 {
			command += ` "$@"`
		}
		cmd := exec.Command("/bin/sh", append([]string{"-c", command, "git"}, args...)...)
		cmd.Dir, cmd.Env = r.Dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	run(r.Env, "post-checkout", "a b", "c", "1")
	run(r.Env, "pre-commit")
	if got, want := read(t, log), "hook post-checkout a b c 1\nhook pre-commit\n"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	bare := []string{"PATH=/usr/bin:/bin"}
	without := run(bare, "pre-commit")
	if want := "git-jp is not installed: its pre-commit hook was skipped\n"; without != want {
		t.Errorf("without git-jp it says %q, want %q", without, want)
	}
	if said := run(bare, "post-checkout", "a", "b", "1"); said != "" {
		t.Errorf("without git-jp it says %q after a checkout", said)
	}
}

// failing is a repository whose configuration cannot be written any more after some keys.
type failing struct {
	install.Repo
	left int
}

func (f *failing) SetConfig(ctx context.Context, key, value string) error {
	if f.left--; f.left < 0 {
		return errors.New("the disk is full")
	}
	return f.Repo.SetConfig(ctx, key, value)
}

// TestCutShort: git dies of an event without a command, so no interrupted installation leaves one.
func TestCutShort(t *testing.T) {
	for n := range 5 {
		r := gittest.Repo(t)
		p, err := installer(t, &failing{open(t, r, r.Dir, newGit), n}, install.Options{}).
			Install(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(t.Context()); (err == nil) != (n == 4) {
			t.Errorf("after %d keys: %v", n, err)
		}
		for _, name := range []string{"pre-commit", "post-commit"} {
			_, noEvent := r.Try("config", "hook.jp-"+name+".event")
			if _, noCommand := r.Try("config", "hook.jp-"+name+".command"); noCommand != nil && noEvent == nil {
				t.Errorf("after %d keys %s has an event and no command", n, name)
			}
		}
	}
}

// TestAttributesBesideOurs: a user's lines before and after ours stay when ours are removed.
func TestAttributesBesideOurs(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, oldGit)
	r.WriteFile(".git/info/attributes", "*.a -text\n")
	installIn(t, repo, install.Options{Drivers: true})
	r.WriteFile(".git/info/attributes", r.ReadFile(".git/info/attributes")+"*.b -text\n")
	uninstall(t, repo)
	if got := r.ReadFile(".git/info/attributes"); got != "*.a -text\n*.b -text\n" {
		t.Errorf("the attributes are %q", got)
	}
}
