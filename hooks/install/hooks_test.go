package install_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// A versioned repository has a git of another version than the installed one.
type versioned struct {
	*gitint.Repo
	version gitint.Version
}

func (v versioned) Version(context.Context) (gitint.Version, error) { return v.version, nil }

var (
	oldGit = gitint.Version{Major: 2, Minor: 39, Patch: 5}
	newGit = gitint.Version{Major: 2, Minor: 54}
)

// open returns the repository in dir with a git of version v.
func open(t *testing.T, r *gittest.Repository, dir string, v gitint.Version) install.Repo {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return versioned{repo, v}
}

func installer(t *testing.T, repo install.Repo, o install.Options) *install.Installer {
	t.Helper()
	if o.Names == nil {
		o.Names = []string{"pre-commit", "post-commit"}
	}
	in, err := install.New(repo, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// install plans and applies, and returns the plan.
func installIn(t *testing.T, repo install.Repo, o install.Options) *install.Plan {
	t.Helper()
	p, err := installer(t, repo, o).Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func uninstall(t *testing.T, repo install.Repo) *install.Plan {
	t.Helper()
	p, err := installer(t, repo, install.Options{}).Uninstall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// deeds returns a plan's actions, without paths.
func deeds(p *install.Plan) []string {
	var all []string
	for _, a := range p.Actions {
		all = append(all, fmt.Sprintf("%s %s", a.Do, a.Hook))
	}
	return all
}

func wantDeeds(t *testing.T, p *install.Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, deeds(p)); diff != "" {
		t.Errorf("actions (-want +got)\n%s\n%v", diff, p.Actions)
	}
}

// listing returns every file below dir with its mode and bytes.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text += "\n" + string(data)
		}
		rel, err := filepath.Rel(dir, name)
		all[rel] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fakeJP puts a git-jp on the PATH of r that writes its arguments and its input to a
// log, and returns the log's path.
func fakeJP(t *testing.T, r *gittest.Repository) (*gittest.Repository, string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$@\" >>" + log + "\n[ -t 0 ] || cat >>" + log +
		"\nexit ${JP_EXIT:-0}\n"
	gittest.WriteProgram(t, filepath.Join(dir, "git-jp"), script)
	return r.With("PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")), log
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

const userScript = "#!/bin/sh\n# mine\necho mine >>ran\nexec true\n"

func writeHook(t *testing.T, r *gittest.Repository, name, text string, perm os.FileMode) {
	t.Helper()
	r.WriteFile(name, text)
	if err := os.Chmod(r.Path(name), perm); err != nil {
		t.Fatal(err)
	}
}

func TestInstallThenUninstallLeavesNoTrace(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, r *gittest.Repository)
		version gitint.Version
		options install.Options
		want    []string // actions of the installation
	}{
		{name: "fresh", version: oldGit, want: []string{"create pre-commit", "create post-commit"}},
		{
			name: "in the configuration", version: newGit,
			want: []string{"create pre-commit", "create post-commit"},
		},
		{
			name: "every hook", version: oldGit, options: install.Options{Names: install.AllNames()},
			want: prefixed("create ", install.AllNames()),
		},
		{
			name: "no hooks directory", version: oldGit,
			prepare: func(t *testing.T, r *gittest.Repository) { r.Remove(".git/hooks") },
			want:    []string{"create pre-commit", "create post-commit"},
		},
		{
			name: "chained", version: oldGit, options: install.Options{Foreign: install.ForeignChain},
			prepare: func(t *testing.T, r *gittest.Repository) {
				writeHook(t, r, ".git/hooks/pre-commit", userScript, 0o710)
			},
			want: []string{"chain pre-commit", "create post-commit"},
		},
		{
			name: "beside a foreign hook in the configuration", version: newGit,
			prepare: func(t *testing.T, r *gittest.Repository) {
				writeHook(t, r, ".git/hooks/pre-commit", userScript, 0o755)
			},
			want: []string{"create pre-commit", "create post-commit"},
		},
		{
			name: "configuration of a strange shape", version: newGit,
			prepare: func(t *testing.T, r *gittest.Repository) {
				r.WriteFile(".git/config", "# a\n"+r.ReadFile(".git/config")+
					"[hook \"mine\"] ; b\n  event=pre-commit\n\tcommand = true # c\n")
			},
			want: []string{"create pre-commit", "skip pre-commit", "create post-commit"},
		},
		{
			name: "core.hooksPath inside the repository", version: oldGit,
			prepare: func(t *testing.T, r *gittest.Repository) {
				r.Run("config", "core.hooksPath", ".git/elsewhere/hooks")
			},
			want: []string{"create pre-commit", "create post-commit"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			if tt.prepare != nil {
				tt.prepare(t, r)
			}
			repo := open(t, r, r.Dir, tt.version)
			before := listing(t, r.Dir)
			wantDeeds(t, installIn(t, repo, tt.options), tt.want...)
			if cmp.Equal(before, listing(t, r.Dir)) {
				t.Fatal("installing changed nothing")
			}
			again, err := installer(t, repo, tt.options).Install(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !again.Empty() {
				t.Errorf("installing again is not empty: %v", again.Actions)
			}
			uninstall(t, repo)
			if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

func prefixed(prefix string, names []string) []string {
	for i, name := range names {
		names[i] = prefix + name
	}
	return names
}

func TestForeignHooksAreLeftAlone(t *testing.T) {
	chain := install.Options{Names: []string{"pre-commit"}, Foreign: install.ForeignChain}
	report := install.Options{Names: []string{"pre-commit"}}
	tests := []struct {
		name, text string
		perm       os.FileMode
		options    install.Options
		reason     string
		snippet    string
	}{
		{"shell without consent", userScript, 0o755, report, "did not install", "# >>> git jp >>>"},
		{
			"python", "#!/usr/bin/env python3\n",
			0o755, chain, "not a shell script: put a shell script in its place", "git-jp hook",
		},
		{"no first line", "echo", 0o755, chain, "not a shell script", "git-jp hook pre-commit"},
		{"Windows", "#!/bin/sh\r\necho\r\n", 0o755, chain, "not a shell script", "git jp"},
		{"not executable", userScript, 0o644, chain, "not executable", "git-jp hook pre-commit"},
		{
			"changed block", "#!/bin/sh\n# >>> git jp >>> (mine now)\n",
			0o755, chain, "was changed", "git jp",
		},
		{
			"pre-commit", preCommitScript,
			0o755, report, "pre-commit generates", "git-jp hook pre-commit; else",
		},
		{
			"prek", prekScript, 0o755, report, "prek generates", "git-jp hook pre-commit; else",
		},
		{
			"lefthook", lefthookScript,
			0o755, chain, "lefthook generates", "git-jp hook pre-commit {0}; else",
		},
		{
			"simple-git-hooks", simpleScript,
			0o755, chain, "simple-git-hooks generates", `git-jp hook pre-commit \"$@\"; else`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			writeHook(t, r, ".git/hooks/pre-commit", tt.text, tt.perm)
			before := listing(t, r.Dir)
			p := installIn(t, open(t, r, r.Dir, oldGit), tt.options)
			wantDeeds(t, p, "manual pre-commit")
			a := p.Open()[0]
			if !strings.Contains(a.Reason, tt.reason) || !strings.Contains(a.Snippet, tt.snippet) {
				t.Errorf("got %+v", a)
			}
			if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

func TestLinkIsLeftAlone(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("hook.sh", userScript)
	if err := os.Symlink("../../hook.sh", r.Path(".git/hooks/pre-commit")); err != nil {
		t.Skip(err)
	}
	p := installIn(t, open(t, r, r.Dir, oldGit),
		install.Options{Names: []string{"pre-commit"}, Foreign: install.ForeignChain})
	wantDeeds(t, p, "manual pre-commit")
	if got := r.ReadFile("hook.sh"); got != userScript {
		t.Errorf("the target was changed: %q", got)
	}
}

func TestHooksPathElsewhere(t *testing.T) {
	outside := gittest.TempDir(t)
	tests := []struct {
		name, path, reason, snippet string
		link                        bool
	}{
		{
			name: "tracked", path: ".githooks",
			reason:  "core.hooksPath (local) is .githooks in the working tree",
			snippet: `git-jp hook pre-commit "$@"`,
		},
		{
			name: "outside", path: outside,
			reason: "outside of the repository", snippet: "git-jp hook",
		},
		{
			name: "husky", path: ".husky/_", reason: "husky has no hook in this working tree",
			snippet: ".husky/pre-commit:\n",
		},
		{name: "a link into the working tree", path: ".githooks", link: true, reason: "leads out of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			if tt.link {
				r.Remove(".git/hooks")
				r.WriteFile(".githooks/README", "")
				if err := os.Symlink("../.githooks", r.Path(".git/hooks")); err != nil {
					t.Skip(err)
				}
			} else {
				r.Run("config", "core.hooksPath", tt.path)
			}
			before := listing(t, r.Dir)
			p := installIn(t, open(t, r, r.Dir, oldGit),
				install.Options{Names: []string{"pre-commit"}, Foreign: install.ForeignChain})
			wantDeeds(t, p, "manual pre-commit")
			if a := p.Open()[0]; !strings.Contains(a.Reason, tt.reason) ||
				!strings.Contains(a.Snippet, tt.snippet) {
				t.Errorf("got %+v", a)
			}
			if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// A hook that a manager's configuration or a tracked hook calls is not installed twice.
func TestCalledByHand(t *testing.T) {
	tests := []struct{ name, hooksPath, file, text, hookFile, hook string }{
		{
			name: "tracked", hooksPath: ".githooks", file: ".githooks/pre-commit",
			text: "#!/bin/sh\ngit jp hook pre-commit \"$@\"\n",
		},
		{
			name: "husky", hooksPath: ".husky/_", file: ".husky/pre-commit",
			text:     "git jp hook pre-commit \"$@\"\n",
			hookFile: ".husky/_/pre-commit", hook: huskyScript,
		},
		{
			name: "lefthook", file: "lefthook.yml",
			text:     "pre-commit:\n  jobs:\n    - run: git jp hook pre-commit {0}\n",
			hookFile: ".git/hooks/pre-commit", hook: lefthookScript,
		},
	}
	for _, tt := range tests {
		for _, v := range []gitint.Version{oldGit, newGit} {
			t.Run(tt.name+" "+v.String(), func(t *testing.T) {
				r := gittest.Repo(t)
				if tt.hooksPath != "" {
					r.Run("config", "core.hooksPath", tt.hooksPath)
				}
				writeHook(t, r, tt.file, tt.text, 0o755)
				if tt.hookFile != "" {
					writeHook(t, r, tt.hookFile, tt.hook, 0o755)
				}
				repo := open(t, r, r.Dir, v)
				one := install.Options{Names: []string{"pre-commit"}}
				p := installIn(t, repo, one)
				if !p.Empty() || len(p.Open()) > 0 {
					t.Errorf("actions %v, want none that changes anything", p.Actions)
				}
				st, err := installer(t, repo, one).Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !st[0].Active || st[0].Via != "called" {
					t.Errorf("status %+v", st[0])
				}
			})
		}
	}
}

// pre-commit keeps the hook that it replaces and runs it.
func TestInstalledBeforePreCommit(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, oldGit)
	one := install.Options{Names: []string{"pre-commit"}}
	before := listing(t, r.Path(".git"))
	installIn(t, repo, one)
	file := r.Path(".git/hooks/pre-commit")
	if err := os.Rename(file, file+".legacy"); err != nil {
		t.Fatal(err)
	}
	writeHook(t, r, ".git/hooks/pre-commit", preCommitScript, 0o755)
	wantDeeds(t, installIn(t, repo, one), "keep pre-commit")
	wantDeeds(t, uninstall(t, repo), "remove pre-commit")
	r.Remove(".git/hooks/pre-commit")
	if diff := cmp.Diff(before, listing(t, r.Path(".git"))); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	// The file beside a hook of the configuration does nothing where it is run twice.
	newer := open(t, r, r.Dir, newGit)
	installIn(t, newer, one)
	if err := os.Rename(file, file+".legacy"); err != nil {
		t.Fatal(err)
	}
	writeHook(t, r, ".git/hooks/pre-commit", preCommitScript, 0o755)
	wantDeeds(t, installIn(t, newer, one), "keep pre-commit")
	st, err := installer(t, newer, one).Status(t.Context())
	if err != nil || !st[0].Active || st[0].Twice || st[0].Via != "config" {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestChangedFilesSurviveUninstall(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, oldGit)
	installIn(t, repo, install.Options{})
	edited := r.ReadFile(".git/hooks/pre-commit") + "# and mine\n"
	r.WriteFile(".git/hooks/pre-commit", edited)
	p := uninstall(t, repo)
	wantDeeds(t, p, "manual pre-commit", "remove post-commit")
	if got := r.ReadFile(".git/hooks/pre-commit"); got != edited {
		t.Errorf("the file is %q", got)
	}
}

func TestChangedSettingSurvives(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, newGit)
	r.Run("config", "hook.jp-pre-commit.command", "echo mine")
	r.Run("config", "hook.jp-pre-commit.event", "pre-commit")
	config := r.ReadFile(".git/config")
	one := install.Options{Names: []string{"pre-commit"}}
	wantDeeds(t, installIn(t, repo, one), "manual pre-commit")
	wantDeeds(t, uninstall(t, repo), "manual pre-commit")
	if got := r.ReadFile(".git/config"); got != config {
		t.Errorf("the configuration is\n%s", got)
	}
}

// An edit of a chained hook survives the removal of the block.
func TestChainedHookMayBeEdited(t *testing.T) {
	r := gittest.Repo(t)
	writeHook(t, r, ".git/hooks/pre-commit", userScript, 0o755)
	repo := open(t, r, r.Dir, oldGit)
	installIn(t, repo, install.Options{Foreign: install.ForeignChain})
	r.WriteFile(".git/hooks/pre-commit", r.ReadFile(".git/hooks/pre-commit")+"# more\n")
	uninstall(t, repo)
	if got, want := r.ReadFile(".git/hooks/pre-commit"), userScript+"# more\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinkedWorktreesShareHooks(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "a")
	r.Commit("a")
	r.Run("worktree", "add", "-q", "../linked")
	before := listing(t, filepath.Join(r.Dir, ".git"))
	linked := open(t, r, filepath.Join(filepath.Dir(r.Dir), "linked"), oldGit)
	installIn(t, linked, install.Options{})
	if p := installIn(t, open(t, r, r.Dir, oldGit), install.Options{}); !p.Empty() {
		t.Errorf("installing from the main worktree does %v", p.Actions)
	}
	if r.ReadFile(".git/hooks/pre-commit") == "" {
		t.Error("no hook in the common directory")
	}
	uninstall(t, linked)
	if diff := cmp.Diff(before, listing(t, filepath.Join(r.Dir, ".git"))); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func TestUninstallFindsWhatHooksPathHides(t *testing.T) {
	r := gittest.Repo(t)
	repo := open(t, r, r.Dir, oldGit)
	before := listing(t, r.Path(".git/hooks"))
	installIn(t, repo, install.Options{})
	r.Run("config", "core.hooksPath", ".githooks")
	wantDeeds(t, uninstall(t, repo), "remove pre-commit", "remove post-commit")
	if diff := cmp.Diff(before, listing(t, r.Path(".git/hooks"))); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func TestBareRepository(t *testing.T) {
	r := gittest.Repo(t, "--bare")
	before := listing(t, r.Dir)
	repo := open(t, r, r.Dir, oldGit)
	one := install.Options{Names: []string{"pre-receive"}}
	wantDeeds(t, installIn(t, repo, one), "create pre-receive")
	uninstall(t, repo)
	if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func TestPlanIsAppliedOnceAndOnlyToWhatItSaw(t *testing.T) {
	r := gittest.Repo(t)
	in := installer(t, open(t, r, r.Dir, oldGit), install.Options{})
	p, err := in.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writeHook(t, r, ".git/hooks/pre-commit", userScript, 0o755)
	var changed *install.ChangedError
	if err := p.Apply(t.Context()); !errors.As(err, &changed) {
		t.Errorf("err = %v, want a ChangedError", err)
	}
	if got := r.ReadFile(".git/hooks/pre-commit"); got != userScript {
		t.Errorf("the hook is %q", got)
	}
	if err := p.Apply(t.Context()); !errors.Is(err, install.ErrApplied) {
		t.Errorf("second Apply: %v", err)
	}
	r.Remove(".git/hooks/pre-commit")
	installIn(t, open(t, r, r.Dir, oldGit), install.Options{})
	if p, err = in.Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
	writeHook(t, r, ".git/hooks/pre-commit", userScript, 0o755)
	if err := p.Apply(t.Context()); !errors.As(err, &changed) {
		t.Errorf("uninstall: err = %v, want a ChangedError", err)
	}
	if got := r.ReadFile(".git/hooks/pre-commit"); got != userScript {
		t.Errorf("the hook is %q", got)
	}
}

func TestUnknownHook(t *testing.T) {
	if _, err := install.New(nil, install.Options{Names: []string{"pre-comit"}}); err == nil {
		t.Error("no error")
	}
	for _, names := range [][]string{
		install.DefaultNames(), install.TrailerNames(), install.ServerNames(),
	} {
		if _, err := install.New(nil, install.Options{Names: names}); err != nil {
			t.Error(err)
		}
	}
}
