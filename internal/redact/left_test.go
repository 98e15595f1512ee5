package redact_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/workspace"
)

const talk = ".jp/conversations/17800000001-one/"

// opened returns a redaction in a repository.
func opened(t *testing.T, r *gittest.Repository) redact.Tracked {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	w, err := workspace.Open(r.Dir, workspace.Env{
		Getenv: func(string) string { return "" }, Now: time.Now, Home: t.TempDir(), Dir: r.Dir, GOOS: "linux",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return redact.Tracked{
		Redactor: redact.Redactor{
			Workspace: w, Quarantine: quarantine.Quarantine{Dir: filepath.Join(r.Dir, ".git/jp/trash"), Root: r.Dir},
			Now: time.Now,
		},
		Repo: repo, Dir: ".jp",
	}
}

// TestWhatCannotBeReadIsCounted checks that whatever cannot be read counts, since it may have the
// text: a redaction must not say that it is gone.
func TestWhatCannotBeReadIsCounted(t *testing.T) {
	const secret = "sesame-4711"
	lost := strings.Repeat("1", 40)
	blob := ".jp/blobs/" + blobs.Sum([]byte("x")).Path()
	stage := func(r *gittest.Repository, oid, name string) {
		r.RunInput("100644 "+oid+" 2\t"+name+"\n", "update-index", "--index-info")
	}
	long := func(t *testing.T, r *gittest.Repository, name string) {
		r.WriteFile(name, "")
		if err := os.Truncate(r.Path(name), 1<<20+1); err != nil {
			t.Fatal(err)
		}
	}
	text := redact.Target{Rule: "text", Value: []byte(secret)}
	for name, tt := range map[string]struct {
		make   func(*testing.T, *gittest.Repository)
		target redact.Target
		unread int
		places []string
	}{
		"nothing": {func(*testing.T, *gittest.Repository) {}, text, 0, nil},
		"a file": {func(t *testing.T, r *gittest.Repository) {
			long(t, r, talk+"base_config.json")
			r.WriteFile(talk+"notes.json", secret)
		}, text, 1, []string{talk + "notes.json"}},
		"a side": {func(_ *testing.T, r *gittest.Repository) {
			stage(r, lost, talk+"metadata.json")
		}, text, 1, nil},
		"a side's content": {func(_ *testing.T, r *gittest.Repository) {
			stage(r, r.Blob("damaged"), blob)
		}, text, 1, nil},
		"half of a side's content": {func(_ *testing.T, r *gittest.Repository) {
			whole := string(blobs.Encode([]byte(strings.Repeat("long text ", 99))))
			stage(r, r.Blob(whole[:len(whole)/2]), blob)
		}, text, 1, nil},
		"a side with it": {func(_ *testing.T, r *gittest.Repository) {
			stage(r, r.Blob(string(blobs.Encode([]byte("say "+secret)))), blob)
		}, text, 0, []string{":2:" + blob}},
		"a side that entries name": {func(_ *testing.T, r *gittest.Repository) {
			stage(r, lost, talk+"events.json")
		}, redact.Target{}, 1, nil},
		"a stray": {func(_ *testing.T, r *gittest.Repository) {
			r.WriteFile(blob, "damaged")
		}, text, 1, nil},
		"leftovers": {func(_ *testing.T, r *gittest.Repository) {
			r.WriteFile(".jp/blobs/.tmp", secret)
		}, text, 1, []string{".jp/blobs/.tmp"}},
		"a leftover": {func(t *testing.T, r *gittest.Repository) {
			long(t, r, ".jp/blobs/.tmp/new.1.0/metadata.json")
		}, text, 1, nil},
		"the quarantine": {func(_ *testing.T, r *gittest.Repository) {
			r.WriteFile(".git/jp/trash", "")
		}, text, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.Repo(t)
			r.WriteFile(".jp/.id", "abcde")
			tt.make(t, r)
			left, err := opened(t, r).StillThere(t.Context(), tt.target)
			if err != nil {
				t.Fatal(err)
			}
			var places []string
			for _, p := range left.Places {
				places = append(places, p.Path)
			}
			if left.Unread != tt.unread || !slices.Equal(places, tt.places) {
				t.Errorf("%d were not read, not %d; places %q, not %q", left.Unread, tt.unread, places, tt.places)
			}
		})
	}
}
