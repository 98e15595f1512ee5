package teams_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
	"github.com/google/go-cmp/cmp"
)

// managersVariable names directories, separated as in PATH, that have real managers of hooks.
const managersVariable = "GIT_JP_HOOK_MANAGERS"

// managedHooks are those that the managers are configured for; the others are ours alone.
var managedHooks = []string{"pre-commit", "pre-push", "post-checkout", "post-merge"}

// A hookManager is a real one, and how it is configured.
type hookManager struct {
	name string
	// configure writes its configuration: its own hook that prints THEIRS, and the lines to be added
	// by hand for ours.
	configure func(r *gittest.Repository, ours map[string]string)
	put, out  []string
	legacy    bool // it continues to run the hook that it replaced
	hidden    bool // its hooks are not in .git/hooks, but in every worktree
}

func hookManagers() []hookManager {
	types := make([]string, 0, 2*len(managedHooks))
	for _, h := range managedHooks {
		types = append(types, "--hook-type", h)
	}
	return []hookManager{
		{name: "husky", configure: configureHusky, put: []string{"husky"}, hidden: true},
		{
			name: "lefthook", configure: configureLefthook,
			put: []string{"lefthook", "install"}, out: []string{"lefthook", "uninstall"},
		},
		{
			name: "pre-commit", configure: configurePreCommit, legacy: true,
			put: append([]string{"pre-commit", "install"}, types...),
			out: append([]string{"pre-commit", "uninstall"}, types...),
		},
		{
			name: "prek", configure: configurePreCommit, legacy: true,
			put: append([]string{"prek", "install"}, types...),
			out: append([]string{"prek", "uninstall"}, types...),
		},
	}
}

func configureHusky(r *gittest.Repository, ours map[string]string) {
	for _, h := range managedHooks {
		_, line, _ := strings.Cut(ours[h], "\n")
		r.WriteFile(".husky/"+h, line+"echo THEIRS\n")
	}
}

func configureLefthook(r *gittest.Repository, ours map[string]string) {
	text := ""
	for _, h := range managedHooks {
		_, job, _ := strings.Cut(ours[h], "  jobs:\n")
		text += h + ":\n  jobs:\n    - run: echo THEIRS\n" + job
	}
	r.WriteFile("lefthook.yml", text)
}

func configurePreCommit(r *gittest.Repository, ours map[string]string) {
	text := "repos:\n- repo: local\n  hooks:\n  - id: theirs\n    name: theirs\n" +
		"    entry: echo THEIRS\n    language: system\n    always_run: true\n" +
		"    pass_filenames: false\n    verbose: true\n"
	for _, h := range managedHooks {
		_, hook, _ := strings.Cut(ours[h], "repos:\n")
		text += hook
	}
	if out, _ := (managedRepo{Repository: r}).sh("pre-commit", "--version"); out < "pre-commit 3.2" {
		// Before that, the stages had other names.
		text = strings.NewReplacer("[pre-commit]", "[commit]", "[pre-push]", "[push]").Replace(text)
	}
	r.WriteFile(".pre-commit-config.yaml", text)
}

// TestRealHookManagers runs ours beside the real husky, lefthook, pre-commit and prek, in both
// orders of installation. A git that runs hooks of the configuration runs ours beside theirs, and
// nothing is left to do by hand; hooks that colleagues with an older git added to the manager's
// configuration do not run twice there.
func TestRealHookManagers(t *testing.T) {
	dirs := os.Getenv(managersVariable)
	if dirs == "" {
		t.Skipf("set %s to the directories of husky, lefthook, pre-commit and prek",
			managersVariable)
	}
	for _, m := range hookManagers() {
		t.Run(m.name, func(t *testing.T) {
			if !inDirs(dirs, m.name) {
				t.Skipf("%s is in none of %s", m.name, dirs)
			}
			t.Run("theirs first", func(t *testing.T) { managed(t, m).theirsFirst() })
			t.Run("ours first", func(t *testing.T) { managed(t, m).oursFirst() })
			if m.legacy {
				t.Run("chained", func(t *testing.T) { managed(t, m).chained() })
			}
		})
	}
}

