package ondemand_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/ondemand"
)

const dir = ".jp/blobs"

// lazily returns a lazy clone of a repository that has contents, and the path of the repository. It
// calls fetch before it fetches.
func lazily(
	t *testing.T, fetch func(int, int64) error, contents ...string,
) (repo *gitint.Repo, origin string, refs []blobs.Ref) {
	t.Helper()
	r := gittest.Repo(t)
	for _, c := range contents {
		ref := blobs.RefTo([]byte(c))
		r.WriteFile(dir+"/"+ref.Hash.Path(), string(blobs.Encode([]byte(c))))
		refs = append(refs, ref)
	}
	r.Commit("blobs")
	r.Run("config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(gittest.TempDir(t), "clone")
	repo, err := gitint.Clone(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env, Fetch: fetch},
		gitint.CloneRequest{URL: "file://" + r.Dir, Dir: clone, Pattern: "!**/.jp/blobs/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo, r.Dir, refs
}

// noting records how many blobs each request is about, and answers with an error.
func noting(requests *[]int, err error) func(int, int64) error {
	return func(n int, _ int64) error {
		*requests = append(*requests, n)
		return err
	}
}

func TestWhatIsExpectedComesTogether(t *testing.T) {
	var requests []int
	repo, _, refs := lazily(t, noting(&requests, nil), "one", "two", "three")
	s := ondemand.New(repo, dir)
	if !s.Has(refs[0].Hash) || s.Has(blobs.Sum([]byte("none"))) {
		t.Error("presence is not what HEAD names")
	}
	none := blobs.RefTo([]byte("none"))
	s.Expect(slices.Values(append(refs[:2:2], none)))
	if _, err := s.File(none); !errors.Is(err, fs.ErrNotExist) || len(requests) > 0 {
		t.Errorf("what no tree names: %v, requests %v", err, requests)
	}
	for _, ref := range refs {
		gz, err := s.File(ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := blobs.Decode(gz, ref); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(requests, []int{2, 1}) {
		t.Errorf("requests for %v blobs, want the two that were expected, then the other", requests)
	}
	if n, _, _ := s.Absent(); n > 0 {
		t.Errorf("%d are absent", n)
	}
}

func TestWhatFailedIsNotAskedForAgain(t *testing.T) {
	var requests []int
	repo, origin, refs := lazily(t, noting(&requests, nil), "one", "two", "three")
	if err := os.Rename(origin, origin+"-gone"); err != nil {
		t.Fatal(err)
	}
	s := ondemand.New(repo, dir)
	for range 2 {
		s.Expect(slices.Values(refs))
		for _, ref := range refs {
			_, err := s.File(ref)
			if _, ok := errors.AsType[*blobs.NotHereError](err); !ok || blobs.IsLost(err) {
				t.Errorf("got %v", err)
			}
		}
	}
	if !slices.Equal(requests, []int{3}) {
		t.Errorf("requests for %v blobs", requests)
	}
	n, size, err := s.Absent()
	if n != 3 || size != 11 || err == nil {
		t.Errorf("absent: %d, %d bytes, %v", n, size, err)
	}
}

func TestNothingIsFetchedOffline(t *testing.T) {
	var requests []int
	offline := ondemand.ErrOffline
	repo, _, refs := lazily(t, func(n int, bytes int64) error {
		return noting(&requests, offline)(n, bytes)
	}, "one")
	_, err := ondemand.New(repo, dir).File(refs[0])
	if !errors.Is(err, ondemand.ErrOffline) || len(requests) != 1 {
		t.Errorf("got %v, requests %v", err, requests)
	}
	if err := ondemand.BringAll(t.Context(), repo); !errors.Is(err, ondemand.ErrOffline) {
		t.Errorf("all: %v", err)
	}
	offline = nil
	if err := ondemand.BringAll(t.Context(), repo); err != nil {
		t.Error(err)
	}
	offline = ondemand.ErrOffline
	if _, err := ondemand.New(repo, dir).File(refs[0]); err != nil {
		t.Errorf("what is here: %v", err)
	}
}
