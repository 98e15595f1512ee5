package gitint_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// grown returns a repository in which files and directories grew, repacked with some options, and
// all of its objects.
func grown(t *testing.T, repack ...string) (*gittest.Repository, []gitint.OID) {
	t.Helper()
	r := gittest.Template(t, "grown", grow)
	r.Run(append(slices.Clone(repack), "repack", "-q", "-f", "--depth=80", "--window=50")...)
	r.WriteFile("last", "loose")
	r.Commit("last")
	return r, objectsOf(t, r)
}

// grow makes a history of files that grow.
func grow(r *gittest.Repository) {
	random := rand.New(rand.NewPCG(3, 4)) // only a sample
	var text strings.Builder
	for n := range 30 {
		for range 40 {
			fmt.Fprintf(&text, "line %d of %d\n", random.Uint32(), n)
		}
		r.WriteFile("grows", text.String())
		r.WriteFile(fmt.Sprintf("dir/%d/file", n), fmt.Sprint("content ", n))
		r.WriteFile(fmt.Sprintf("dir/%d/empty", n), "")
		r.Commit(fmt.Sprint("commit ", n))
		if n == 15 {
			r.Run("repack", "-q")
		}
	}
	noise := make([]byte, 60_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	r.WriteFile("noise", string(noise))
	r.Commit("noise")
	r.Run("tag", "-a", "-m", "t", "t")
}

func objectsOf(t *testing.T, r *gittest.Repository) []gitint.OID {
	t.Helper()
	var ids []gitint.OID
	for line := range strings.Lines(r.Run("cat-file", "--batch-all-objects", "--batch-check") + "\n") {
		id, err := gitint.ParseOID(strings.Fields(line)[0])
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// many repeats ids until they are read in bulk.
func many(ids []gitint.OID) []gitint.OID {
	for len(ids) < 300 {
		ids = append(ids, ids...)
	}
	return ids
}

func contents(t *testing.T, repo *gitint.Repo, ids []gitint.OID) (map[gitint.OID][]byte, int) {
	t.Helper()
	found, wrong := make(map[gitint.OID][]byte), 0
	err := repo.ReadObjects(t.Context(), ids, func(i int, content []byte, err error) error {
		if err == nil {
			found[ids[i]] = content
		} else {
			wrong++
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return found, wrong
}

// TestPackedObjects reads complete repositories in this process and compares with git.
func TestPackedObjects(t *testing.T) {
	for name, repack := range map[string][]string{
		"one pack":        {"-c", "pack.compression=9"},
		"stored":          {"-c", "pack.compression=0"},
		"bases by name":   {"-c", "repack.useDeltaBaseOffset=false", "-c", "pack.compression=1"},
		"without changes": {"-c", "core.bigFileThreshold=1k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, all := range []string{"-a", "-d"} {
				r, ids := grown(t, repack...)
				if all == "-a" {
					r.Run(append(slices.Clone(repack), "repack", "-q", "-a", "-d", "-f", "--depth=80")...)
				}
				repo := open(t, r)
				before := repo.Processes()
				found, wrong := contents(t, repo, many(ids))
				// One process for loose objects.
				if n := repo.Processes() - before; n > 1 || wrong > 0 {
					t.Errorf("%s: git was asked %d times, %d objects were not read", all, n, wrong)
				}
				before = repo.Processes()
				sizes, err := repo.ObjectSizes(t.Context(), many(ids))
				if n := repo.Processes() - before; err != nil || n > 0 {
					t.Errorf("%s: git was asked %d times for sizes, %v", all, n, err)
				}
				for i, id := range many(ids) {
					if sizes[i] != int64(len(found[id])) {
						t.Errorf("%s: size %d, want %d", id, sizes[i], len(found[id]))
					}
				}
				for _, id := range ids {
					if want, err := repo.ReadObject(t.Context(), id, 0); err != nil || !bytes.Equal(found[id], want) {
						t.Errorf("%s: got %d bytes, want %d, %v", id, len(found[id]), len(want), err)
					}
				}
				if missing, err := repo.HasObject(t.Context(), many(append(ids, gitint.OID{}))); err != nil ||
					len(missing) == 0 || !missing[0].IsZero() {
					t.Errorf("missing: %v, %v", missing, err)
				}
			}
		})
	}
}

// TestDamagedPacks changes bytes of a pack and of its index, truncates them, and removes them.
// Objects are read correctly, or refused.
func TestDamagedPacks(t *testing.T) {
	r, ids := grown(t)
	r.Run("repack", "-q", "-a", "-d", "--depth=80")
	whole, _ := contents(t, open(t, r), many(ids))
	names, err := filepath.Glob(r.Path(".git/objects/pack/pack-*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("packs %v, %v", names, err)
	}
	random := rand.New(rand.NewPCG(5, 6)) // which bytes does not matter
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 24 {
			damaged := bytes.Clone(data)
			at := random.IntN(len(data))
			if n < 8 {
				at = n * 3 // the header
			}
			switch n % 4 {
			case 3:
				damaged = damaged[:at]
			default:
				damaged[at] ^= byte(1 << random.IntN(8))
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			found, _ := contents(t, open(t, r), many(ids))
			for id, content := range found {
				if !bytes.Equal(content, whole[id]) {
					t.Errorf("%s damaged at %d: object %s is another", filepath.Base(name), at, id)
				}
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if found, wrong := contents(t, open(t, r), many(ids)); len(found) != len(ids) || wrong > 0 {
		t.Errorf("whole again: %d objects of %d", len(found), len(ids))
	}
}

// TestCloseWhileReading closes packs that others read: they stay open until these are done, and are
// opened again. The race detector finds a lock that is missing.
func TestCloseWhileReading(t *testing.T) {
	r, ids := grown(t)
	repo := open(t, r)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 4 {
				if _, wrong := contents(t, repo, many(ids)); wrong > 0 {
					t.Errorf("%d objects cannot be read", wrong)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		readers.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		default:
			if err := repo.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPacksThatGo removes a pack of an open repository: it is not used any more, and its
// replacement is found.
func TestPacksThatGo(t *testing.T) {
	r, ids := grown(t)
	repo := open(t, r)
	if _, wrong := contents(t, repo, many(ids)); wrong > 0 {
		t.Fatalf("%d objects cannot be read", wrong)
	}
	r.Run("repack", "-q", "-a", "-d", "-f")
	if _, wrong := contents(t, repo, many(ids)); wrong > 0 {
		t.Errorf("repacked: %d objects cannot be read", wrong)
	}
	lost, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	r.Run("update-ref", "refs/heads/other", "HEAD~1")
	r.Run("symbolic-ref", "HEAD", "refs/heads/other")
	r.Run("branch", "-D", "main")
	r.Run("tag", "-d", "t")
	r.Run("reflog", "expire", "--expire=now", "--all")
	r.Run("repack", "-q", "-a", "-d")
	r.Run("prune", "--expire=now")
	missing, err := repo.HasObject(t.Context(), many([]gitint.OID{lost}))
	if err != nil || len(missing) == 0 {
		t.Errorf("after it was collected, missing: %v, %v", missing, err)
	}
	if found, _ := contents(t, repo, many([]gitint.OID{lost})); len(found) > 0 {
		t.Error("a commit was read that is gone")
	}
}
