package stage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/stage"
)

// plan makes a plan with a cache in dir, or without one if that is empty.
func (f fixture) plan(t *testing.T, dir string, req stage.Request) *stage.Plan {
	t.Helper()
	req.Repo, req.Dir = openRepo(t, f.Repository), f.dir
	if dir != "" {
		req.Cache = refs.Open(dir)
		defer req.Cache.Close() // costs time only
	}
	p, err := stage.NewPlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestASecondStageReadsNothing verifies that a stage of all reads no blob that an earlier one has
// read and that is committed, and reads each that git says has changed.
func TestASecondStageReadsNothing(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "a", "b")
	f.converse(secondID, "second", "b", "c")
	f.Commit("conversations")
	cache := filepath.Join(t.TempDir(), "cache")
	verified := func(want int) *stage.Plan {
		t.Helper()
		p := f.plan(t, cache, stage.Request{Select: stage.All})
		if p.Report.Verified != want {
			t.Errorf("verified %d blobs, want %d", p.Report.Verified, want)
		}
		return p
	}
	verified(3)
	verified(0)
	f.converse(secondID, "second", "b", "c", "d")
	if p := verified(3); len(p.Items) != 1 || p.Items[0].Blobs != 1 {
		t.Errorf("items %+v", p.Items)
	}
	f.Commit("more")
	verified(3) // of the second
	verified(0)
	damaged := f.Path(f.blobPath("a"))
	if err := os.Chmod(damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	f.WriteFile(f.blobPath("a"), "damaged")
	if p := verified(4); !p.Refused() {
		t.Error("a damaged blob passed")
	}
	f.Commit("damaged")
	for range 2 {
		if p := f.plan(t, cache, stage.Request{Select: stage.All}); !p.Refused() {
			t.Error("a damaged blob passed that was committed")
		}
	}
}

// TestWhatUnsettles verifies that changes at which git does not look, and blobs that a commit
// removed from the store, are found.
func TestWhatUnsettles(t *testing.T) {
	for name, change := range map[string]func(f fixture, dir string){
		"a commit removes a blob": func(f fixture, _ string) {
			f.Run("rm", "-q", f.blobPath("a"))
			f.Run("commit", "-qm", "x")
		},
		"a commit replaces a blob": func(f fixture, _ string) {
			_ = os.Chmod(f.Path(f.blobPath("a")), 0o644)
			f.WriteFile(f.blobPath("a"), "damaged")
			f.Commit("x")
		},
		"an entry is assumed unchanged": func(f fixture, dir string) {
			f.Run("update-index", "--assume-unchanged", dir+"/events.json")
			f.WriteFile(dir+"/events.json", "[")
		},
		"a file is assumed unchanged and removed": func(f fixture, _ string) {
			f.Run("update-index", "--assume-unchanged", f.blobPath("a"))
			f.Remove(f.blobPath("a"))
		},
		"the same in a split index": func(f fixture, _ string) {
			f.Run("update-index", "--split-index")
			f.Run("update-index", "--assume-unchanged", f.blobPath("a"))
			f.Remove(f.blobPath("a"))
		},
		"an entry is outside of the working tree": func(f fixture, _ string) {
			f.Run("update-index", "--skip-worktree", f.blobPath("a"))
			_ = os.Chmod(f.Path(f.blobPath("a")), 0o644)
			f.WriteFile(f.blobPath("a"), "damaged")
		},
		"a blob leaves the index": func(f fixture, _ string) {
			f.Run("rm", "-q", "--cached", f.blobPath("a"))
			f.Remove(f.blobPath("a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			dir := f.converse(firstID, "first", "a", "b")
			f.Commit("conversations")
			cache := filepath.Join(t.TempDir(), "cache")
			for range 2 {
				if p := f.plan(t, cache, stage.Request{Select: stage.All}); p.Refused() {
					t.Fatalf("findings %v", p.Report.Findings)
				}
			}
			change(f, dir)
			for range 2 {
				if p := f.plan(t, cache, stage.Request{Select: stage.All}); !p.Refused() {
					t.Error("it was not found")
				}
			}
		})
	}
}

// TestSettledPlans compares, after random changes of everything that a plan looks at, plans with a
// cache and plans without.
func TestSettledPlans(t *testing.T) {
	walks, steps := 3, 20
	if os.Getenv(soakEnv) != "" {
		walks, steps = 100, 60
	}
	for seed := range walks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &settling{
				fixture: newFixture(t), t: t, rand: rand.New(rand.NewPCG(uint64(seed), 7)),
				cache: filepath.Join(t.TempDir(), "cache"),
			}
			for range steps {
				w.step()
				w.compare()
			}
		})
	}
}

