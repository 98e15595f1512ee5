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

// lazily returns a lazy clone of a repository that has contents, and where the repository is.
func lazily(t *testing.T, contents ...string) (repo *gitint.Repo, origin string, refs []blobs.Ref) {
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
	repo, err := gitint.Clone(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env},
		gitint.CloneRequest{URL: "file://" + r.Dir, Dir: clone, Pattern: "!**/.jp/blobs/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo, r.Dir, refs
}

// counting is a fetch that notes how many blobs each request is about.
func counting(requests *[]int) ondemand.Fetch {
	return ondemand.Fetch{Begin: func(n int, _ int64) func() {
		*requests = append(*requests, n)
		return func() {}
	}}
}

func TestWhatIsExpectedComesTogether(t *testing.T) {
	repo, _, refs := lazily(t, "one", "two", "three")
	var requests []int
	s := ondemand.New(repo, dir, counting(&requests))
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
	repo, origin, refs := lazily(t, "one", "two", "three")
	if err := os.Rename(origin, origin+"-gone"); err != nil {
		t.Fatal(err)
	}
	var requests []int
	s := ondemand.New(repo, dir, counting(&requests))
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
	repo, _, refs := lazily(t, "one")
	var requests []int
	f := counting(&requests)
	f.Offline = true
	_, err := ondemand.New(repo, dir, f).File(refs[0])
	if !errors.Is(err, ondemand.ErrOffline) || len(requests) > 0 {
		t.Errorf("got %v, requests %v", err, requests)
	}
	if err := ondemand.BringAll(t.Context(), repo, f); !errors.Is(err, ondemand.ErrOffline) {
		t.Errorf("all: %v", err)
	}
	if err := ondemand.BringAll(t.Context(), repo, ondemand.Fetch{}); err != nil {
		t.Error(err)
	}
	if _, err := ondemand.New(repo, dir, f).File(refs[0]); err != nil {
		t.Errorf("what is here: %v", err)
	}
}
