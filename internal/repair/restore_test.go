package repair_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A site is a repository with a workspace at its root, and a place for user-local data.
type site struct {
	*gittest.Repository

	t    testing.TB
	data string
}

const siteID = "otvo8"

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{gittest.Repo(t), t, gittest.TempDir(t)}
	s.WriteFile(".jp/.id", siteID)
	s.WriteFile("README", "hello")
	s.Commit("begin")
	return s
}

// sources opens the repository and the workspace.
func (s *site) sources() repair.Sources {
	s.t.Helper()
	repo, err := gitint.Open(s.t.Context(), gitint.Options{Dir: s.Dir, Env: s.Env})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { repo.Close() })
	w, err := workspace.Open(s.Dir, s.env())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { w.Close() })
	return repair.Sources{Workspace: w, Repo: repo}
}

func (s *site) env() workspace.Env {
	return workspace.Env{
		Getenv: func(name string) string {
			if name == "JP_USER_DATA_DIR" || name == "XDG_DATA_HOME" {
				return s.data
			}
			return ""
		},
		Now: time.Now, Home: s.data, Dir: s.Dir, GOOS: "linux",
	}
}

// blobPath returns the path of a blob from the root of the working tree.
func blobPath(content string) string {
	return ".jp/blobs/" + blobs.Sum([]byte(content)).Path()
}

func (s *site) writeBlob(content string) {
	s.WriteFile(blobPath(content), string(blobs.Encode([]byte(content))))
}

func lostOf(content string, in ...events.ID) repair.Lost {
	return repair.Lost{Hash: blobs.Sum([]byte(content)), Size: int64(len(content)), In: in}
}

// lfsPointer returns the Git LFS pointer for a file, and the file's name in the store of Git LFS.
func lfsPointer(file []byte) (pointer, name string) {
	oid := fmt.Sprintf("%x", sha256.Sum256(file))
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n",
		oid, len(file)), filepath.Join("lfs", "objects", oid[:2], oid[2:4], oid)
}

const secret = "what was lost"

// TestRestoreFromEachPlace puts content into a single place, and expects it to be restored from
// there.
func TestRestoreFromEachPlace(t *testing.T) {
	const id = 17000000000
	for _, test := range []struct {
		name  string
		put   string
		place repair.Place
	}{
		{"an older commit", "older", repair.PlaceCommit},
		{"HEAD", "head", repair.PlaceCommit},
		{"the other parent of a merge", "parent", repair.PlaceCommit},
		{"a reflog", "reflog", repair.PlaceCommit},
		{"the stash", "stash", repair.PlaceCommit},
		{"a ref of no branch", "ref", repair.PlaceCommit},
		{"another directory", "moved", repair.PlaceCommit},
		{"behind a damaged version", "behind", repair.PlaceCommit},
		{"the index", "index", repair.PlaceIndex},
		{"another worktree", "worktree", repair.PlaceStore},
		{"another workspace of the working tree", "nested", repair.PlaceStore},
		{"another workspace of another worktree", "worktree-nested", repair.PlaceStore},
		{"a conversation of another workspace", "nested-stream", repair.PlaceStream},
		{"the index of another worktree", "worktree-index", repair.PlaceIndex},
		{"the user-local store", "user-local", repair.PlaceStore},
		{"the quarantine", "quarantine", repair.PlaceQuarantine},
		{"a copy of a compaction", "compacted", repair.PlaceQuarantine},
		{"Git LFS", "lfs", repair.PlaceLFS},
		{"an older version of the conversation", "stream", repair.PlaceStream},
		{"the user's copy of the conversation", "copy", repair.PlaceStream},
		{"what jp put away", "trash", repair.PlaceStream},
		{"nowhere", "nowhere", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(test.put, id)
			src := s.sources()
			lost := []repair.Lost{lostOf(secret, events.ID(id))}
			before := tree(t, s.Dir)
			found, err := repair.Search(t.Context(), src, lost)
			if err != nil {
				t.Fatal(err)
			}
			if changed := differences(before, tree(t, s.Dir)); changed != "" {
				t.Errorf("a search has changed %s", changed)
			}
			checkFound(t, found, test.place)
			brought, err := repair.Bring(t.Context(), src, src.Workspace.Blobs(), found.Finds)
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, brought, test.place)
			if _, err := repair.Restore(t.Context(), src, src.Workspace.Blobs(), lost); err != nil {
				t.Fatal(err)
			}
			got, err := src.Workspace.Blobs().Read(blobs.RefTo([]byte(secret)))
			if (err == nil) != (test.place != "") || err == nil && string(got) != secret {
				t.Errorf("the store has %q, %v", got, err)
			}
		})
	}
}

