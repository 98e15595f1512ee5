package gitint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// stagedByGit returns git's output for the index.
func stagedByGit(r *gittest.Repository, under []string) string {
	tree := "HEAD"
	if _, err := r.Try("rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		tree = r.RunInput("", "hash-object", "-t", "tree", "--stdin")
	}
	args := []string{
		"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames",
		"--ita-invisible-in-index", "--ignore-submodules=all", tree, "--",
	}
	for _, dir := range under {
		if rest, ok := strings.CutPrefix(dir, "**/"); ok {
			args = append(args, ":(top,glob)**/"+rest+"/**")
		} else {
			args = append(args, ":(top,literal)"+dir)
		}
	}
	return r.Run(args...)
}

// rawDiff formats a list of files like git.
func rawDiff(all []gitint.StagedPath) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, ":%06o %06o %s %s %c\x00%s\x00", p.OldMode, p.NewMode, p.Old, p.New, p.Status, p.Path)
	}
	return b.String()
}

// A stagedWalk changes an index and HEAD at random.
type stagedWalk struct {
	*rapid.T
	r     *gittest.Repository
	blobs []string
}

var stagedNames = []string{
	"a", "a.b", "a/x", "a/b/.jp/blobs/q", "a0", ".jp", ".jp/.id", ".jp/blobs/a1/x", ".jp/blobs/a2",
	".jp/conversations/1-a/events.json", ".jp/conversations/1-a", ".jp.x/blobs/a", "x.jp/blobs/a",
	"s/.jp/conversations/2/events.json", "s/.jp/conversations", "s/t/u", "s", "not utf-8 \xff/.jp/blobs/b",
	"new\nline",
}

func (w *stagedWalk) name() string { return rapid.SampledFrom(stagedNames).Draw(w.T, "name") }

func (w *stagedWalk) step() {
	switch rapid.SampledFrom([]string{
		"entry", "entry", "entry", "entry", "remove", "unmerged", "intent", "flag", "trees", "trees",
		"commit", "commit", "reset", "version", "split", "forget",
	}).Draw(w.T, "step") {
	case "entry":
		mode := rapid.SampledFrom([]string{"100644", "100755", "120000", "160000"}).Draw(w.T, "mode")
		w.info(mode, 0)
	case "remove":
		w.info("0", 0)
	case "unmerged":
		if rapid.IntRange(0, 3).Draw(w.T, "rarely") == 0 {
			w.info("100644", rapid.IntRange(1, 3).Draw(w.T, "stage"))
		}
	case "intent":
		_, _ = w.r.Try("-c", "core.symlinks=true", "add", "--intent-to-add", "intended", "in/.jp/blobs/tended")
	case "flag":
		flag := rapid.SampledFrom([]string{"--assume-unchanged", "--skip-worktree"}).Draw(w.T, "flag")
		_, _ = w.r.Try("update-index", flag, w.name())
	case "trees": // the index then has them cached
		_, _ = w.r.Try("write-tree", "--missing-ok")
	case "commit":
		w.commit()
	case "reset":
		if rapid.IntRange(0, 3).Draw(w.T, "rarely") == 0 {
			_, _ = w.r.Try("read-tree", "HEAD")
		}
	case "version":
		w.r.Run("update-index", "--index-version", rapid.SampledFrom([]string{"2", "3", "4"}).Draw(w.T, "version"))
	case "split":
		split := []string{"--no-split-index", "--no-split-index", "--split-index"}
		w.r.Run("update-index", rapid.SampledFrom(split).Draw(w.T, "split"))
	case "forget":
		if rapid.IntRange(0, 5).Draw(w.T, "rarely") == 0 {
			_, _ = w.r.Try("update-ref", "-d", "HEAD")
		}
	}
}

func (w *stagedWalk) commit() {
	if tree, err := w.r.Try("write-tree", "--missing-ok"); err == nil {
		w.r.Run("update-ref", "HEAD", w.r.Run("commit-tree", "-m", "x", tree))
	}
}

