package check

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/internal/refs"
)

func rangeOf(sources ...Source) func(yield func(Source, error) bool) {
	return func(yield func(Source, error) bool) {
		for _, src := range sources {
			if !yield(src, nil) {
				return
			}
		}
	}
}

func TestRangeNamesTheFirstCommit(t *testing.T) {
	broken := base().remove(blobPath("alpha"))
	half := base().write(firstE, encode(turn(0, 5, "alpha")[:3]...))
	r, err := Range(context.Background(), rangeOf(
		base().source("c1"), broken.source("c2"), half.source("c3"), broken.clone().source("c4"),
		base().source("c5"),
	), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Sources != 5 {
		t.Fatalf("%d findings in %d sources: %+v", len(r.Findings), r.Sources, r.Findings)
	}
	if f := r.Findings[0]; f.Commit != "c2" || f.Commits != 2 || f.State != Missing {
		t.Errorf("%+v, want a missing blob in c2 and one more commit", f)
	}
}

func TestRangeKeepsWhatTheLastCommitLacks(t *testing.T) {
	half := base().write(firstE, encode(turn(0, 5, "alpha")[:3]...))
	r, err := Range(context.Background(), rangeOf(base().source("c1"), half.source("c2")), Options{})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].State != Incomplete {
		t.Errorf("%+v, %v; want an incomplete turn", r, err)
	}
}

// TestRangeReadsOnlyWhatChanges counts the calls to sources.
func TestRangeReadsOnlyWhatChanges(t *testing.T) {
	tree := forest{}
	for i := range 300 {
		tree.conversation(fmt.Sprint(17800836875+i), "T", fmt.Sprint("content ", i))
	}
	var sources []Source
	var counts []*atomic.Int64
	for i := range 20 {
		tree = tree.clone().conversation("17800836875", "T", fmt.Sprint("new ", i))
		src := tree.source(fmt.Sprint("c", i))
		sources, counts = append(sources, src), append(counts, src.reads)
	}
	if _, err := Range(context.Background(), rangeOf(sources...), Options{}); err != nil {
		t.Fatal(err)
	}
	if n := counts[0].Load(); n < 300 {
		t.Errorf("the first commit took %d reads, so the test tests nothing", n)
	}
	for i, count := range counts[1 : len(counts)-1] {
		if n := count.Load(); n > 30 {
			t.Errorf("commit %d took %d reads", i+1, n)
		}
	}
}

// drawForest makes a small change to a tree, of the kinds that commits make and of those that break
// it.
func drawForest(rt *rapid.T, f forest) forest {
	f = f.clone()
	content := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta"})
	dir := rapid.SampledFrom([]string{first, second, "17800836875-renamed", ".archive/" + second})
	switch rapid.IntRange(0, 9).Draw(rt, "change") {
	case 0:
		f.remove(blobPath(content.Draw(rt, "removed")))
	case 1:
		f.blob(content.Draw(rt, "added"))
	case 2:
		f.write(blobPath(content.Draw(rt, "damaged")), rapid.SampledFrom([]string{
			"junk", "more junk", pointer("alpha"), "",
		}).Draw(rt, "junk"))
	case 3:
		symlink(f, blobPath(content.Draw(rt, "linked")))
	case 4:
		f.remove(".jp/conversations/" + dir.Draw(rt, "deleted"))
	case 5:
		f.write(".jp/conversations/"+dir.Draw(rt, "broken")+"/events.json", "[")
	case 6:
		f.write(".jp/conversations/"+dir.Draw(rt, "misstated")+"/events.json",
			encode(turn(0, rapid.Int64Range(4, 6).Draw(rt, "size"), content.Draw(rt, "of"))...))
	case 7:
		f.write(rapid.SampledFrom([]string{".jp/blobs/x", ".jp/conversations/x/y"}).Draw(rt, "alien"), "")
	default:
		f.bare(dir.Draw(rt, "written"), rapid.SampledFrom([]string{"S", "T"}).Draw(rt, "title"),
			rapid.SliceOfN(content, 0, 4).Draw(rt, "contents")...)
	}
	return f
}

// TestPropertyRangeEqualsTrees: going from tree to tree finds the same as checking each alone, in
// both modes, with or without a cache.
func TestPropertyRangeEqualsTrees(t *testing.T) {
	cache := refs.Open(t.TempDir())
	defer cache.Close()
	rapid.Check(t, func(rt *rapid.T) {
		trees := []forest{base()}
		for range rapid.IntRange(1, 8).Draw(rt, "commits") {
			from := rapid.SampledFrom(trees).Draw(rt, "parent") // branches interleave
			trees = append(trees, drawForest(rt, drawForest(rt, from)))
		}
		rangeEqualsTrees(rt, trees, Options{Content: rapid.Bool().Draw(rt, "content")}, cache)
	})
}

// TestRangeForgets: what a tree has in the place of a directory or in the archive is not reported of
// the next one, which lacks it.
func TestRangeForgets(t *testing.T) {
	const archive = ".jp/conversations/.archive"
	for name, trees := range map[string][]forest{
		"a file": {base().write(".jp/secrets", "x"), base()},
		"an archive": {
			base().write(archive+"/17800836877-old/events.json", "["), base().remove(archive),
		},
	} {
		t.Run(name, func(t *testing.T) { rangeEqualsTrees(t, trees, Options{}, nil) })
	}
}

// TestRangeJudgesAgain: of two references that state different sizes one is wrong whenever the
// content is there, also after a time in which it was elsewhere.
func TestRangeJudgesAgain(t *testing.T) {
	disputed := base().write(".jp/conversations/"+second+"/events.json", encode(turn(0, 4, "alpha")...))
	elsewhere := disputed.clone().write(blobPath("alpha"), pointer("alpha"))
	trees := []forest{disputed, elsewhere, elsewhere.clone().blob("alpha")}
	rangeEqualsTrees(t, trees, Options{Content: true}, nil)
}

// rangeEqualsTrees compares the check of a range with those of each tree alone.
func rangeEqualsTrees(tb rapid.TB, trees []forest, opts Options, cache *refs.Cache) {
	tb.Helper()
	want := &Report{}
	var sources []Source
	for i, tree := range trees {
		src := tree.source(fmt.Sprint("c", i))
		sources = append(sources, src)
		one, err := Tree(context.Background(), src, opts)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range one.Findings {
			f.Commits = 0
			want.Add(f)
		}
	}
	opts.Cache = cache
	got, err := Range(context.Background(), rangeOf(sources...), opts)
	if err != nil {
		tb.Fatal(err)
	}
	if d := cmp.Diff(want.Findings, got.Findings, cmpopts.EquateEmpty()); d != "" {
		tb.Errorf("(-alone +range):\n%s", d)
	}
}
