package stage_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/stage"
)

// there reports whether the working tree has a content's blob.
func (f fixture) there(content string) bool {
	_, err := os.Lstat(f.Path(f.blobPath(content)))
	return err == nil
}

// copied reports whether there is a second copy of a content's blob.
func (f fixture) copied(content string) bool {
	_, err := os.Lstat(f.Path(".git/jp/spare/" + f.blobPath(content)))
	return err == nil
}

func (f fixture) vacate(t *testing.T) {
	t.Helper()
	if err := stage.Vacate(t.Context(), openRepo(t, f.Repository)); err != nil {
		t.Fatal(err)
	}
}

func TestAbandonRemovesWhatTheIndexMarks(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "marked", "unmarked")
	f.Run("add", ".jp")
	f.Run("commit", "-qm", "first")
	f.Run("update-ref", "refs/remotes/origin/main", "HEAD")
	repo := openRepo(t, f.Repository)
	if err := repo.LeaveOut(t.Context(), stage.LeftOut); err != nil {
		t.Fatal(err)
	}
	f.Run("update-index", "--no-skip-worktree", f.blobPath("unmarked"))
	for _, content := range []string{"unmarked", "new"} {
		f.blob(content)
	}
	f.WriteFile(f.blobPath("marked"), "a part")
	index := f.ReadFile(".git/index")
	if err := stage.Abandon(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	if f.there("marked") || !f.there("unmarked") || !f.there("new") {
		t.Error("a part of a file stays, or a file goes that git would report as deleted")
	}
	if f.copied("new") || f.ReadFile(".git/index") != index {
		t.Error("something was written")
	}
}

func TestVacateRemovesWhatIsCommittedAndHere(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "kept", "damaged")
	f.Run("add", ".jp")
	f.Run("commit", "-qm", "first")
	f.vacate(t)
	if !f.there("kept") {
		t.Fatal("an ordinary clone lost a file")
	}
	if err := openRepo(t, f.Repository).LeaveOut(t.Context(), stage.LeftOut); err != nil {
		t.Fatal(err)
	}
	if f.there("kept") {
		t.Fatal("a file stays that git has")
	}
	f.blob("kept")
	f.blob("damaged")
	f.blob("new")
	f.vacate(t)
	if f.there("kept") || f.there("damaged") || !f.copied("kept") {
		t.Fatal("a file stays that git has, or its copy went though no remote has it")
	}
	f.Run("update-ref", "refs/remotes/origin/main", "HEAD")
	f.vacate(t)
	if f.copied("kept") {
		t.Error("a copy stays that a remote has")
	}
	f.blob("kept")
	f.blob("damaged")
	id := f.Run("rev-parse", "HEAD:"+f.blobPath("damaged"))
	object := f.Path(".git/objects/" + id[:2] + "/" + id[2:])
	if err := os.Chmod(object, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	lock := f.Path(".git/index.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f.vacate(t)
	if !f.there("kept") {
		t.Error("a file went while another process had the index")
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	f.vacate(t)
	if f.there("kept") || !f.there("damaged") || !f.there("new") {
		t.Errorf("kept is there: %v; damaged: %v; new: %v",
			f.there("kept"), f.there("damaged"), f.there("new"))
	}
	if f.copied("kept") || !f.copied("damaged") {
		t.Errorf("the copy of kept is there: %v; of damaged: %v",
			f.copied("kept"), f.copied("damaged"))
	}
	if got := f.Run("status", "--porcelain", "--", f.blobPath("kept")); got != "" {
		t.Errorf("status: %s", got)
	}
}

// TestVacateKeepsTheOnlyIntactBlob damages the copy of one blob, and commits a damaged file of
// another one, which the remote then has too: both files stay, and a copy of the second.
func TestVacateKeepsTheOnlyIntactBlob(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "copy", "committed")
	good := f.ReadFile(f.blobPath("committed"))
	f.WriteFile(f.blobPath("committed"), "damaged")
	f.Run("add", ".jp")
	f.Run("commit", "-qm", "first")
	if err := openRepo(t, f.Repository).LeaveOut(t.Context(), stage.LeftOut); err != nil {
		t.Fatal(err)
	}
	f.blob("copy")
	f.vacate(t)
	if !f.copied("copy") || f.there("copy") {
		t.Fatal("a blob that no remote has was not left out, or has no copy")
	}
	f.blob("copy")
	copied := ".git/jp/spare/" + f.blobPath("copy")
	f.WriteFile(copied, strings.Repeat("x", len(f.ReadFile(copied))))
	f.WriteFile(f.blobPath("committed"), good)
	f.vacate(t)
	if !f.there("copy") {
		t.Error("a file went whose copy is damaged")
	}
	f.Run("update-ref", "refs/remotes/origin/main", "HEAD")
	f.vacate(t)
	if !f.there("committed") || !f.copied("committed") {
		t.Errorf("the intact file is there: %v; its copy: %v",
			f.there("committed"), f.copied("committed"))
	}
}
