package check

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// many returns a forest of n conversations with a blob each, of the size of a pointer.
func many(n int) forest {
	f := forest{}
	for i := range n {
		f.conversation(fmt.Sprint(17800836875+i), "T", noise(i)[:200])
	}
	return f
}

// TestSecondCheckReadsNothing counts the files and directories that are read from a source.
func TestSecondCheckReadsNothing(t *testing.T) {
	dir := t.TempDir()
	check := func(f forest, want []expect) (reads, asked, sized int64) {
		t.Helper()
		cache := refs.Open(dir)
		defer cache.Close()
		src := f.source("c1")
		same(t, "findings", want, checked(t, src, Options{Cache: cache}))
		return src.reads.Load(), src.asked.Load(), src.sized.Load()
	}
	const n = 300
	f := many(n)
	if reads, _, _ := check(f, nil); reads < 2*n {
		t.Errorf("the first check took %d reads, so the test tests nothing", reads)
	}
	// It looks up once the sizes of conversation files, which may exceed a limit that was lowered,
	// and once each which directories and which blobs are still here.
	if reads, asked, sized := check(f, nil); reads > 6 || asked > 3 || sized > 2*n {
		t.Errorf("the second check took %d reads, and asked %d times, for %d sizes",
			reads, asked, sized)
	}
	more := f.clone().conversation("17800999999", "T", "more")
	if reads, _, _ := check(more, nil); reads > 20 {
		t.Errorf("a check with one more conversation took %d reads", reads)
	}
	f.write(blobPath(noise(7)[:200]), pointer(noise(7)[:200]))
	want := []expect{{State: Unchecked, Path: ".jp/blobs"}}
	for range 3 {
		check(f, want)
	}
}

// TestRememberedObjectsMustStillBeHere: a cached fact does not prove presence, of a file or of a
// directory of blobs. A check with a full cache reports the same as one without a cache.
func TestRememberedObjectsMustStillBeHere(t *testing.T) {
	const name, content = "17800999999", "in the second commit alone"
	its, _ := events.ParseDirname(name)
	dir := ".jp/conversations/" + name
	file := blobPath(content)
	forms := map[string]Options{
		"presence": {}, "remembered": {Rules: "ours"}, "content": {Content: true},
		"selected": {Select: func(id events.ID) bool { return id == its }},
	}
	for _, gone := range []string{
		dir + "/events.json", dir + "/metadata.json", dir + "/base_config.json", file,
		path.Dir(file), path.Dir(path.Dir(file)),
	} {
		t.Run(path.Base(gone), func(t *testing.T) {
			r := repositoryAt(t, gittest.Repo(t))
			r.commit(t, many(10))
			tree := many(10).conversation(name, "Its own", content)
			r.commit(t, tree.write(dir+"/base_config.json", "{\"its\": 1}\n"))
			cache := t.TempDir()
			whole := make(map[string][]string)
			for form, opts := range forms {
				whole[form] = r.outcomes(t, opts, cache)
			}
			id := r.Run("rev-parse", "HEAD:"+gone)
			if err := os.Remove(r.Path(".git/objects/" + id[:2] + "/" + id[2:])); err != nil {
				t.Fatal(err)
			}
			again := repositoryAt(t, gittest.At(t, r.Dir))
			for form, opts := range forms {
				cold, warm := again.outcomes(t, opts, ""), again.outcomes(t, opts, cache)
				if d := cmp.Diff(cold, warm); d != "" {
					t.Errorf("%s (-without a cache +with it):\n%s", form, d)
				}
				if cmp.Equal(whole[form], warm) {
					t.Errorf("%s: nothing is said: %s", form, warm)
				}
			}
		})
	}
}

// TestRememberedFilesObeyTheLimit: a lowered limit also applies to cached objects, and to objects
// that are learned together with others.
func TestRememberedFilesObeyTheLimit(t *testing.T) {
	for _, n := range []int{1, 100} {
		r := repositoryAt(t, gittest.Repo(t))
		r.commit(t, many(n))
		r.commit(t, many(n).write(".jp/conversations/17800836875/base_config.json",
			`{"x":"`+strings.Repeat("x", regular.MaxSettings)+`"}`))
		cache := t.TempDir()
		r.outcomes(t, Options{Rules: "ours"}, cache)
		door, err := gitint.Open(t.Context(), gitint.Options{
			Dir: r.Dir, Env: r.Env, Limits: regular.Limits{Stream: 10},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer door.Close()
		lower := repository{r.Repository, door}
		cold, warm := lower.outcomes(t, Options{}, ""), lower.outcomes(t, Options{Rules: "ours"}, cache)
		if d := cmp.Diff(cold, warm); d != "" {
			t.Errorf("%d: (-without a cache +with it):\n%s", n, d)
		}
		report, err := Tree(t.Context(), lower.revision(t, "HEAD"), Options{})
		if err != nil || len(report.Findings) != n+1 {
			t.Errorf("%d: %d findings, %v", n, len(report.Findings), err)
		}
		for _, f := range report.Findings {
			if f.State != Unreadable || !strings.Contains(f.Detail, "file too large") {
				t.Errorf("%d: %s", n, f.Detail)
			}
		}
	}
}

// outcomes returns the findings on HEAD alone, and on HEAD after the commit before it.
func (r repository) outcomes(t *testing.T, opts Options, cache string) []string {
	t.Helper()
	opts.Cache = refs.Open(cache)
	defer opts.Cache.Close()
	one, oneErr := Tree(t.Context(), r.revision(t, "HEAD"), opts)
	two, twoErr := Range(t.Context(), func(yield func(Source, error) bool) {
		_ = yield(r.revision(t, "HEAD~1"), nil) && yield(r.revision(t, "HEAD"), nil)
	}, opts)
	return []string{outcome(one, oneErr), outcome(two, twoErr)}
}

func outcome(r *Report, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", r.Findings)
}