func checkFound(t *testing.T, found *repair.Found, place repair.Place) {
	t.Helper()
	if place == "" {
		if len(found.Finds) > 0 {
			t.Errorf("found %+v", found.Finds)
		}
		return
	}
	if len(found.Finds) != 1 || len(found.Left) > 0 || found.Finds[0].Place != place {
		t.Fatalf("got %+v, want one find in %s", found, place)
	}
	if f := found.Finds[0]; f.Ref != blobs.RefTo([]byte(secret)) || f.Where == "" {
		t.Errorf("got %+v", f)
	}
}

func differences(a, b map[string]string) string {
	for name, data := range b {
		if a[name] != data {
			return name
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			return name
		}
	}
	return ""
}

// put puts the secret into one place of a site, and nowhere else.
func (s *site) put(where string, id int) {
	s.t.Helper()
	gz := blobs.Encode([]byte(secret))
	drop := func() {
		s.Remove(blobPath(secret))
		s.Commit("drop")
	}
	userLocal := filepath.Join(s.data, "workspace", "repo-"+siteID)
	switch where {
	case "older":
		s.writeBlob(secret)
		s.Commit("keep")
		drop()
		s.Run("commit", "-q", "--allow-empty", "-m", "on")
	case "head":
		s.writeBlob(secret)
		s.Commit("keep")
		s.Run("rm", "-q", blobPath(secret))
	case "parent":
		s.writeBlob(secret)
		s.Commit("keep")
		s.Run("checkout", "-q", "-b", "side")
		s.Run("commit", "-q", "--allow-empty", "-m", "aside")
		s.Run("checkout", "-q", "main")
		drop()
		s.Run("merge", "-q", "-s", "ours", "-m", "merge", "side")
	case "reflog":
		s.writeBlob(secret)
		s.Commit("keep")
		s.Run("reset", "-q", "--hard", "HEAD~1")
		s.Run("update-ref", "-d", "ORIG_HEAD")
	case "stash":
		s.writeBlob(secret)
		s.Run("add", "-A")
		s.Run("stash", "-q")
		s.Run("update-ref", "-d", "ORIG_HEAD")
	case "ref":
		s.writeBlob(secret)
		s.Run("add", "-A")
		s.Run("update-ref", "refs/own/tree", s.Run("write-tree"))
		s.Run("reset", "-q", "--hard")
	case "moved":
		s.WriteFile("old/"+blobPath(secret), string(gz))
		s.Commit("keep")
		s.Run("rm", "-q", "-r", "old")
		s.Commit("moved")
		s.Run("commit", "-q", "--allow-empty", "-m", "on")
	case "behind":
		s.writeBlob(secret)
		s.Commit("keep")
		s.WriteFile(blobPath(secret), "damaged")
		s.Commit("damage")
		s.Run("commit", "-q", "--allow-empty", "-m", "on")
	case "index":
		s.writeBlob(secret)
		s.Run("add", "-A")
		s.Remove(blobPath(secret))
	case "worktree", "worktree-index":
		other := gittest.At(s.t, s.Dir+"-other")
		s.Run("worktree", "add", "-q", other.Dir)
		other.WriteFile(blobPath(secret), string(gz))
		if where == "worktree-index" {
			other.Run("add", "-A")
			other.Remove(blobPath(secret))
		}
	case "nested":
		s.WriteFile("packages/a/"+blobPath(secret), string(gz))
	case "worktree-nested":
		other := gittest.At(s.t, s.Dir+"-other")
		s.Run("worktree", "add", "-q", other.Dir)
		other.WriteFile("packages/a/"+blobPath(secret), string(gz))
	case "nested-stream":
		writeConversation(s.t, s.Path("packages/a"), id, []string{secret})
	case "user-local":
		place(s.t, filepath.Join(userLocal, "blobs", blobs.Sum([]byte(secret)).Path()), gz)
	case "quarantine":
		place(s.t, s.Path(".git/jp/trash/run/files/"+blobs.Sum([]byte(secret)).String()), gz)
	case "compacted":
		place(s.t, s.Path(".git/jp/trash/x/blobs/"+blobs.Sum([]byte(secret)).Path()), gz)
	case "lfs":
		pointer, name := lfsPointer(gz)
		s.WriteFile(blobPath(secret), pointer)
		place(s.t, s.Path(".git/"+filepath.ToSlash(name)), gz)
	case "stream":
		writeConversation(s.t, s.Dir, id, []string{"other", secret})
		s.Commit("keep")
		s.Run("rm", "-q", "-r", ".jp/conversations")
		s.Commit("drop")
	case "copy":
		writeConversation(s.t, filepath.Join(s.data, "x"), id, []string{secret})
		place(s.t, filepath.Join(userLocal, "conversations"), nil)
		s.move(filepath.Join(s.data, "x", ".jp", "conversations"), filepath.Join(userLocal, "conversations"))
	case "trash":
		writeConversation(s.t, filepath.Join(s.data, "x"), id, []string{secret})
		place(s.t, s.Path(".jp/conversations/.trash"), nil)
		s.move(filepath.Join(s.data, "x", ".jp", "conversations"), s.Path(".jp/conversations/.trash"))
	}
}

