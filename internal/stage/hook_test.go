package stage_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/stage"
)

// A form is a way to commit a stream whose blob is not staged.
type form struct {
	name string
	// stage has the arguments of git add.
	stage []string
	// tracked commits the stream before its content refers to anything.
	tracked bool
	commit  []string
	env     []string
	input   string
}

const (
	streamArg = "STREAM" // replaced by the path of the stream
	dirArg    = "DIR"    // replaced by the directory of the conversation
)

func forms() []form {
	return []form{
		{name: "plain", stage: []string{dirArg}, commit: []string{"-m", "x"}},
		{name: "all", tracked: true, commit: []string{"-a", "-m", "x"}},
		{name: "path", tracked: true, commit: []string{"-m", "x", "--", streamArg}},
		{name: "path of staged", stage: []string{dirArg}, commit: []string{"-m", "x", "--", dirArg}},
		{name: "only", tracked: true, commit: []string{"-o", "-m", "x", streamArg}},
		{name: "include", tracked: true, commit: []string{"-i", "-m", "x", streamArg}},
		{name: "patch", tracked: true, input: "a\na\n", commit: []string{"-p", "-m", "x"}},
		{name: "amend", stage: []string{dirArg}, commit: []string{"--amend", "-m", "x"}},
		{
			name: "amend all", tracked: true,
			commit: []string{"--amend", "-a", "-m", "x"},
		},
		{
			name: "amend path", tracked: true,
			commit: []string{"--amend", "-m", "x", "--", streamArg},
		},
		{
			name: "own index", stage: []string{dirArg}, commit: []string{"-m", "x"},
			env: []string{"GIT_INDEX_FILE=.git/mine"},
		},
		{
			name: "own index, path", tracked: true, commit: []string{"-m", "x", "--", streamArg},
			env: []string{"GIT_INDEX_FILE=.git/mine"},
		},
		{
			name: "own index, all", tracked: true, commit: []string{"-a", "-m", "x"},
			env: []string{"GIT_INDEX_FILE=.git/mine"},
		},
		{
			name: "absolute index", tracked: true, commit: []string{"-m", "x", "--", streamArg},
			env: []string{"GIT_INDEX_FILE=ABS/.git/mine"},
		},
		{
			name: "pathspec from stdin", tracked: true, input: streamArg,
			commit: []string{"-m", "x", "--pathspec-from-file=-"},
		},
		{name: "fixup", stage: []string{dirArg}, commit: []string{"--fixup", "HEAD"}},
	}
}

// After every form of commit, in every kind of working tree, HEAD has the blob, the index agrees
// with it, and the next commit deletes nothing.
func TestEveryFormOfCommit(t *testing.T) {
	for _, place := range []string{"main", "linked", "subdirectory"} {
		for i, fm := range forms() {
			if place == "linked" && fm.env != nil {
				continue // its git directory is not a directory
			}
			if place != "main" && i%3 == 0 && os.Getenv(soakEnv) == "" {
				continue
			}
			t.Run(place+"/"+fm.name, func(t *testing.T) {
				t.Parallel()
				testForm(t, place, fm)
			})
		}
	}
}

func testForm(t *testing.T, place string, fm form) {
	f := newFixture(t)
	if place == "linked" {
		f.Run("worktree", "add", "-q", "../linked")
		installHooks(t, f.Repository)
		f = f.in("../linked")
	}
	dir := f.converse(firstID, "first")
	if fm.tracked {
		f.Commit("conversation")
	}
	if place != "linked" {
		installHooks(t, f.Repository)
	}
	f.converse(firstID, "first", "needed")
	git := f.prepare(t, fm, dir)
	if place == "subdirectory" {
		f.WriteFile("deep/er/file", "")
		git = git.In("deep/er")
	}
	args := []string{"commit", "-q"}
	for _, a := range fm.commit {
		args = append(args, subst(a, f.Dir, dir))
	}
	if place == "subdirectory" {
		args = upwards(args, dir)
	}
	input := subst(fm.input, f.Dir, dir)
	if place == "subdirectory" && strings.HasPrefix(input, ".jp") {
		input = "../../" + input
	}
	git.RunInput(input, args...)
	f.assertWhole(t, git, dir)
	assertNoNote(t, f.Repository)
	// The next commit, of any form, deletes nothing.
	for _, next := range [][]string{
		{"--allow-empty", "-m", "next"},
		{"--allow-empty", "-am", "all"},
		{"-m", "path", "--", "code.go"},
	} {
		f.WriteFile("code.go", "package code // "+next[0]+"\n")
		git.In(f.Dir).Run(append([]string{"commit", "-q"}, next...)...)
		if got := f.Run("show", "--format=", "--name-status", "--diff-filter=D", "HEAD"); got != "" {
			t.Errorf("the next commit, %q, deletes %q", next, got)
		}
	}
}

