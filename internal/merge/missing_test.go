package merge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

const blendID = events.ID(17800000000)

// A question is a question about a repository. Its answer is text, for comparison.
type question struct {
	name string
	ask  func(ctx context.Context, repo *gitint.Repo) (string, error)
}

// madeQuestions are about a repository with a finished merge: HEAD^ is the merge.
func madeQuestions(content string) []question {
	at := merge.Place{
		Dir: ".jp", ID: blendID, In: []string{strings.TrimSuffix(blendDir, "/")},
	}
	of := func(ctx context.Context, repo *gitint.Repo) (gitint.Commit, merge.Merge, error) {
		id, err := repo.Resolve(ctx, "HEAD^")
		if err != nil {
			return gitint.Commit{}, merge.Merge{}, err
		}
		parents, err := repo.Parents(ctx, id)
		return gitint.Commit{OID: id, Parents: parents},
			merge.Merge{Repo: repo, Parents: parents, Dirs: []string{".jp"}}, err
	}
	return []question{
		{"files", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			c, m, err := of(ctx, repo)
			if err != nil {
				return "", err
			}
			snap, err := repo.Tree(ctx, c.OID.String())
			if err != nil {
				return "", err
			}
			all, err := m.MergedFiles(ctx, snap)
			return fmt.Sprint(all), err
		}},
		{"contents", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			c, m, err := of(ctx, repo)
			if err != nil {
				return "", err
			}
			snap, err := repo.Tree(ctx, c.OID.String())
			if err != nil {
				return "", err
			}
			all, err := m.Blobs(ctx, snap, []string{content, "README"})
			return fmt.Sprint(all), err
		}},
		{"lost", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			c, _, err := of(ctx, repo)
			if err != nil {
				return "", err
			}
			tip, err := repo.Resolve(ctx, "HEAD")
			if err != nil {
				return "", err
			}
			lost, err := merge.Review{
				Repo: repo, Tips: []gitint.OID{tip}, Finder: gitint.NewDirFinder(workspace.DirName),
			}.Lost(ctx, c)
			return fmt.Sprint(elementsOf(lost), lost.Old), err
		}},
		{"split", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			_, m, err := of(ctx, repo)
			if err != nil {
				return "", err
			}
			sides, err := merge.SidesBetween(ctx, repo, m.Parents[0], m.Parents[1])
			if err != nil {
				return "", err
			}
			is, err := merge.ArchivedApart(ctx, repo, sides, merge.Place{
				Dir: ".jp", ID: blendID, In: []string{".jp/conversations/.archive/17800000000-x"},
			})
			if err != nil {
				return "", err
			}
			split, err := merge.SplitBetween(ctx, repo, sides, at)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(is, split.Ours, split.Base, split.Theirs), nil
		}},
		{"committed", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			is, err := merge.Committed(ctx, repo, ".jp", blendID+1)
			return fmt.Sprint(is), err
		}},
	}
}

// stoppedQuestions are asked while git waits: a clone without drivers has the stages of a merge, or
// of a similar operation.
func stoppedQuestions() []question {
	at := merge.Place{
		Dir: ".jp", ID: blendID, In: []string{strings.TrimSuffix(blendDir, "/")},
	}
	return []question{
		{"cases", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			all, err := merge.Cases(ctx, repo, ".jp")
			return fmt.Sprint(all), err
		}},
		{"doubled", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			all, err := merge.Doubled(ctx, repo, []string{".jp"})
			return fmt.Sprint(all), err
		}},
		{"apart", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			all, err := merge.Apart(ctx, repo, ".jp")
			return fmt.Sprint(all), err
		}},
		{"split", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			split, err := merge.SplitOf(ctx, repo, at)
			if err != nil || split == nil {
				return "none", err
			}
			return fmt.Sprint(split.Ours, split.Base, split.Theirs, split.Waits), nil
		}},
		{"stashed", func(ctx context.Context, repo *gitint.Repo) (string, error) {
			return merge.Stashed(ctx, repo, ".jp", blendID)
		}},
		{"name", merge.NameOf},
		{"resolved", resolveAll},
	}
}

// resolveAll merges everything that is unmerged, and returns the resulting working tree.
func resolveAll(ctx context.Context, repo *gitint.Repo) (string, error) {
	w, err := workspace.Open(repo.Root(), workspace.Env{
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Unix(0, 0) },
	})
	if err != nil {
		return "", err
	}
	defer w.Close() // it only held a lock
	r := merge.Resolver{
		Repo: repo, Workspace: w, Dir: ".jp", Now: func() time.Time { return time.Unix(0, 0) },
	}
	cases, err := merge.Cases(ctx, repo, ".jp")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range cases {
		asks, _, err := r.Merge(ctx, c)
		if err == nil && asks != nil {
			err = r.Decide(ctx, *asks, slices.Repeat([]merge.Decision{{Answer: merge.Both}},
				len(asks.Record.Conflicts)))
		}
		if err != nil {
			return "", err
		}
		data, err := os.ReadFile(filepath.Join(repo.Root(), c.Path))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%s\n%s\n", c.Path, data)
	}
	return text.String(), nil
}

