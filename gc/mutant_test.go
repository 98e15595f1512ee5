package gc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// withoutEnv names, for a program of these tests that was built with mutations, the kind of root
// that the mark leaves out.
const withoutEnv = "GC_WITHOUT"

// mutantSource is a file of package gc that only such programs have.
const mutantSource = `package gc

import "os"

func without(kind string) bool { return os.Getenv("` + withoutEnv + `") == kind }
`

// A mutation makes the mark leave out a kind of root, or several that a value tells apart.
type mutation struct {
	file, old, new string // the old text is in the file once
}

var mutations = []mutation{
	{
		"marker.go", "\tfor _, root := range m.roots.Names {\n\t\tid, kind, err :=",
		"\tfor _, root := range m.roots.Names {\n" +
			"\t\tif without(fmt.Sprint(\"root \", root.Kind)) {\n\t\t\tcontinue\n\t\t}\n" +
			"\t\tid, kind, err :=",
	},
	{
		"marker.go", "if len(all) > 0 {\n\t\t\tfound := m.references.number",
		"if len(all) > 0 && !without(\"operations\") {\n\t\t\tfound := m.references.number",
	},
	{"marker.go", "return ok && ", "return ok && !without(\"everything\") && "},
	{"history.go", "return h.found[n].needed", "return h.found[n].needed && !without(\"everything\")"},
	{
		"plan.go", "if len(sorted) == 0 || m.o.UserLocal {",
		"if len(sorted) == 0 || m.o.UserLocal || without(\"history\") {",
	},
	{"quarantined.go", "len(all) > 0 {", "len(all) > 0 && !without(\"quarantine\") {"},
	{
		"indexes.go", "\tm.tips = append(m.tips, t)\n",
		"\tif without(\"indexes\") {\n\t\tt.files = nil\n\t}\n\tm.tips = append(m.tips, t)\n",
	},
	{
		"workspaces.go", "\tws.readID(jp)\n\tws.m.onDisk(d, jp)\n",
		"\tws.readID(jp)\n\tif !without(\"working trees\") {\n\t\tws.m.onDisk(d, jp)\n\t}\n",
	},
	{
		"workspaces.go", "found, err := workspace.FindAll(w.Root)\n",
		"found, err := workspace.FindAll(w.Root)\n" +
			"\t\tif without(\"other workspaces\") {\n\t\t\tfound = nil\n\t\t}\n",
	},
	{
		"workspaces.go", "for dir := range ws.tracked {\n",
		"for dir := range ws.tracked {\n" +
			"\t\t\tif without(\"tracked places\") {\n\t\t\t\tcontinue\n\t\t\t}\n",
	},
	{
		"workspaces.go", "\tws.userDirs = dirs\n",
		"\tif without(\"user-local directories\") {\n\t\tdirs = nil\n\t}\n\tws.userDirs = dirs\n",
	},
	{
		"workspaces.go", "\tws.m.onDisk(d, dir)\n",
		"\tif !without(\"user-local copies\") {\n\t\tws.m.onDisk(d, dir)\n\t}\n",
	},
	{"places.go", "if n.isConversation() {", "if n.isConversation() && !without(\"parts of .jp\") {"},
	{
		"mentions.go", "number(m refs.Mentions) mentions {\n",
		"number(m refs.Mentions) mentions {\n" +
			"\tif without(\"loose hashes\") {\n\t\tm.Loose = nil\n\t}\n",
	},
}

// A mutant is the mark without a kind of root, and rows of the matrix that it then loses.
type mutant struct {
	kind string
	rows []string
}

// rootKind is how mutations name a kind of what git names.
func rootKind(k gitint.RootKind) string { return fmt.Sprint("root ", k) }

func mutants() []mutant {
	all := []mutant{
		{rootKind(gitint.RootRef), []string{
			"refs/jp/custom", "refs/jj/keep/1", "refs/pull/1/head", "ref to a stream",
			"note that is a stream", "replacement",
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
		}},
		{rootKind(gitint.RootReflog), []string{"reflog", "what a branch was before its reflog"}},
		{"operations", []string{
			"their side of an open conflict", "base of an open conflict",
		}},
		{"history", []string{"older commit of a branch", "carried by a pointer only"}},
		{"quarantine", []string{"quarantined by repair", "quarantined, with an entry named files"}},
		{"indexes", []string{
			"index", "index, stage 3", "split index", "index of another", "index of a split branch",
			"index of an open commit", "index of an open commit of some paths, of another",
			"split index of an open commit",
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

// past are the rows of the matrix in which only history has the reference: the second opinion
// looks there before it lets content go for good, and not before it is moved.
var past = []string{
	"reflog", "what a branch was before its reflog", "older commit of a branch",
	"carried by a pointer only", "damaged stream of the past", "older commit of a split branch",
	"reflog of a split branch, as one conversation",
	"commit before the one that brings the content",
}

// TestMarkWithoutEachRoot makes the mark leave out each kind of root, one by one, and then
// everything: the second opinion alone keeps the content, and says where it is named. The rows
// that the mark loses are those of the root matrix.
func TestMarkWithoutEachRoot(t *testing.T) {
	if kind := os.Getenv(withoutEnv); kind != "" {
		leaveOut(t, kind)
		return
	}
	program := buildMutants(t)
	for _, m := range mutants() {
		t.Run(m.kind, func(t *testing.T) {
			args := []string{"-test.run=^TestMarkWithoutEachRoot$"}
			if testing.Verbose() {
				args = append(args, "-test.v")
			}
			if end, ok := t.Deadline(); ok {
				args = append(args, "-test.timeout="+time.Until(end).String())
			}
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.Env = append(os.Environ(), withoutEnv+"="+m.kind)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if testing.Verbose() {
				t.Logf("%s", out)
			}
		})
	}
}

// buildMutants builds this package and its tests with every mutation. No source is changed.
func buildMutants(t *testing.T) string {
	t.Helper()
	sources := map[string]string{"mutant.go": mutantSource}
	for _, m := range mutations {
		text, ok := sources[m.file]
		if !ok {
			data, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if n := strings.Count(text, m.old); n != 1 {
			t.Fatalf("%s has %d times %q, want it once", m.file, n, m.old)
		}
		sources[m.file] = strings.Replace(text, m.old, m.new, 1)
	}
	program := filepath.Join(t.TempDir(), "gc.test")
	args := append([]string{"test", "-c", gittest.Overlay(t, ".", sources), "-o", program},
		gittest.BuildFlags()...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("build with mutations: %v\n%s", err, out)
	}
	return program
}

// leaveOut runs in a program with mutations.
func leaveOut(t *testing.T, kind string) {
	all := mutants()
	m := all[slices.IndexFunc(all, func(m mutant) bool { return m.kind == kind })]
	matrix := rows()
	for _, name := range m.rows {
		at := slices.IndexFunc(matrix, func(r row) bool { return r.name == name })
		if at < 0 {
			t.Errorf("the root matrix has no row %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			kept, dead := f.blob("kept"), f.blob("dead")
			matrix[at].make(f, kept)
			f.kindsAreLeftOut(all)
			res := f.collectBlind()
			if slices.Contains(past, name) {
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
		})
	}
}

// kindsAreLeftOut holds that each kind of what git names has a mutant that leaves it out.
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

// collectBlind collects where a mark that leaves something out takes for missing what it let go.
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
