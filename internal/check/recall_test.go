package check

import (
	"os"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
)

// TestSoundTreeIsRemembered: if nothing was found, no conversation is examined again, and the
// report is the same as after an examination.
func TestSoundTreeIsRemembered(t *testing.T) {
	const n = 300
	dir, f := t.TempDir(), many(n)
	check := func(opts Options) (r *Report, asked int64) {
		t.Helper()
		opts.Cache = refs.Open(dir)
		defer opts.Cache.Close()
		r, err := Tree(t.Context(), f.source("c1"), opts)
		if err != nil || len(r.Findings) > 0 {
			t.Fatalf("%v, %v", r, err)
		}
		s := opts.Cache.Stats()
		return r, s.Hits + s.Misses
	}
	first, _ := check(Options{Rules: "ours"})
	plain, examining := check(Options{})
	again, remembering := check(Options{Rules: "ours"})
	if remembering > examining-3*n {
		t.Errorf("the cache was asked %d times, and %d times by who examined %d conversations",
			remembering, examining, n)
	}
	for _, r := range []*Report{first, plain} {
		if r.Conversations != n || r.Conversations != again.Conversations ||
			r.References != again.References || r.Blobs != again.Blobs {
			t.Errorf("%+v and %+v", r, again)
		}
	}
}

// TestVerdictIsOfWhatWasAsked: a verdict by other rules or with other options does not apply.
func TestVerdictIsOfWhatWasAsked(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, many(10))
	dir := t.TempDir()
	check := func(opts Options) (findings int) {
		t.Helper()
		opts.Cache = refs.Open(dir)
		defer opts.Cache.Close()
		report, err := Tree(t.Context(), r.revision(t, "HEAD"), opts)
		if err != nil {
			t.Fatal(err)
		}
		return len(report.Findings)
	}
	examined := func(opts Options) bool {
		t.Helper()
		return !recalled(t, dir, r, opts)
	}
	ours := Options{Rules: "ours"}
	check(ours)
	if examined(ours) {
		t.Error("what was just found is not remembered")
	}
	for name, opts := range map[string]Options{
		"other rules": {Rules: "theirs"}, "no rules": {},
		"content": {Rules: "ours", Content: true}, "pointers": {Rules: "ours", NoPointers: true},
		"partial": {Rules: "ours", Gaps: []Gap{{Reason: "partial"}}},
		"limit":   {Rules: "ours", MaxBlobBytes: 4},
	} {
		if !examined(opts) {
			t.Errorf("%s: the verdict of others is believed", name)
		}
	}
	if n := check(Options{Rules: "ours", MaxBlobBytes: 4}); n != 10 {
		t.Errorf("%d findings of 10 blobs larger than the limit", n)
	}
	tree := many(10)
	delete(tree, blobPath(noise(3)[:200]))
	r.commit(t, tree)
	for range 2 {
		if n := check(ours); n != 1 {
			t.Errorf("%d findings where one blob is missing", n)
		}
	}
}

// recalled reports whether a check of HEAD would examine nothing.
func recalled(t *testing.T, dir string, r repository, opts Options) bool {
	t.Helper()
	cache := refs.Open(dir)
	defer cache.Close()
	v := newVerifier(&opts, cache)
	ch := newChecker(checker{
		opts: &opts, cache: cache, report: &Report{}, verifier: v, dir: ".jp", alone: true,
	})
	src := r.revision(t, "HEAD")
	is, err := ch.list(src)
	if err != nil {
		t.Fatal(err)
	}
	return ch.recall(t.Context(), transition{new: src, is: is})
}

// aMerge is the source of a merge in progress.
type aMerge struct{ *source }

// Conflicts implements [Conflicter].
func (aMerge) Conflicts() []string { return []string{firstE} }

// TestVerdictSaysNothingOfAMerge: unmerged paths are in no tree, so a verdict on trees does not
// cover them.
func TestVerdictSaysNothingOfAMerge(t *testing.T) {
	opts := Options{Rules: "ours", Cache: &refs.Cache{}}
	same(t, "committed", nil, checked(t, base().source("c1"), opts))
	want := []expect{{State: Conflicted, Path: firstE}}
	same(t, "in a merge", want, checked(t, aMerge{base().source(IndexName)}, opts))
}

// TestDamagedMemoryIsNone: a cache that lost the basis of a verdict is rebuilt.
func TestDamagedMemoryIsNone(t *testing.T) {
	r := repositoryAt(t, gittest.Repo(t))
	r.commit(t, many(10))
	dir := t.TempDir()
	ours := Options{Rules: "ours"}
	r.outcomesOfHead(t, ours, dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		name := dir + "/" + f.Name()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, int64(len(data)/2)); err != nil {
			t.Fatal(err)
		}
		if got := r.outcomesOfHead(t, ours, dir); got != "[]" {
			t.Errorf("without half of %s: %s", f.Name(), got)
		}
	}
}

func (r repository) outcomesOfHead(t *testing.T, opts Options, dir string) string {
	t.Helper()
	opts.Cache = refs.Open(dir)
	defer opts.Cache.Close()
	report, err := Tree(t.Context(), r.revision(t, "HEAD"), opts)
	return outcome(report, err)
}
