package stage_test

import (
	"os"
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
	if got := f.Run("status", "--porcelain", "--", f.blobPath("kept")); got != "" {
		t.Errorf("status: %s", got)
	}
}