func inDirs(dirs, name string) bool {
	for _, dir := range filepath.SplitList(dirs) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// A managedRepo is a repository with a manager of hooks.
type managedRepo struct {
	*gittest.Repository
	t *testing.T
	m hookManager
	// beside says that git runs hooks of the configuration too.
	beside bool
}

// managed returns a repository with a workspace and one commit.
func managed(t *testing.T, m hookManager) managedRepo {
	scripts.DependOnSources(t)
	r := gittest.Repo(t)
	home := gittest.TempDir(t)
	r.Env = append(r.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+os.Getenv(managersVariable))
	mr := managedRepo{r, t, m, false}
	usage, _ := mr.sh("git", "hook", "-h")
	mr.beside = strings.Contains(usage, "list") // since hooks can be in the configuration
	mr.jp("init", "-q")
	mr.jp("uninstall", "-q")
	r.WriteFile(".gitignore", "node_modules\n")
	r.Commit("begin")
	return mr
}

// sh runs a command and returns all its output.
func (r managedRepo) sh(args ...string) (string, error) {
	cmd := exec.Command("env", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r managedRepo) must(args ...string) string {
	r.t.Helper()
	out, err := r.sh(args...)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r managedRepo) jp(args ...string) string {
	r.t.Helper()
	return r.must(append([]string{"git", "jp"}, args...)...)
}

func (r managedRepo) put() {
	r.t.Helper()
	r.must(r.m.put...)
}

// out removes the manager. Husky has no command for that.
func (r managedRepo) out() {
	r.t.Helper()
	if r.m.out != nil {
		r.must(r.m.out...)
		return
	}
	r.Run("config", "--unset", "core.hooksPath")
	r.Remove(".husky/_")
}

// install installs ours and returns what is left to do by hand.
func (r managedRepo) install(flags ...string) map[string]string {
	r.t.Helper()
	out, err := r.sh(append([]string{"git", "jp", "install", "--json"}, flags...)...)
	left := map[string]string{}
	for line := range strings.Lines(out) {
		var a struct{ Do, Hook, Snippet string }
		if json.Unmarshal([]byte(line), &a) == nil && a.Do == "manual" {
			left[a.Hook] = a.Snippet
		}
	}
	if (err != nil) != (len(left) > 0) {
		r.t.Fatalf("install: %v\n%s", err, out)
	}
	return left
}

// An olderGit runs no hooks of the configuration.
type olderGit struct{ *gitint.Repo }

func (olderGit) Version(context.Context) (gitint.Version, error) {
	return gitint.Version{Major: 2, Minor: 53}, nil
}

// snippets returns what is left to do by hand with a git that runs no hooks of the configuration.
func (r managedRepo) snippets() map[string]string {
	r.t.Helper()
	repo, err := gitint.Open(r.t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		r.t.Fatal(err)
	}
	defer repo.Close()
	in, err := install.New(olderGit{repo}, install.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	plan, err := in.Install(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	left := map[string]string{}
	for _, a := range plan.Open() {
		left[a.Hook] = a.Snippet
	}
	return left
}

// dotGit returns everything in .git that neither commits nor our cache change.
func (r managedRepo) dotGit() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(r.Dir), ".git", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"objects", "logs", "refs", "cache"}, d.Name()):
			return fs.SkipDir
		case d.IsDir(), strings.HasPrefix(d.Name(), "lefthook."), slices.Contains([]string{
			"index", "COMMIT_EDITMSG", "ORIG_HEAD", "packed-refs",
		}, d.Name()):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			all[name] = info.Mode().String() + "\n" + r.ReadFile(name)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r managedRepo) wantDotGit(want map[string]string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.dotGit()); diff != "" {
		r.t.Errorf(".git is not as it was (-before +after)\n%s", diff)
	}
}

// conversation adds one whose content is in a blob, and leaves the blob to the hook.
func (r managedRepo) conversation(id, text string) {
	r.t.Helper()
	for name, data := range scripts.Conversation("T", []string{text}) {
		r.WriteFile(".jp/conversations/"+id+"/"+name, data)
	}
	r.jp("migrate", "-q")
	r.Run("add", ".jp/conversations")
}

// commits makes a commit that runs ours, or not, and theirs.
func (r managedRepo) commits(id string, ours bool) {
	r.t.Helper()
	r.conversation(id, "text of "+id)
	out := r.must("git", "commit", "-m", id)
	if strings.Contains(out, "added 1 blob") != ours || !strings.Contains(out, "THEIRS") {
		r.t.Errorf("ours should run: %v; the commit said\n%s", ours, out)
	}
	if !ours {
		r.jp("stage", "-q", "--all")
		r.Run("commit", "-q", "--amend", "--no-edit", "--no-verify")
	}
	r.jp("check", "HEAD")
}

