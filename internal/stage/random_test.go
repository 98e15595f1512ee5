package stage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/stage"
)

// soakEnv makes the tests run for long.
const soakEnv = "GIT_JP_SOAK"

// The steps never delete anything, so no commit may, whatever was edited, staged, committed,
// aborted and interrupted before; and every commit is complete.
func TestRandomCommits(t *testing.T) {
	walks, steps := 4, 12
	if os.Getenv(soakEnv) != "" {
		walks, steps = 200, 30
	}
	for seed := range walks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.converse(firstID, "first")
			f.converse(secondID, "second")
			f.Commit("conversations")
			installHooks(t, f.Repository)
			w := &walk{
				fixture: f, t: t, rand: rand.New(rand.NewPCG(uint64(seed), 1)),
				contents: map[events.ID][]string{}, post: f.ReadFile(".git/hooks/post-commit"),
			}
			for range steps {
				w.step()
			}
		})
	}
}

type walk struct {
	fixture
	t        *testing.T
	rand     *rand.Rand
	contents map[events.ID][]string
	post     string // the text of the hook
	count    int
	log      []string
}

func (w *walk) pick(choices ...string) string { return choices[w.rand.IntN(len(choices))] }

func (w *walk) step() {
	id, slug := firstID, "first"
	if w.rand.IntN(2) == 0 {
		id, slug = secondID, "second"
	}
	if w.rand.IntN(3) > 0 || w.contents[id] == nil {
		w.count++
		w.contents[id] = append(w.contents[id], fmt.Sprint("content ", w.count))
		w.converse(id, slug, w.contents[id]...)
	}
	w.count++
	w.WriteFile("code.go", fmt.Sprintf("package code // %d\n", w.count))
	dir := fmt.Sprintf(".jp/conversations/%d-%s", int64(id), slug)
	w.stage(id, dir)
	w.commit(dir)
}

func (w *walk) stage(id events.ID, dir string) {
	what := w.pick("nothing", "nothing", "nothing", dir, dir+"/events.json", ".jp/blobs",
		"code.go", "stage")
	w.log = append(w.log, "stage "+what)
	switch what {
	case "nothing":
	case "stage":
		run(w.t, stage.Request{Repo: openRepo(w.t, w.Repository), Dir: ".jp", IDs: []events.ID{id}})
	default:
		w.Run("add", what)
	}
}

func (w *walk) commit(dir string) {
	form := w.pick("-m x", "-a -m x", "-m x -- "+dir, "-o -m x code.go", "-m x -- code.go",
		"-i -m x "+dir, "--amend -m x", "--amend -m x -- "+dir, "-m x -- "+dir+"/events.json")
	args := strings.Fields(form)
	fate := w.pick("whole", "whole", "given up", "interrupted")
	w.log = append(w.log, "commit "+form+" "+fate)
	switch fate {
	case "given up":
		args[slices.Index(args, "x")] = ""
	case "interrupted":
		w.Remove(".git/hooks/post-commit")
	}
	before := w.Run("rev-parse", "HEAD")
	_, err := w.Try(append([]string{"commit", "-q"}, args...)...)
	if err != nil && (strings.Contains(err.Error(), "pre-commit:") ||
		strings.Contains(err.Error(), "post-commit:")) {
		w.t.Fatalf("%q: %v", w.log, err)
	}
	w.WriteFile(".git/hooks/post-commit", w.post)
	if err := os.Chmod(w.Path(".git/hooks/post-commit"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.check(before, err == nil && fate == "whole")
}

func (w *walk) check(before string, settled bool) {
	deletions := []string{"diff", "--name-only", "--no-renames", "--diff-filter=D"}
	if got := w.Run(append(deletions, before, "HEAD")...); got != "" {
		w.t.Fatalf("%q deleted %q", w.log, got)
	}
	if got := w.Run(append(deletions, "--cached")...); got != "" && settled {
		w.t.Fatalf("%q: the next commit would delete %q", w.log, got)
	}
	ref := regexp.MustCompile(`"\$blob": "(..)(..)(.{60})"`)
	files := w.Run("ls-tree", "-r", "--name-only", "HEAD", ".jp/conversations")
	for name := range strings.SplitSeq(files, "\n") {
		if !strings.HasSuffix(name, "/events.json") {
			continue
		}
		for _, m := range ref.FindAllStringSubmatch(w.Run("show", "HEAD:"+name), -1) {
			blob := fmt.Sprintf(".jp/blobs/%s/%s/%s.blob.gz", m[1], m[2], m[3])
			if _, err := w.Try("cat-file", "-e", "HEAD:"+blob); err != nil {
				w.t.Fatalf("%q: %s dangles", w.log, blob)
			}
		}
	}
}
