//go:build unix

package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
)

// large creates a repository of n blobs in conversations of 25, in one commit, followed by the
// given number of commits, each of which adds a turn to one conversation.
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

// reportProcessor reports the processor time of this process and its children: on a busy machine
// the elapsed time means little.
func reportProcessor(b *testing.B) func() {
	used := func() time.Duration {
		var total time.Duration
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				b.Fatal(err)
			}
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return total
	}
	start := used()
	return func() {
		b.ReportMetric(float64((used()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
	}
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
			defer reportProcessor(b)()
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
				if !yield(Git(r.door, tree), err) {
					return
				}
			}
		}, o)
	})
	b.Run("git-fsck-connectivity-only", func(b *testing.B) {
		defer reportProcessor(b)()
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