type settling struct {
	fixture
	t     *testing.T
	rand  *rand.Rand
	cache string
	count int
	log   []string
}

func (w *settling) step() {
	id := firstID + events.ID(w.rand.IntN(4))
	dir := fmt.Sprintf(".jp/conversations/%d-talk", int64(id))
	blob := w.blobPath(fmt.Sprint("content ", w.rand.IntN(w.count+1)))
	steps := []func(){
		func() {
			w.count++
			w.converse(id, "talk", fmt.Sprint("content ", w.count), fmt.Sprint("content ", w.rand.IntN(w.count)))
		},
		func() { _, _ = w.Try("add", "-A") },
		func() { _, _ = w.Try("commit", "-qam", "x") },
		func() { _, _ = w.Try("add", "-A"); _, _ = w.Try("commit", "-qm", "x") },
		func() { _, _ = w.Try("add", dir) },
		func() { _, _ = w.Try("rm", "-q", "--cached", blob) },
		func() { _ = os.Remove(w.Path(blob)) },
		func() { w.replace(blob, fmt.Sprint("damaged ", w.rand.Int())) },
		func() { w.replace(dir+"/events.json", fmt.Sprint("[", w.rand.Int())) },
		func() { w.replace(dir+"/metadata.json", fmt.Sprint("{", w.rand.Int())) },
		func() { _, _ = w.Try("update-index", "--assume-unchanged", dir+"/events.json") },
		func() { _, _ = w.Try("update-index", "--no-assume-unchanged", dir+"/events.json") },
		func() { _, _ = w.Try("update-index", "--skip-worktree", blob) },
		func() { _ = os.RemoveAll(w.Path(dir)) },
		func() { _ = os.Rename(w.Path(dir), w.Path(dir+"-more")) },
		func() { _, _ = w.Try("reset", "-q", "--hard", "HEAD~1") },
		func() { _, _ = w.Try("checkout", "-q", "--detach", "HEAD~2") },
		func() { _, _ = w.Try("reset", "-q", "HEAD~1") },
	}
	n := w.rand.IntN(len(steps) + 6)
	if n >= len(steps) {
		n %= 4 // most of the time there is a change
	}
	w.log = append(w.log, fmt.Sprint(n))
	steps[n]()
}

func (w *settling) replace(name, text string) {
	if _, err := os.Lstat(w.Path(name)); err == nil {
		_ = os.Chmod(w.Path(name), 0o644)
		w.WriteFile(name, text)
	}
}

func (w *settling) compare() {
	w.t.Helper()
	for _, req := range []stage.Request{
		{Select: stage.All}, {Select: stage.Changed}, {Select: stage.Changed, NoContent: true},
	} {
		want := w.plan(w.t, "", req)
		got := w.plan(w.t, w.cache, req)
		said := func(p *stage.Plan) string {
			var b strings.Builder
			fmt.Fprintf(&b, "%+v\n%v\n%v\n%v\n%v\n", p.Items, p.Add, p.Remove, p.Staged, p.Lost)
			for _, f := range p.Report.Findings {
				fmt.Fprintf(&b, "%s %s %s %s\n", f.State, f.Path, f.Call, f.Detail)
			}
			return b.String()
		}
		if !reflect.DeepEqual(said(got), said(want)) {
			w.t.Fatalf("%s, %d: remembering\n%s\nnot\n%s", strings.Join(w.log, " "), req.Select,
				said(got), said(want))
		}
	}
}
