package gitint_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// manyBlobs returns a repository with n files below .jp/blobs, in one pack.
func manyBlobs(tb testing.TB, n int) *gittest.Repository {
	tb.Helper()
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter Ada <ada@example.org> 0 +0000\ndata 0\n\n")
	for i := range n {
		h := fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
		fmt.Fprintf(&in, "M 100644 inline .jp/blobs/%s/%s/%s.blob.gz\ndata 8\n%s\n",
			h[:2], h[2:4], h[4:], h[:8])
	}
	r := gittest.Repo(tb)
	r.RunInput(in.String(), "fast-import", "--quiet")
	r.Run("read-tree", "HEAD")
	return r
}

// manyRefs returns a repository with n loose branches.
func manyRefs(tb testing.TB, n int) *gittest.Repository {
	tb.Helper()
	r := gittest.Repo(tb)
	head := r.Commit("first")
	for i := range n {
		r.WriteFile(fmt.Sprintf(".git/refs/heads/team-%d/topic-%d", i%100, i), head+"\n")
	}
	return r
}

func TestTenThousandRefs(t *testing.T) {
	r := manyRefs(t, 10_000)
	repo := open(t, r)
	for _, kind := range []string{"loose", "packed"} {
		refs, err := repo.Refs(t.Context())
		if err != nil || len(refs) != 10_001 {
			t.Fatalf("%s: %d refs, %v", kind, len(refs), err)
		}
		r.Run("pack-refs", "--all")
	}
	if n := repo.Processes(); n > 2 {
		t.Errorf("%d processes", n)
	}
}

func BenchmarkOpen(b *testing.B) {
	r := gittest.Repo(b)
	r.WriteFile("a", "a")
	r.Commit("first")
	for b.Loop() {
		repo, err := gitint.Open(b.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
		if err != nil {
			b.Fatal(err)
		}
		_ = repo.Close()
	}
}

func BenchmarkEntries(b *testing.B) {
	r := manyBlobs(b, soak(100_000, 5_000))
	for b.Loop() {
		repo := open(b, r)
		tree, err := repo.Tree(b.Context(), "HEAD")
		if err != nil {
			b.Fatal(err)
		}
		entries, err := tree.Entries(".jp/blobs")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(entries)), "files")
	}
}

func BenchmarkIndex(b *testing.B) {
	repo := open(b, manyBlobs(b, soak(100_000, 5_000)))
	for b.Loop() {
		if _, err := repo.Index(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHasObject(b *testing.B) {
	r := manyBlobs(b, soak(100_000, 5_000))
	repo := open(b, r)
	tree, err := repo.Tree(b.Context(), "HEAD")
	if err != nil {
		b.Fatal(err)
	}
	entries, err := tree.Entries(".")
	if err != nil {
		b.Fatal(err)
	}
	var ids []gitint.OID
	for _, e := range entries {
		ids = append(ids, e.OID)
	}
	for b.Loop() {
		if missing, err := repo.HasObject(b.Context(), ids); err != nil || len(missing) > 0 {
			b.Fatal(len(missing), err)
		}
	}
}

func BenchmarkRefs(b *testing.B) {
	for _, kind := range []string{"loose", "packed"} {
		b.Run(kind, func(b *testing.B) {
			r := manyRefs(b, 10_000)
			if kind == "packed" {
				r.Run("pack-refs", "--all")
			}
			repo := open(b, r)
			for b.Loop() {
				if _, err := repo.Refs(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// soak returns the large number in a long run.
func soak(large, small int) int {
	if os.Getenv("GIT_JP_SOAK") == "1" {
		return large
	}
	return small
}