// prepare stages what the form needs, in the index it uses.
func (f fixture) prepare(t *testing.T, fm form, dir string) *gittest.Repository {
	t.Helper()
	git := f.Repository
	if fm.env != nil {
		data, err := os.ReadFile(f.Path(".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		f.WriteFile(".git/mine", string(data))
		git = f.With(subst(fm.env[0], f.Dir, dir))
	}
	for _, a := range fm.stage {
		git.Run("add", subst(a, f.Dir, dir))
	}
	return git
}

func subst(arg, root, dir string) string {
	return strings.NewReplacer("ABS", root, streamArg, dir+"/events.json", dirArg, dir).Replace(arg)
}

// upwards makes paths relative to a directory two levels below the root.
func upwards(args []string, dir string) []string {
	args = slices.Clone(args)
	for i, a := range args {
		if strings.HasPrefix(a, dir) {
			args[i] = "../../" + a
		}
	}
	return args
}

// assertWhole verifies that HEAD, the index that was used, the index of the working tree and the
// working tree agree on the blob.
func (f fixture) assertWhole(t *testing.T, git *gittest.Repository, dir string) {
	t.Helper()
	blob := f.blobPath("needed")
	if got := f.Run("ls-tree", "-r", "--name-only", "HEAD", blob); got != blob {
		t.Fatal("HEAD has not the blob")
	}
	for _, r := range []*gittest.Repository{git.In(f.Dir), f.Repository} {
		if got := r.Run("ls-files", blob); got != blob {
			t.Error("an index has not the blob")
		}
		if got := r.Run("status", "--porcelain", "-uall", "--", ".jp/blobs"); got != "" {
			t.Errorf("status %q", got)
		}
		if got := r.Run("diff-files", "--name-only", ".jp/blobs"); got != "" {
			t.Errorf("diff-files %q", got)
		}
	}
	if got := git.In(f.Dir).Run("status", "--porcelain", "-uall", "--", dir); got != "" &&
		got != "?? "+dir+"/base_config.json\n?? "+dir+"/metadata.json" {
		t.Errorf("status %q", got)
	}
}

func assertNoNote(t *testing.T, r *gittest.Repository) {
	t.Helper()
	if data, err := os.ReadFile(notePath(t, r)); err == nil {
		t.Errorf("a note is left: %q", data)
	}
}

func notePath(t *testing.T, r *gittest.Repository) string {
	t.Helper()
	return r.Run("rev-parse", "--path-format=absolute", "--git-dir") + "/jp/staged"
}

// An aborted commit leaves a note that the next hook drops.
func TestAbortedCommit(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first")
	f.Commit("conversation")
	installHooks(t, f.Repository)
	f.converse(firstID, "first", "needed")
	if _, err := f.Try("commit", "-q", "-m", "", "--", dir); err == nil {
		t.Fatal("a commit without a message")
	}
	if _, err := os.Stat(notePath(t, f.Repository)); err != nil {
		t.Fatal("no note to begin with")
	}
	f.WriteFile("code.go", "package code // 2\n")
	f.Run("commit", "-q", "-m", "other", "--", "code.go")
	assertNoNote(t, f.Repository)
	if got := f.Run("ls-files", ".jp/blobs"); got != "" {
		t.Errorf("index has %q", got)
	}
}

// A commit whose post-commit never ran is finished by the next commit, of any form.
func TestCrashBeforePostCommit(t *testing.T) {
	for _, next := range [][]string{
		{"--allow-empty", "-m", "next"}, {"-am", "next"}, {"-m", "next", "--", "code.go"},
	} {
		t.Run(strings.Join(next, " "), func(t *testing.T) {
			f := newFixture(t)
			dir := f.converse(firstID, "first")
			f.Commit("conversation")
			installHooks(t, f.Repository)
			post := f.ReadFile(".git/hooks/post-commit")
			f.Remove(".git/hooks/post-commit")
			f.converse(firstID, "first", "needed")
			f.Run("commit", "-q", "-m", "x", "--", dir)
			if f.Run("ls-files", ".jp/blobs") != "" {
				t.Fatal("the trap is gone")
			}
			f.WriteFile(".git/hooks/post-commit", post)
			if err := os.Chmod(f.Path(".git/hooks/post-commit"), 0o755); err != nil {
				t.Fatal(err)
			}
			f.WriteFile("code.go", "package code // 2\n")
			f.Run(append([]string{"commit", "-q"}, next...)...)
			if got := f.Run("show", "--format=", "--name-status", "--diff-filter=D"); got != "" {
				t.Errorf("the next commit deletes %q", got)
			}
			f.assertWhole(t, f.Repository, dir)
			assertNoNote(t, f.Repository)
		})
	}
}

// Files that were removed on purpose after such a crash do not come back.
func TestNoteOfWhatIsGone(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first")
	f.Commit("conversation")
	installHooks(t, f.Repository)
	f.Remove(".git/hooks/post-commit")
	f.converse(firstID, "first", "needed")
	f.Run("commit", "-q", "-m", "x", "--", dir)
	f.Remove(dir)
	f.Remove(".jp/blobs")
	f.Run("commit", "-q", "-am", "removed")
	if got := f.Run("ls-files", ".jp/blobs"); got != "" {
		t.Errorf("index has %q", got)
	}
}

// The index is locked when post-commit runs: the note stays for the next hook.
func TestPostCommitWaitsForNoLock(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first")
	f.Commit("conversation")
	installHooks(t, f.Repository)
	post := f.ReadFile(".git/hooks/post-commit")
	f.WriteFile(".git/hooks/post-commit", strings.Replace(post, "\n",
		"\n: >.git/index.lock\ntrap 'rm .git/index.lock' EXIT\n", 1))
	f.WriteFile(".git/hooks/post-commit", strings.Replace(
		f.ReadFile(".git/hooks/post-commit"), "exec ", "", 1))
	f.converse(firstID, "first", "needed")
	f.Run("commit", "-q", "-m", "x", "--", dir)
	if _, err := os.Stat(notePath(t, f.Repository)); err != nil {
		t.Fatal("the note is gone")
	}
	f.WriteFile(".git/hooks/post-commit", post)
	f.Run("commit", "-q", "--allow-empty", "-m", "next")
	f.assertWhole(t, f.Repository, dir)
}

// A lock is no error: the user can do nothing about it.
func TestSettleWithALock(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first")
	f.Commit("conversation")
	installHooks(t, f.Repository)
	f.Remove(".git/hooks/post-commit")
	f.converse(firstID, "first", "needed")
	f.Run("commit", "-q", "-m", "x", "--", dir)
	f.WriteFile(".git/index.lock", "")
	hook := stage.Hook{Repo: openRepo(t, f.Repository)}
	for _, run := range []func(context.Context) error{hook.PostCommit, hook.Settle} {
		if err := run(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(notePath(t, f.Repository)); err != nil {
			t.Error("the note is gone")
		}
	}
	f.Remove(".git/index.lock")
	if err := hook.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	f.assertWhole(t, f.Repository, dir)
}

func TestPreCommitBlocks(t *testing.T) {
	tests := map[string]struct {
		spoil func(f fixture, dir string)
		want  string
	}{
		"missing": {
			func(f fixture, _ string) { f.Remove(f.blobPath("needed")) },
			"missing .jp/conversations/17758406187-first/events.json call0",
		},
		"corrupt": {
			func(f fixture, _ string) { f.WriteFile(f.blobPath("needed"), "damaged") },
			"is not in the index, and corrupt in the working tree: its file is not gzip",
		},
		"malformed": {
			func(f fixture, dir string) {
				f.WriteFile(dir+"/events.json", "[\n<<<<<<< ours\n]\n")
				f.Run("add", dir)
			},
			"malformed .jp/conversations/17758406187-first/events.json",
		},
		"filter": {
			func(f fixture, _ string) {
				f.Run("config", "filter.cut.clean", "head -c 20")
				f.WriteFile(".gitattributes", "*.gz filter=cut\n")
			},
			"is not in the index",
		},
		"removed": {
			func(f fixture, dir string) {
				f.Run("commit", "-q", "-m", "whole")
				f.Run("rm", "-q", "--cached", f.blobPath("needed"))
			},
			"is not in the index",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			installHooks(t, f.Repository)
			dir := f.converse(firstID, "first", "needed")
			f.Run("add", dir)
			tt.spoil(f, dir)
			head := f.Run("rev-parse", "HEAD")
			_, err := f.Try("commit", "-q", "-m", "x")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			} else if !strings.Contains(err.Error(), "'git jp stage jp-c17758406187'") &&
				!strings.Contains(err.Error(), "git jp repair") &&
				!strings.Contains(err.Error(), "git log --oneline -- :/"+dir) {
				t.Errorf("%v: nothing that helps", err)
			}
			if f.Run("rev-parse", "HEAD") != head {
				t.Error("a commit was made")
			}
		})
	}
}

// An entry with intent to add is in no commit, so it must not pass for the blob.
func TestCommitWithIntentToAdd(t *testing.T) {
	for _, commit := range [][]string{{"-m", "x", "--"}, {"-i", "-m", "x"}} {
		f := newFixture(t)
		dir := f.converse(firstID, "first")
		f.Commit("conversation")
		installHooks(t, f.Repository)
		f.converse(firstID, "first", "needed")
		f.Run("add", "-N", ".jp/blobs")
		f.Run(append(append([]string{"commit", "-q"}, commit...), dir)...)
		f.assertWhole(t, f.Repository, dir)
		f.Run("commit", "-q", "--allow-empty", "-m", "next")
		f.assertWhole(t, f.Repository, dir)
	}
}

// One side collected the content that the other one refers to again. Nothing conflicts.
func TestMergeSkew(t *testing.T) {
	for _, ours := range []string{"collected", "continued"} {
		t.Run("into "+ours, func(t *testing.T) {
			f := newFixture(t)
			installHooks(t, f.Repository)
			f.blob("needed")
			f.converse(firstID, "first")
			f.Commit("base")
			f.Run("checkout", "-q", "-b", "collected")
			f.Run("rm", "-q", f.blobPath("needed"))
			f.Run("commit", "-q", "-m", "collected")
			f.Run("checkout", "-q", "-b", "continued", "main")
			f.converse(firstID, "first", "needed")
			f.Commit("continued")
			f.Run("checkout", "-q", ours)
			theirs := map[string]string{"collected": "continued", "continued": "collected"}[ours]
			_, err := f.Try("merge", "-q", "-m", "merge", theirs)
			if err == nil || !strings.Contains(err.Error(), "missing") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// References that are dangling already must not stop an unrelated commit.
func TestPreCommitForgivesThePast(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "lost")
	f.Remove(".jp/blobs")
	f.Commit("dangling")
	installHooks(t, f.Repository)
	f.Run("add", f.converse(secondID, "second", "needed"))
	f.Run("commit", "-q", "-m", "x")
	// A removed blob concerns every conversation, this one too.
	f.blob("unused")
	f.Run("add", ".jp")
	f.Run("commit", "-q", "-m", "unused")
	f.Run("rm", "-q", f.blobPath("unused"))
	f.Run("commit", "-q", "-m", "collected")
	// Nor does another title change what it refers to.
	f.Run("mv", ".jp/conversations/17758406187-first", ".jp/conversations/17758406187-title")
	f.Run("commit", "-q", "-m", "renamed")
	f.WriteFile(".jp/conversations/17758406187-title/events.json",
		f.ReadFile(".jp/conversations/17758406187-title/events.json")+"\n")
	if _, err := f.Try("commit", "-q", "-am", "touched"); err == nil {
		t.Error("a changed conversation may dangle")
	}
}

func TestPreCommitOfOthers(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "lost")
	f.Remove(".jp/blobs")
	f.WriteFile("code.go", "package code // 2\n")
	f.Run("add", "code.go")
	v, processes := f.preCommit(t)
	if processes > 2 || v.Blocked() || len(v.Added) > 0 {
		t.Errorf("%d processes, %+v", processes, v)
	}
	f.Run("add", ".jp")
	if v, _ := f.preCommit(t); !v.Blocked() {
		t.Error("not blocked, so the count says nothing")
	}
}

func TestPreCommitThatOnlyChecks(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "needed")
	f.Run("add", dir)
	v, err := stage.Hook{
		Repo: openRepo(t, f.Repository), Rules: always(stage.Rules{CheckOnly: true}),
	}.PreCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Added) > 0 || !v.Blocked() || v.Blocking[0].State != check.Missing {
		t.Errorf("got %+v, want nothing added and a missing blob", v)
	}
}

func TestPreCommitMindsAnIncompleteTurnWhenStrict(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "needed")
	stream := f.ReadFile(dir + "/events.json")
	cut := strings.LastIndex(stream, `"type": "tool_call_response"`)
	f.WriteFile(dir+"/events.json", strings.TrimRight(
		stream[:strings.LastIndex(stream[:cut], "{")], ", \n")+"\n]\n")
	f.Run("add", "-f", ".jp")
	for _, strict := range []bool{false, true} {
		v, err := stage.Hook{
			Repo: openRepo(t, f.Repository), Rules: always(stage.Rules{Strict: strict}),
		}.PreCommit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v.Blocked() != strict {
			t.Errorf("strict %v: got %+v", strict, v)
		}
	}
}

// always are rules for every workspace.
func always(r stage.Rules) func(string) stage.Rules {
	return func(string) stage.Rules { return r }
}
