package check

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/regular"
)

// repository is a real repository with its gitint handle.
type repository struct {
	*gittest.Repository
	door *gitint.Repo
}

func repositoryAt(tb testing.TB, r *gittest.Repository) repository {
	tb.Helper()
	door, err := gitint.Open(context.Background(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { door.Close() })
	return repository{r, door}
}

func (r repository) commit(tb testing.TB, f forest) string {
	tb.Helper()
	for _, name := range []string{".jp", "main.go"} {
		if err := os.RemoveAll(r.Path(name)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.CopyFS(r.Dir, fstest.MapFS(f)); err != nil {
		tb.Fatal(err)
	}
	return r.Commit("change")
}

func (r repository) revision(tb testing.TB, rev string) Source {
	tb.Helper()
	tree, err := r.door.Tree(context.Background(), rev)
	if err != nil {
		tb.Fatal(err)
	}
	return Git(r.door, tree)
}

func (r repository) index(tb testing.TB) Source {
	tb.Helper()
	index, err := r.door.Index(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return Git(r.door, index)
}

func checked(tb testing.TB, src Source, opts Options) []expect {
	tb.Helper()
	r, err := Tree(context.Background(), src, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return expectations(r)
}

func same(tb testing.TB, what string, want, got []expect) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestRevisionIndexAndRange(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := repositoryAt(t, gittest.Repo(t, "--object-format="+format))
			r.commit(t, base())
			second := r.commit(t, base().remove(blobPath("beta")))
			r.commit(t, symlink(base().remove(blobPath("beta")), blobPath("alpha")))
			r.commit(t, base())

			same(t, "sound", nil, checked(t, r.revision(t, "HEAD"), Options{Content: true}))
			same(t, "index", nil, checked(t, r.index(t), Options{Content: true}))
			same(t, "broken", missingBeta(), checked(t, r.revision(t, second), Options{}))
			same(t, "link", append([]expect{{Missing, firstE, 1, "toolu_00", "alpha"}},
				missingBeta()...), checked(t, r.revision(t, "HEAD~1"), Options{}))

			commits, err := r.door.Commits(context.Background(), "HEAD")
			if err != nil || len(commits) != 4 {
				t.Fatalf("%v, %v", commits, err)
			}
			report, err := Range(context.Background(), func(yield func(Source, error) bool) {
				for _, c := range commits {
					if !yield(r.revision(t, c.OID.String()), nil) {
						return
					}
				}
			}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "range", append(missingBeta(), expect{Missing, firstE, 1, "toolu_00", "alpha"}),
				expectations(report))
			if f := report.Findings[0]; f.Commit != second || f.Commits != 2 {
				t.Errorf("first seen in %s and %d commits, want %s and 2", f.Commit, f.Commits, second)
			}
		})
	}
}

func TestBareRepository(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, base().remove(blobPath("beta")))
	bare := filepath.Join(gittest.TempDir(t), "bare.git")
	r.Run("clone", "-q", "--bare", r.Dir, bare)
	b := repositoryAt(t, gittest.At(t, bare))
	same(t, "bare", missingBeta(), checked(t, b.revision(t, "HEAD"), Options{}))
}

// TestStagedFormsOnly: the index is checked, whatever is in the working tree.
func TestStagedFormsOnly(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, base())
	r.Run("rm", "-q", "--cached", blobPath("alpha"))
	same(t, "index", []expect{{Missing, firstE, 1, "toolu_00", "alpha"}},
		checked(t, r.index(t), Options{}))
	same(t, "HEAD", nil, checked(t, r.revision(t, "HEAD"), Options{}))
}

