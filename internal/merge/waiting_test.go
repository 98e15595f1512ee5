package merge_test

import (
	"os"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
)

// TestOpen: a record waits as long as the index has the file that the driver left. What cannot be
// read is an error and no decision.
func TestOpen(t *testing.T) {
	const name, other = blendDir + "events.json", "other/" + blendDir + "events.json"
	stopped := func(r *gittest.Repository) {
		r.WriteFile(".git/MERGE_HEAD", r.Run("commit-tree", "-m", "theirs", "HEAD:.jp")+"\n")
	}
	lose := func(r *gittest.Repository, rev string) {
		id := r.Run("rev-parse", rev)
		if err := os.Remove(r.Path(".git/objects/" + id[:2] + "/" + id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	for what, tt := range map[string]struct {
		left    string // what the driver left, "" for what the index has
		at      string // of the record
		then    func(r *gittest.Repository)
		waiting int
		failing bool
	}{
		"left":             {at: name, waiting: 1},
		"elsewhere":        {at: other},
		"decided":          {at: name, left: "[]\n"},
		"stopped, decided": {at: name, left: "[]\n", then: stopped},
		"damaged record": {at: name, failing: true, then: func(r *gittest.Repository) {
			r.WriteFile(".git/jp/conflicts/damaged.json", "{")
		}},
		"damaged index": {at: name, failing: true, then: func(r *gittest.Repository) {
			r.WriteFile(".git/index", "DIRC")
		}},
		"theirs missing": {at: name, left: "[]\n", failing: true, then: func(r *gittest.Repository) {
			stopped(r)
			lose(r, "MERGE_HEAD^{tree}")
		}},
	} {
		t.Run(what, func(t *testing.T) {
			r := gittest.Repo(t)
			for _, at := range []string{name, other} {
				r.WriteFile(at, streamOf(turnOf("01", "First?")))
			}
			r.Commit("begun")
			repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			record := merge.Record{Path: tt.at, Left: r.Run("rev-parse", "HEAD:"+name)}
			if tt.left != "" {
				record.Left = repo.HashBlob([]byte(tt.left)).String()
			}
			if err := merge.RecordsOf(repo.GitDir()).Save(record); err != nil {
				t.Fatal(err)
			}
			if tt.then != nil {
				tt.then(r)
			}
			waiting, err := merge.Open(t.Context(), repo, ".jp")
			if len(waiting) != tt.waiting || (err != nil) != tt.failing {
				t.Errorf("%d records wait, %v", len(waiting), err)
			}
		})
	}
}
