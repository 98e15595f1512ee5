package gc_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
)

// withoutEnv names the kind of root that the mark leaves out, in a test binary built by package
// mutants.
const withoutEnv = "GC_WITHOUT"

// A mutant is the mark without a kind of root, and the rows of the matrix that it then fails.
type mutant struct {
	kind string
	rows []string
}

// rootKind returns the name of a kind of git's roots in mutations.
func rootKind(k gitint.RootKind) string { return fmt.Sprint("root ", k) }

func mutants() []mutant {
	all := []mutant{
		{rootKind(gitint.RootRef), []string{
			"refs/jp/custom", "refs/jj/keep/1", "refs/pull/1/head", "ref to a stream",
			"note that is a stream", "note of a remote", "replacement",
		}},
		{rootKind(gitint.RootTag), []string{
			"refs/tags/light", "annotated tag", "tag of a tag", "tag of a tree", "tag of a stream",
		}},
		{rootKind(gitint.RootStash), []string{
			"stash", "older stash", "index of a stash", "untracked files of a stash",
		}},
		{rootKind(gitint.RootHead), []string{"HEAD of another", "HEAD of a worktree that is gone"}},
		{rootKind(gitint.RootOperation), []string{
			"MERGE_HEAD", "FETCH_HEAD of another", "AUTO_MERGE", "rebase-merge/onto",
			"sequencer/head of another", "shortened list of a rebase",
			"merged notes beside a conflict",
		}},
		{rootKind(gitint.RootReflog), []string{"reflog", "what a branch was before its reflog"}},
		{"operations", []string{
			"their side of an open conflict", "base of an open conflict", "conflict of notes",
		}},
		{"history", []string{
			"older commit of a branch", "carried by a pointer only", "carried by a damaged file only",
		}},
		{"quarantine", []string{"quarantined by repair", "quarantined, with an entry named files"}},
		{"indexes", []string{
			"index", "index, stage 3", "split index", "index of another", "index of a split branch",
			"index of an open commit", "index of an open commit of some paths, of another",
			"split index of an open commit", "index under another name",
		}},
		{"working trees", []string{
			"working tree", "archive", "trash of jp", "build directory", "copy beside the stream",
		}},
		{"other workspaces", []string{"workspace below", "workspace below node_modules"}},
		{"tracked places", []string{
			"workspace of a branch, a repository by now", "such a one in another worktree",
		}},
		{"user-local copies", []string{
			"user-local copy", "user-local copy by its link",
			"user-local copy by an id of a branch",
		}},
		{"parts of .jp", []string{
			"tag of .jp", "tag of a conversation", "branch of git subtree split",
		}},
		{"loose hashes", []string{"trash of jp", "damaged stream of the past"}},
	}
	directories, everything := mutant{kind: "user-local directories"}, mutant{kind: "everything"}
	sample := 3
	if os.Getenv("GIT_JP_SOAK") != "" {
		sample = 1
	}
	for i, r := range rows() {
		if strings.HasPrefix(r.name, "user-local copy") {
			directories.rows = append(directories.rows, r.name)
		}
		if i%sample == 0 {
			everything.rows = append(everything.rows, r.name)
		}
	}
	return append(all, directories, everything)
}

// past has the rows of the matrix in which only history has the reference: the second opinion
// searches it before content is erased, and not before it is moved.
var past = []string{
	"reflog", "what a branch was before its reflog", "older commit of a branch",
	"carried by a pointer only", "carried by an encrypted file only",
	"carried by a damaged file only", "damaged stream of the past", "older commit of a split branch",
	"reflog of a split branch, as one conversation",
	"commit before the one that brings the content",
}

// TestMarkWithoutEachRoot makes the mark leave out each kind of root in turn, and then everything:
// the second opinion alone must keep the content and name the reference. The rows that fail are
// those of the root matrix.
func TestMarkWithoutEachRoot(t *testing.T) {
	if os.Getenv(withoutEnv) == "" {
		t.Skip("this program has no mutations: package mutants builds one")
	}
	matrix := rows()
	for _, m := range mutants() {
		t.Run(m.kind, func(t *testing.T) {
			t.Setenv(withoutEnv, m.kind)
			for _, name := range m.rows {
				at := slices.IndexFunc(matrix, func(r row) bool { return r.name == name })
				if at < 0 {
					t.Errorf("the root matrix has no row %q", name)
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					matrix[at].doubted(t, newFixture(t))
				})
			}
		})
	}
}

// doubted checks that the second opinion keeps a content that the mark misses.
func (r row) doubted(t *testing.T, f *fixture) {
	t.Helper()
	kept, dead := f.blob("kept"), f.blob("dead")
	r.make(f, kept)
	f.kindsAreLeftOut(mutants())
	res := f.collectBlind()
	if slices.Contains(past, r.name) {
		if f.has(kept) {
			t.Fatal("it is not only history that names it")
		}
		f.age()
		res = f.collectBlind()
	}
	if !f.has(kept) || len(res.Doubts) != 1 || res.Doubts[0].Hash != kept {
		t.Fatalf("kept %v, doubts %v", f.has(kept), res.Doubts)
	}
	t.Log(res.Doubts[0])
	if f.has(dead) {
		t.Error("what nothing refers to is still there")
	}
}

// kindsAreLeftOut checks that each kind of git's roots has a mutant that leaves it out.
func (f *fixture) kindsAreLeftOut(all []mutant) {
	f.tb.Helper()
	roots, err := f.options().Repo.Roots(f.tb.Context())
	if err != nil {
		f.tb.Fatal(err)
	}
	for _, r := range roots.Names {
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.kind == rootKind(r.Kind) }) {
			f.tb.Errorf("%s: nothing leaves out its kind, %d", r.Title(), r.Kind)
		}
	}
}

// collectBlind collects with AcceptMissing, since the incomplete mark reports content that it
// deleted as missing.
func (f *fixture) collectBlind() *gc.Result {
	f.tb.Helper()
	o := f.options()
	o.AcceptMissing = true
	p, err := gc.MakePlan(f.tb.Context(), o)
	if err != nil {
		f.tb.Fatal(err)
	}
	res, err := gc.Sweep(f.tb.Context(), o, p)
	if err != nil {
		f.tb.Fatal(err)
	}
	return res
}