// twoSides creates a repository in which both sides change every file of a conversation, and
// returns the path of its blob.
func twoSides(t *testing.T) (*gittest.Repository, string) {
	t.Helper()
	const delta = `,` + "\n" + `{"timestamp":"2026-01-0%d 00:00:00.0","type":"config_delta","delta":{"a":%[1]d}}`
	content := []byte("a content of some length")
	blob := path.Join(".jp", blobs.Dir, blobs.RefTo(content).Hash.Path())
	first, ours, theirs := turnOf("01", "First?"), turnOf("02", "Ours?"), turnOf("03", "Theirs?")
	r := gittest.Repo(t)
	side := func(message, metadata, config string, turns ...string) {
		r.WriteFile(blendDir+"events.json", streamOf(turns...))
		r.WriteFile(blendDir+"metadata.json", metadata)
		r.WriteFile(blendDir+"base_config.json", config)
		r.Commit(message)
	}
	r.WriteFile("README", "x")
	r.WriteFile(".gitattributes", ".jp/** -merge\n")
	encoded := blobs.Encode(content)
	r.WriteFile(blob, string(encoded))
	side("base", metadataOf("01", `"c":3`), `{"k":1}`, first)
	r.Run("checkout", "-q", "-b", "theirs")
	encoded[9] = 3 // the operating system that packed it
	r.WriteFile(blob, string(encoded))
	side("theirs", metadataOf("03", `"b":2`), `{"k":2}`,
		strings.Replace(first, "yes", "theirs", 1), theirs+fmt.Sprintf(delta, 4))
	r.Run("checkout", "-q", "main")
	encoded[9] = 7
	r.WriteFile(blob, string(encoded))
	side("ours", metadataOf("02", `"a":1`), `{"k":3}`,
		strings.Replace(first, "yes", "ours", 1), ours+fmt.Sprintf(delta, 5))
	return r, blob
}

// TestEveryObjectMayBeMissing: in a repository that has lost any single object each question is
// answered as in a complete one, or not at all. If an unreadable file were taken for a missing one,
// the content of a side would be lost. Without a commit no base is certain, and nothing counts as
// removed.
func TestEveryObjectMayBeMissing(t *testing.T) {
	t.Run("made", func(t *testing.T) {
		t.Parallel()
		r, content := twoSides(t)
		r.Run("merge", "-q", "--no-commit", "-X", "ours", "theirs")
		damaged := blobs.Encode([]byte("another"))
		r.WriteFile(content, string(damaged))
		r.Run("add", "-A")
		r.With("GIT_COMMITTER_DATE=2027-01-01T00:00:00Z").Run("commit", "-q", "-m", "merged")
		r.WriteFile("README", "y")
		r.Commit("on")
		eachObjectMissing(t, r, madeQuestions(content))
	})
	for name, stop := range map[string][]string{
		"merge":  {"merge", "theirs"},
		"squash": {"merge", "--squash", "theirs"},
		"stash":  {"stash", "pop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := twoSides(t)
			if name == "stash" {
				r.Run("checkout", "-q", "theirs")
				r.Run("reset", "-q", "--soft", "HEAD^")
				r.Run("stash", "-q")
				r.Run("checkout", "-q", "main")
			}
			if _, err := r.Try(stop...); err == nil {
				t.Fatal("git does not stop")
			}
			eachObjectMissing(t, r, stoppedQuestions())
		})
	}
}

func eachObjectMissing(t *testing.T, r *gittest.Repository, questions []question) {
	t.Helper()
	objects := strings.Split(r.Run("cat-file", "--batch-all-objects", "--batch-check"), "\n")
	if len(objects) < 10 {
		t.Fatalf("%d objects", len(objects))
	}
	want, errs := answers(t, copyOf(t, r), questions)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, object := range objects {
		id, kind, _ := strings.Cut(object, " ")
		if strings.HasPrefix(kind, "commit") {
			continue
		}
		lacking := copyOf(t, r)
		lacking.Remove(path.Join(".git/objects", id[:2], id[2:]))
		got, errs := answers(t, lacking, questions)
		for i, q := range questions {
			if errs[i] != nil {
				refused++
			} else if got[i] != want[i] {
				t.Errorf("%s, without %s, is\n%s\nfor\n%s", q.name,
					cmp.Or(what(t, r, id), id), got[i], want[i])
			}
		}
	}
	if refused < len(questions) {
		t.Errorf("only %d of %d questions were refused", refused, len(objects)*len(questions))
	}
}

// what describes an object as git lists it.
func what(t *testing.T, r *gittest.Repository, id string) string {
	t.Helper()
	for line := range strings.Lines(r.Run("rev-list", "--objects", "--all", "--reflog")) {
		if strings.HasPrefix(line, id) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func copyOf(t *testing.T, r *gittest.Repository) *gittest.Repository {
	t.Helper()
	dir := filepath.Join(gittest.TempDir(t), "repo")
	if err := os.CopyFS(dir, os.DirFS(r.Dir)); err != nil {
		t.Fatal(err)
	}
	return gittest.At(t, dir)
}

// answers asks one question after the other. Only the last may write.
func answers(
	t *testing.T, r *gittest.Repository, questions []question,
) (all []string, errs []error) {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // what was asked has been answered
	for _, q := range questions {
		text, err := q.ask(t.Context(), repo)
		all, errs = append(all, text), append(errs, err)
	}
	return all, errs
}