// pushes verifies that a dangling push is refused, to a branch that the remote has and to a new
// one.
func (r managedRepo) pushes(id string) {
	r.t.Helper()
	r.Run("init", "-q", "--bare", "../server.git")
	r.Run("remote", "add", "origin", "../server.git")
	r.must("git", "push", "-q", "origin", "main")
	r.conversation(id, "lost")
	r.Run("commit", "-q", "--no-verify", "-m", id)
	for _, branch := range []string{"main", "main:other"} {
		out, err := r.sh("git", "push", "-q", "origin", branch)
		if err == nil || !strings.Contains(out, "1 reference without content") {
			r.t.Errorf("a push of what dangles: %v\n%s", err, out)
		}
	}
	r.jp("stage", "-q", "--all")
	r.Run("commit", "-q", "--amend", "--no-edit", "--no-verify")
	r.must("git", "push", "-q", "origin", "main")
}

// without commits on a machine that has no git-jp.
func (r managedRepo) without(file string) {
	r.t.Helper()
	bare := gittest.TempDir(r.t)
	for _, p := range []string{
		"git", "sh", "bash", "env", "sed", "cat", "grep", "uname", "dirname", "basename", "tr",
		"node", "python3", "echo", "rm",
	} {
		if at, err := exec.LookPath(p); err == nil {
			if err := os.Symlink(at, filepath.Join(bare, p)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	r.WriteFile(file, file)
	r.Run("add", file)
	r.Env = append(r.Env,
		"PATH="+bare+string(os.PathListSeparator)+os.Getenv(managersVariable))
	out := r.must("git", "commit", "-m", file)
	if strings.Count(out, "git-jp is not installed") != 1 || !strings.Contains(out, "THEIRS") {
		r.t.Errorf("without git-jp the commit said\n%s", out)
	}
}

// linked commits in a linked worktree.
func (r managedRepo) linked(id string) {
	r.t.Helper()
	r.Run("worktree", "add", "-q", "--no-checkout", "-b", "linked", "../linked")
	r.In("../linked").Run("-c", "core.hooksPath=/dev/null", "checkout", "-q", "HEAD", ".")
	in := r
	in.Repository = r.In("../linked")
	if r.m.hidden {
		out, _ := in.sh("git", "jp", "doctor")
		_, none := r.Try("config", "hook.jp-pre-commit.command")
		if strings.Contains(out, "husky has no hook in this working tree") != (none != nil) {
			r.t.Errorf("doctor in a linked worktree says\n%s", out)
		}
		in.put()
	}
	in.commits(id, true)
	r.Run("worktree", "remove", "--force", "../linked")
}

func (r managedRepo) theirsFirst() {
	r.m.configure(r.Repository, nil)
	r.put()
	r.Commit("theirs")
	before := r.dotGit()
	left := r.install()
	if (len(left) == 0) != r.beside {
		r.t.Fatalf("left to do by hand: %v", left)
	}
	r.jp("uninstall")
	r.wantDotGit(before)
	if r.beside {
		r.install()
		r.commits("17800000005-five", true)
		r.jp("uninstall")
		left = r.snippets()
	}

	r.install()
	r.m.configure(r.Repository, left)
	r.put()
	r.Run("add", "-A")
	for hook := range r.install() {
		if !r.m.hidden || strings.Contains(strings.Join(managedHooks, " "), hook) {
			r.t.Errorf("%s is still to be done by hand", hook)
		}
	}
	r.commits("17800000001-one", true)
	r.put()
	r.commits("17800000002-two", true)
	r.pushes("17800000003-three")
	r.linked("17800000004-four")
	r.without("code")
}

func (r managedRepo) oursFirst() {
	r.m.configure(r.Repository, nil)
	r.Commit("theirs")
	before := r.dotGit()
	r.install()
	r.put()
	out, _ := r.sh("git", "jp", "doctor")
	runs := r.m.legacy || r.beside
	if told := strings.Contains(out, "pre-commit does not run"); told == runs {
		r.t.Errorf("doctor says\n%s", out)
	}
	r.commits("17800000001-one", runs)
	r.install()
	r.put()
	r.commits("17800000002-two", runs)
	if runs {
		r.pushes("17800000003-three")
		r.linked("17800000004-four")
	}
	r.jp("uninstall")
	r.out()
	if runs {
		r.Run("remote", "remove", "origin")
		r.Run("worktree", "prune")
	}
	r.wantDotGit(before)
}

// chained tests ours where the manager runs the hook that it replaced.
func (r managedRepo) chained() {
	r.m.configure(r.Repository, nil)
	r.put()
	r.Commit("theirs")
	before := r.dotGit()
	if left := r.install("--chain"); len(left) > 0 {
		r.t.Errorf("left to do by hand: %v", left)
	}
	r.commits("17800000001-one", true)
	r.put()
	r.commits("17800000002-two", true)
	r.jp("uninstall")
	r.wantDotGit(before)
	r.install("--chain")
	r.pushes("17800000003-three")
	r.linked("17800000004-four")
	r.without("code")
}
