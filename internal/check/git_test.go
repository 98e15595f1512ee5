package check

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
)

func takeApart(e gitint.Entry) (string, uint32, gitint.OID) { return e.Path, uint32(e.Mode), e.OID }

// repository is a real one, and the door to it.
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
	return Git(r.door, tree, takeApart)
}

func (r repository) index(tb testing.TB) Source {
	tb.Helper()
	index, err := r.door.Index(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return Git(r.door, index, takeApart)
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

// TestStagedFormsOnly: the index is checked, whatever the work tree has.
func TestStagedFormsOnly(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, base())
	r.Run("rm", "-q", "--cached", blobPath("alpha"))
	same(t, "index", []expect{{Missing, firstE, 1, "toolu_00", "alpha"}},
		checked(t, r.index(t), Options{}))
	same(t, "HEAD", nil, checked(t, r.revision(t, "HEAD"), Options{}))
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

// TestMergeThatSkewsAndConflicts makes what §3.3 of merges leaves behind: a clean merge
// that loses a blob, and one that renames a conversation twice.
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
		gaps = append(gaps, Gap{gap.Reason, gap.Detail})
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

// large makes a repository of n blobs in conversations of 25, in one commit, and then as
// many commits as are wanted, each of which adds a turn to one conversation.
func large(tb testing.TB, n, commits int) repository {
	tb.Helper()
	r := gittest.Repo(tb, "--bare")
	var file strings.Builder
	write := func(f forest) {
		for _, name := range slices.Sorted(maps.Keys(f)) {
			data := f[name].Data
			fmt.Fprintf(&file, "M 100644 inline %s\ndata %d\n%s\n", name, len(data), data)
		}
	}
	begin := func(i int) {
		fmt.Fprintf(&file, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\n.\n",
			1700000000+i)
	}
	const each = 25
	name := func(i int) string { return fmt.Sprintf("%d-conversation", 17800000000+i) }
	contents := func(i int) []string {
		var all []string
		for j := range each {
			all = append(all, noise(i*each+j))
		}
		return all
	}
	begin(0)
	for i := range n / each {
		write(forest{}.conversation(name(i), "A conversation", contents(i)...))
	}
	for i := range commits {
		begin(i + 1)
		c := i % (n / each)
		more := append(contents(c), fmt.Sprintf("more %d", i))
		write(forest{}.blob(more[each]).bare(name(c), "A conversation", more...))
	}
	r.RunInput(file.String(), "fast-import", "--quiet")
	return repositoryAt(tb, r)
}

// noise is text of 200 to 4200 bytes that does not compress to nothing.
func noise(seed int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz (){}=\n"
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	text := make([]byte, 200+x%4000)
	for i := range text {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		text[i] = letters[x%uint64(len(letters))]
	}
	return string(text)
}

func BenchmarkLarge(b *testing.B) {
	r := large(b, 100_000, 1000)
	ctx := context.Background()
	dir := b.TempDir()
	fill := refs.Open(dir)
	if _, err := Tree(ctx, r.revision(b, "main"), Options{Cache: fill}); err != nil {
		b.Fatal(err)
	}
	fill.Close()
	run := func(name string, cacheDir func() string, f func(Options) (*Report, error)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				door := repositoryAt(b, r.Repository)
				r.door = door.door
				cache := refs.Open(cacheDir())
				report, err := f(Options{Cache: cache})
				if err != nil || len(report.Findings) > 0 {
					b.Fatalf("%v, %v", report, err)
				}
				cache.Close()
			}
		})
	}
	cold := func() string { return b.TempDir() }
	warm := func() string { return dir }
	tree := func(o Options) (*Report, error) { return Tree(ctx, r.revision(b, "main"), o) }
	run("tree/cold", cold, tree)
	run("tree/warm", warm, tree)
	run("content", warm, func(o Options) (*Report, error) {
		o.Content = true
		return tree(o)
	})
	run("range/1000", warm, func(o Options) (*Report, error) {
		commits, err := r.door.Commits(ctx, "main")
		if err != nil {
			return nil, err
		}
		return Range(ctx, func(yield func(Source, error) bool) {
			for _, c := range commits {
				tree, err := r.door.Tree(ctx, c.OID.String())
				if !yield(Git(r.door, tree, takeApart), err) {
					return
				}
			}
		}, o)
	})
	b.Run("git-fsck-connectivity-only", func(b *testing.B) {
		for b.Loop() {
			r.Run("fsck", "--connectivity-only")
		}
	})
	b.Run("git-ls-tree", func(b *testing.B) {
		for b.Loop() {
			r.Run("ls-tree", "-r", "main")
		}
	})
}