// info changes an entry, which may replace a directory, or be in place of a file.
func (w *stagedWalk) info(mode string, stage int) {
	id := rapid.SampledFrom(w.blobs).Draw(w.T, "blob")
	w.r.RunInput(fmt.Sprintf("%s %s %d\t%s\x00", mode, id, stage, w.name()), "update-index", "-z", "--index-info")
}

// TestPropertyStagedPaths compares the staged paths with git's, for random indexes and commits:
// with conflicts, intent-to-add files, submodules, symlinks, changes of modes, files in place of
// directories, flags, cached trees or none, and before the first commit.
func TestPropertyStagedPaths(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("intended", "x")
	r.WriteFile("in/.jp/blobs/tended", "x")
	var blobs []string
	for _, text := range []string{"", "1", "2"} {
		blobs = append(blobs, r.RunInput(text, "hash-object", "-w", "--stdin"))
	}
	asked, answered, differences := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r.Run("update-index", "--no-split-index")
		r.Run("read-tree", "--empty")
		_, _ = r.Try("update-ref", "-d", "HEAD")
		w := &stagedWalk{rt, r, blobs}
		if rapid.IntRange(0, 5).Draw(rt, "born") > 0 {
			for range rapid.IntRange(0, 4).Draw(rt, "entries") {
				w.info("100644", 0)
			}
			w.commit()
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			w.step()
		}
		for _, under := range [][]string{
			nil,
			{"**/.jp"},
			{"**/.jp/conversations", "**/.jp/blobs"},
			{"s/.jp", "a", ".jp"},
		} {
			repo := open(rt, r)
			all, err := repo.StagedPaths(rt.Context(), under...)
			if err != nil {
				rt.Fatal(err)
			}
			got, want := rawDiff(all), stagedByGit(r, under)
			if got != want {
				rt.Fatalf("below %q: got\n%q\nwant\n%q", under, got, want)
			}
			if repo.Processes() > 0 {
				asked++
				continue
			}
			answered++
			differences += len(all)
		}
	})
	t.Logf("%d answers here with %d files, %d by git", answered, differences, asked)
	if answered == 0 || asked == 0 || differences == 0 {
		t.Error("one of these was never compared")
	}
}

// TestStagedPathsNeedNoProcess counts processes, because a hook lists them before each commit.
func TestStagedPathsNeedNoProcess(t *testing.T) {
	under := []string{"**/.jp/conversations", "**/.jp/blobs"}
	ask := func(r *gittest.Repository, processes int, names ...string) {
		t.Helper()
		repo := open(t, r)
		all, err := repo.StagedPaths(t.Context(), under...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			got = append(got, string(p.Status)+" "+p.Path)
		}
		if !slices.Equal(got, names) || repo.Processes() != processes {
			t.Errorf("%q with %d processes, want %q with %d", got, repo.Processes(), names, processes)
		}
	}
	r := gittest.Repo(t)
	for i := range 100 {
		r.WriteFile(fmt.Sprintf("src/%d/x", i), "x")
	}
	r.WriteFile("src/1/.jp/blobs/x", "x")
	r.WriteFile("src/2/.jp/conversations/x", "x")
	r.Commit("first")
	r.WriteFile("src/3/x", "y")
	r.Run("add", "src/3/x") // git re-adds files of a directory that are as old as the index
	ask(r, 0)
	r.WriteFile("src/1/.jp/blobs/y", "y")
	r.Run("add", "src/1/.jp/blobs/y")
	r.Run("rm", "-q", "-r", "--cached", "src/2")
	want := []string{"A src/1/.jp/blobs/y", "D src/2/.jp/conversations/x"}
	ask(r, 0, want...)
	r.Run("gc", "-q")
	ask(r, 0, want...)

	// The index has no cached trees, so all of HEAD would have to be read.
	all := r.Run("ls-files", "--stage", "-z")
	r.Run("read-tree", "--empty")
	r.RunInput(all, "update-index", "-z", "--index-info")
	ask(r, 1, want...)
}
