package merge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/regular"
)

func opened(t *testing.T, r *gittest.Repository) *gitint.Repo {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}

// TestWhatAPersonWroteStays: neither fixing a merge nor recovering its losses overwrites a file
// that the user has changed since.
func TestWhatAPersonWroteStays(t *testing.T) {
	first, ours, theirs := turnOf("01", "First?"), turnOf("02", "Ours?"), turnOf("03", "Theirs?")
	name, written := blendDir+"events.json", streamOf(first, ours, theirs, turnOf("04", "Mine?"))
	r := gittest.Repo(t)
	commit := func(stream string) {
		r.WriteFile(name, stream)
		r.WriteFile(blendDir+"metadata.json", metadataOf("01", `"c":3`))
		r.Commit("change")
	}
	commit(streamOf(first))
	r.Run("checkout", "-q", "-b", "theirs")
	commit(streamOf(first, theirs))
	r.Run("checkout", "-q", "main")
	commit(streamOf(first, ours))
	repo := opened(t, r)

	r.WriteFile(name, written)
	index, err := repo.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mended, err := merge.Fix(t.Context(), repo, index, []merge.MergedFile{{
		Path: name, Outcome: merge.TextMerged, Data: []byte(streamOf(first, ours, theirs)),
	}})
	if err != nil || len(mended) > 0 || r.ReadFile(name) != written {
		t.Errorf("mended %v, %v: %s", mended, err, r.ReadFile(name))
	}
	r.Run("checkout", "-q", "-f", "main")

	if _, err := r.Try("merge", "-q", "theirs"); err == nil {
		t.Fatal("the merge did not stop")
	}
	r.WriteFile(name, written)
	cases, err := merge.Cases(t.Context(), repo, ".jp")
	if err != nil || len(cases) == 0 || cases[0].Path != name {
		t.Fatalf("cases %v, %v", cases, err)
	}
	_, _, err = merge.Resolver{Repo: repo, Dir: ".jp"}.Merge(t.Context(), cases[0])
	if !errors.Is(err, merge.ErrEdited) || r.ReadFile(name) != written {
		t.Errorf("merged over what a person wrote: %v", err)
	}
	r.Remove(name)
	r.WriteFile(name+"/in-its-place", "x")
	_, _, err = merge.Resolver{Repo: repo, Dir: ".jp"}.Merge(t.Context(), cases[0])
	if !errors.Is(err, regular.ErrNot) || errors.Is(err, merge.ErrEdited) {
		t.Errorf("an unreadable file: %v", err)
	}
}

// TestNoteOfAnotherMerge: decisions about one merge do not apply to another.
func TestNoteOfAnotherMerge(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("README", "x")
	one := r.Commit("one")
	r.WriteFile("README", "y")
	other := r.Commit("other")
	r.WriteFile(".git/jp/resolved", one+"\njp-c17800000000\n")
	for head, want := range map[string]int{one: 1, other: 0} {
		id, err := gitint.ParseOID(head)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := merge.DecidedIn(opened(t, r), []gitint.OID{id})
		if err != nil || len(ids) != want {
			t.Errorf("decided %v, %v; want %d", ids, err, want)
		}
	}
}

// TestNoteOfAnAbortedMerge: decisions about a merge do not apply once it was begun again, not even
// after it is committed.
func TestNoteOfAnAbortedMerge(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("README", "x")
	head := r.Commit("one")
	id, err := gitint.ParseOID(head)
	if err != nil {
		t.Fatal(err)
	}
	r.WriteFile(".git/jp/resolved", head+"\njp-c17800000000\n")
	for _, begun := range []struct {
		after time.Duration
		want  int
	}{{-time.Minute, 1}, {time.Minute, 0}} {
		r.WriteFile(".git/MERGE_HEAD", head+"\n")
		at := time.Now().Add(begun.after)
		if err := os.Chtimes(filepath.Join(r.Dir, ".git/MERGE_HEAD"), at, at); err != nil {
			t.Fatal(err)
		}
		for _, state := range []string{"waits", "is committed"} {
			ids, err := merge.DecidedIn(opened(t, r), []gitint.OID{id})
			if err != nil || len(ids) != begun.want {
				t.Errorf("begun %v later, %s: decided %v, %v", begun.after, state, ids, err)
			}
			r.Remove(".git/MERGE_HEAD")
		}
	}
}

// TestBlobOfTheWrongSide: if the sides' versions of a blob differ they are decoded, and the intact
// one is taken.
func TestBlobOfTheWrongSide(t *testing.T) {
	hash, whole := blobs.Sum([]byte("content")), string(blobs.Encode([]byte("content")))
	name := ".jp/blobs/" + hash.Path()
	r := gittest.Repo(t)
	r.WriteFile(name, whole)
	good := r.Commit("whole")
	r.WriteFile(name, strings.Repeat("damaged ", 9))
	bad := r.Commit("damaged")
	repo := opened(t, r)
	m := merge.Merge{Repo: repo, Dirs: []string{".jp"}}
	for _, rev := range []string{bad, good} {
		id, err := gitint.ParseOID(rev)
		if err != nil {
			t.Fatal(err)
		}
		m.Parents = append(m.Parents, id)
	}
	snap, err := repo.Tree(t.Context(), bad)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Blobs(t.Context(), snap, []string{name})
	if err != nil || len(all) != 1 || string(all[0].Data) != whole {
		t.Errorf("found %v, %v", all, err)
	}
}