// TestDirectoryInPlaceOfAFile: jp moves such a conversation to its trash. An empty directory exists
// only in the working tree, where it is not in the listing of files.
func TestDirectoryInPlaceOfAFile(t *testing.T) {
	for _, name := range []string{"base_config.json", "metadata.json", "events.json"} {
		for _, entry := range []string{"", "x"} {
			r := repositoryAt(t, gittest.Repo(t))
			file := ".jp/conversations/" + second + "/" + name
			r.commit(t, base().remove(file))
			if err := os.Mkdir(r.Path(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if entry != "" {
				r.WriteFile(file+"/x", "x")
			}
			tree, err := OpenWorkTree(r.Dir, regular.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			want := []expect{{State: Malformed, Path: file}}
			same(t, "working tree", want, checked(t, tree, Options{}))
			id, _ := events.ParseDirname(second)
			alone := Options{Select: func(one events.ID) bool { return one == id }}
			same(t, "selected", want, checked(t, tree, alone))
			if entry == "" {
				continue
			}
			r.Commit("directory")
			same(t, "commit", want, checked(t, r.revision(t, "HEAD"), Options{}))
			same(t, "selected of a commit", want, checked(t, r.revision(t, "HEAD"), alone))
			same(t, "index", want, checked(t, r.index(t), Options{}))
		}
	}
}

// TestObjectRemovedBehindGit: the tree still has the entry.
func TestObjectRemovedBehindGit(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, base())
	for _, name := range []string{blobPath("alpha"), ".jp/conversations/" + second + "/events.json"} {
		id := r.Run("rev-parse", "HEAD:"+name)
		if err := os.Remove(r.Path(".git/objects/" + id[:2] + "/" + id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	want := []expect{
		{Missing, firstE, 1, "toolu_00", "alpha"},
		{State: Unreadable, Path: ".jp/conversations/" + second + "/events.json"},
	}
	for _, content := range []bool{false, true} {
		same(t, "objects gone", want, checked(t, r.revision(t, "HEAD"), Options{Content: content}))
	}
}

// TestMergeThatSkewsAndConflicts creates the results of §3.3 of merges: a clean merge that loses a
// blob, and one that renames a conversation twice.
func TestMergeThatSkewsAndConflicts(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	lonely := func() forest { return base().conversation("17800836999", "", "x").blob("alpha") }
	start := r.commit(t, lonely().bare(first, "First").blob("alpha"))
	r.Run("branch", "collected", start)
	r.commit(t, lonely()) // refers to alpha again
	r.Run("checkout", "-q", "-f", "collected")
	r.commit(t, lonely().bare(first, "First").remove(blobPath("alpha")))
	r.Run("checkout", "-q", "-f", "main")
	r.Run("merge", "-q", "-m", "skew", "collected")
	same(t, "skew", []expect{{Missing, firstE, 1, "toolu_00", "alpha"}},
		checked(t, r.revision(t, "HEAD"), Options{}))

	r.Run("checkout", "-q", "-f", "-b", "ours", start)
	r.commit(t, lonely().write(".jp/conversations/"+second+"/metadata.json", "{"))
	r.Run("checkout", "-q", "-f", "-b", "theirs", start)
	r.commit(t, lonely().write(".jp/conversations/"+second+"/metadata.json", "}"))
	if _, err := r.Try("merge", "-q", "ours"); err == nil {
		t.Fatal("no conflict")
	}
	got := checked(t, r.index(t), Options{})
	want := expect{State: Conflicted, Path: ".jp/conversations/" + second + "/metadata.json"}
	found := false
	for _, e := range got {
		found = found || e == want
	}
	if !found {
		t.Errorf("no conflict among %+v", got)
	}
}

func TestPartialClone(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, base())
	r.Run("config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(gittest.TempDir(t), "clone")
	r.Run("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+r.Dir, clone)
	if err := os.RemoveAll(r.Dir); err != nil { // nothing can be fetched
		t.Fatal(err)
	}
	p := repositoryAt(t, gittest.At(t, clone))
	var gaps []Gap
	for _, gap := range p.door.Incomplete() {
		gaps = append(gaps, Gap{Reason: gap.Reason, Detail: gap.Detail})
	}
	report, err := Tree(context.Background(), p.revision(t, "HEAD"), Options{Gaps: gaps})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.State != Unchecked {
			t.Errorf("%+v, want nothing but unchecked", f)
		}
	}
	if len(report.Findings) == 0 || report.Problems() {
		t.Errorf("%d findings, problems %v", len(report.Findings), report.Problems())
	}
}