// place writes a file anywhere; without data it only creates the directory.
func place(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if data == nil {
		return
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *site) move(from, to string) {
	s.t.Helper()
	if err := os.Rename(from, to); err != nil {
		s.t.Fatal(err)
	}
}

// TestOneSearchForAll checks that the number of processes does not grow with the number of lost
// blobs.
func TestOneSearchForAll(t *testing.T) {
	s := newSite(t)
	var lost []repair.Lost
	for i := range 300 {
		content := fmt.Sprint("content ", i)
		s.writeBlob(content)
		lost = append(lost, lostOf(content))
	}
	s.Commit("keep")
	s.Run("rm", "-q", "-r", ".jp/blobs")
	s.Commit("drop")
	s.Run("commit", "-q", "--allow-empty", "-m", "on")
	processes := func(n int) int {
		src := s.sources()
		found, err := repair.Search(t.Context(), src, lost[:n])
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Finds) != n {
			t.Fatalf("found %d of %d", len(found.Finds), n)
		}
		return src.Repo.Processes()
	}
	// Above some number, one more process reads objects faster than this program.
	if few, many := processes(2), processes(300); many > few+2 {
		t.Errorf("%d processes for 300 contents, %d for two", many, few)
	}
}

// TestRestoreTakesNothingElse checks that other content is not taken for the lost one, and that a
// wrong size in a reference hides nothing.
func TestRestoreTakesNothingElse(t *testing.T) {
	s := newSite(t)
	s.WriteFile(blobPath("one"), string(blobs.Encode([]byte("two"))))
	s.writeBlob("three")
	s.Commit("keep")
	s.Run("rm", "-q", "-r", ".jp/blobs")
	s.Commit("drop")
	src := s.sources()
	wrong := lostOf("three")
	wrong.Size = 99
	found, err := repair.Restore(t.Context(), src, src.Workspace.Blobs(),
		[]repair.Lost{lostOf("one"), wrong})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Finds) != 1 || len(found.Left) != 1 ||
		found.Finds[0].Ref != blobs.RefTo([]byte("three")) {
		t.Errorf("got %+v", found)
	}
	if _, err := os.Stat(s.Path(blobPath("one"))); !os.IsNotExist(err) {
		t.Errorf("something is in the place of the other: %v", err)
	}
}

// TestRestoreWithoutRepository searches files alone.
func TestRestoreWithoutRepository(t *testing.T) {
	s := newSite(t)
	s.put("user-local", 1)
	src := s.sources()
	src.Repo = nil
	found, err := repair.Restore(t.Context(), src, src.Workspace.Blobs(),
		[]repair.Lost{lostOf(secret), lostOf("never")})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Finds) != 1 || len(found.Left) != 1 || !strings.HasPrefix(found.Finds[0].Where, s.data) {
		t.Errorf("got %+v", found)
	}
}
