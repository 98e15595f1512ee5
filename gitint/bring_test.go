package gitint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// lazyClone returns a repository with n blobs, a clone that has none of them, and their ids.
func lazyClone(t *testing.T, n int) (origin, clone *gittest.Repository, ids []gitint.OID) {
	t.Helper()
	origin = gittest.Repo(t)
	for i := range n {
		origin.WriteFile(fmt.Sprintf(".jp/blobs/%02d/00/x.blob.gz", i), fmt.Sprint("blob ", i))
	}
	origin.WriteFile("code.go", "package code\n")
	origin.Commit("all")
	origin.Run("config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(gittest.TempDir(t), "clone")
	r, err := gitint.Clone(t.Context(), gitint.Options{Dir: origin.Dir, Env: origin.Env},
		gitint.CloneRequest{URL: "file://" + origin.Dir, Dir: dir, Pattern: "!**/.jp/blobs/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	clone = gittest.At(t, dir)
	for i := range n {
		id, err := gitint.ParseOID(clone.Run("rev-parse",
			fmt.Sprintf("HEAD:.jp/blobs/%02d/00/x.blob.gz", i)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return origin, clone, ids
}

func promisorPacks(t *testing.T, r *gittest.Repository) int {
	t.Helper()
	all, err := filepath.Glob(r.Path(".git/objects/pack/*.promisor"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestCloneLeavesOutAndBringFetchesAtOnce(t *testing.T) {
	_, clone, ids := lazyClone(t, 5)
	if _, err := os.Lstat(clone.Path(".jp")); !os.IsNotExist(err) {
		t.Errorf(".jp is in the working tree: %v", err)
	}
	if got := clone.ReadFile("code.go"); got != "package code\n" {
		t.Errorf("code.go is %q", got)
	}
	repo := open(t, clone)
	if lazy, err := repo.Lazy(t.Context()); !lazy || err != nil {
		t.Fatalf("lazy: %v, %v", lazy, err)
	}
	missing, err := repo.HasObject(t.Context(), ids)
	if err != nil || len(missing) != 5 {
		t.Fatalf("missing before: %v, %v", missing, err)
	}
	refs, packs := clone.Run("for-each-ref"), promisorPacks(t, clone)
	if err := repo.Bring(t.Context(), append(ids, ids[0]), 0); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		data, err := repo.ReadObject(t.Context(), id, 0)
		if err != nil || string(data) != fmt.Sprint("blob ", i) {
			t.Errorf("blob %d: %q, %v", i, data, err)
		}
	}
	if n := promisorPacks(t, clone) - packs; n != 1 {
		t.Errorf("%d packs from one request", n)
	}
	if now := clone.Run("for-each-ref"); now != refs {
		t.Errorf("refs changed: %s", now)
	}
	if _, err := os.Stat(clone.Path(".git/FETCH_HEAD")); !os.IsNotExist(err) {
		t.Errorf("FETCH_HEAD: %v", err)
	}
	before := repo.Processes()
	if err := repo.Bring(t.Context(), ids, 0); err != nil || repo.Processes() != before {
		t.Errorf("asked again: %v, %d processes", err, repo.Processes()-before)
	}
}

func TestBringLeavesOutWhatTheRemoteLacks(t *testing.T) {
	for _, row := range []struct{ lacks, of int }{{1, 24}, {20, 24}, {40, 96}} {
		lacks := row.lacks
		origin, clone, ids := lazyClone(t, row.of)
		for _, id := range ids[:lacks] {
			name := id.String()
			if err := os.Remove(origin.Path(".git/objects/" + name[:2] + "/" + name[2:])); err != nil {
				t.Fatal(err)
			}
		}
		repo := open(t, clone)
		err := repo.Bring(t.Context(), ids, 0)
		failed, ok := errors.AsType[*gitint.FetchError](err)
		if !ok || failed.Remote != "origin" {
			t.Fatalf("got %v", err)
		}
		missing, err := repo.HasObject(t.Context(), ids)
		slices.SortFunc(ids[:lacks], gitint.OID.Compare)
		slices.SortFunc(missing, gitint.OID.Compare)
		if err != nil || !slices.Equal(missing, ids[:lacks]) {
			t.Errorf("%d of %d are absent; missing: %d, %v", lacks, row.of, len(missing), err)
		}
	}
}

func TestBringFromARemoteThatIsGone(t *testing.T) {
	origin, clone, ids := lazyClone(t, 3)
	if err := os.Rename(origin.Dir, origin.Dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	err := open(t, clone).Bring(t.Context(), ids, 0)
	failed, ok := errors.AsType[*gitint.FetchError](err)
	if !ok || strings.Contains(failed.Error(), "\n") || failed.Objects != 3 {
		t.Fatalf("got %v", err)
	}
}

// TestFetchErrorSaysWhy has what git prints when a remote does not answer. A line that says only
// that nothing came is the last resort.
func TestFetchErrorSaysWhy(t *testing.T) {
	const nothing = "fatal: Could not read from remote repository.\n\n" +
		"Please make sure you have the correct access rights\nand the repository exists."
	for _, c := range []struct{ stderr, want string }{
		{
			"fatal: unable to connect to h:\nh[0: 127.0.0.1]: errno=Connection refused",
			"unable to connect to h: h[0: 127.0.0.1]: errno=Connection refused",
		},
		{
			"Warning: Permanently added 'h' to the list.\nPermission denied (publickey).\n" + nothing,
			"Permission denied (publickey).",
		},
		{
			"Authorized use only\nssh: connect to host h: No route to host\n" + nothing,
			"ssh: connect to host h: No route to host",
		},
		{"remote: ERROR: no such project\nremote: \n" + nothing, "remote: ERROR: no such project"},
		{"Warning: Permanently added 'h'\n" + nothing, "Could not read from remote repository."},
		{
			"fetch-pack: unexpected disconnect\nfatal: early EOF\nfatal: invalid index-pack output",
			"fetch-pack: unexpected disconnect",
		},
		{"error: RPC failed; curl 18\nfatal: early EOF", "error: RPC failed; curl 18"},
	} {
		err := &gitint.FetchError{
			Remote: "origin", Objects: 2, Err: &gitint.ExitError{Stderr: c.stderr},
		}
		if got := err.Error(); got != "fetch 2 objects from origin: "+c.want {
			t.Errorf("%q: got %q", c.stderr, got)
		}
	}
}

func TestPacksThatCannotBeJoinedAreNoFault(t *testing.T) {
	const n = 52
	_, clone, ids := lazyClone(t, n)
	clone.WriteFile(".git/objects/pack/pack-0.promisor", "")
	clone.WriteFile(".git/objects/pack/pack-0.pack", "")
	clone.WriteFile(".git/objects/pack/pack-0.idx", "as one that another process removes")
	repo := open(t, clone)
	for _, id := range ids {
		if err := repo.Bring(t.Context(), []gitint.OID{id}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyPacksAreJoined(t *testing.T) {
	const n = 53
	_, clone, ids := lazyClone(t, n)
	repo := open(t, clone)
	for _, id := range ids {
		if err := repo.Bring(t.Context(), []gitint.OID{id}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := promisorPacks(t, clone); got > 10 {
		t.Errorf("%d packs", got)
	}
	if missing, err := repo.HasObject(t.Context(), ids); err != nil || len(missing) > 0 {
		t.Errorf("missing: %v, %v", missing, err)
	}
	clone.Run("fsck", "--full")
	left, _ := filepath.Glob(clone.Path(".git/objects/pack/tmp_*"))
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPutInUndoesLeaveOut(t *testing.T) {
	const pattern = "!**/.jp/blobs/"
	r := gittest.Repo(t)
	r.WriteFile(".jp/blobs/aa/00/x.blob.gz", "blob")
	r.WriteFile("code.go", "package code\n")
	r.Commit("all")
	before := r.Run("config", "--list", "--local")
	repo := open(t, r)
	if err := repo.LeaveOut(t.Context(), pattern); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(r.Path(".jp")); !os.IsNotExist(err) {
		t.Errorf(".jp is in the working tree: %v", err)
	}
	if lazy, err := repo.Lazy(t.Context()); !lazy || err != nil {
		t.Errorf("lazy: %v, %v", lazy, err)
	}
	if !gitint.MayBeLazy(gitint.Options{Env: r.Env}, r.Dir) {
		t.Error("is not seen without a process")
	}
	r.WriteFile(".jp/blobs/bb/00/y.blob.gz", "new")
	r.Run("add", ".")
	if got := r.Run("status", "--porcelain"); got != "" {
		t.Errorf("status while it is lazy: %s", got)
	}
	if err := os.Remove(r.Path(".jp/blobs/bb/00/y.blob.gz")); err != nil {
		t.Fatal(err)
	}
	if err := repo.PutIn(t.Context(), pattern); err != nil {
		t.Fatal(err)
	}
	if lazy, err := repo.Lazy(t.Context()); lazy || err != nil {
		t.Errorf("lazy afterwards: %v, %v", lazy, err)
	}
	if got := r.ReadFile(".jp/blobs/aa/00/x.blob.gz"); got != "blob" {
		t.Errorf("the blob is %q", got)
	}
	if got := r.Run("status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
	after := r.Run("config", "--list", "--local")
	for _, line := range strings.Split(after, "\n") {
		if !strings.Contains(before, line) && !strings.HasPrefix(line, "extensions.worktreeconfig") &&
			line != "core.repositoryformatversion=1" {
			t.Errorf("left in the configuration: %s", line)
		}
	}
}
