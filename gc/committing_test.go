package gc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/blobs"
)

// committingRows returns the rows of the root matrix in which git is about to commit.
func committingRows() []row {
	return []row{
		{"index of an open commit", func(f *fixture, h blobs.Hash) {
			f.stageIn(".git/index.lock", h)
		}},
		{"index of an open commit of some paths", func(f *fixture, h blobs.Hash) {
			f.stageIn(".git/next-index-17.lock", h)
		}},
		{"index of an open commit, of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").stageIn(f.Path(".git/worktrees/linked/index.lock"), h)
		}},
		{"index of an open commit of some paths, of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").stageIn(f.Path(".git/worktrees/linked/next-index-17.lock"), h)
		}},
		{"split index of an open commit", func(f *fixture, h blobs.Hash) {
			f.Run("update-index", "--split-index")
			f.Run("config", "splitIndex.maxPercentChange", "100")
			f.stageIn(".git/index.lock", h)
		}},
		{"index under another name", func(f *fixture, h blobs.Hash) {
			f.stageIn(".git/index.stash.1234", h)
		}},
		{"index under another name, of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").stageIn(f.Path(".git/worktrees/linked/mine"), h)
		}},
	}
}

// stageIn stages a conversation only in the index file that git uses while it commits.
func (f *fixture) stageIn(file string, h blobs.Hash) {
	f.tb.Helper()
	index := f.Run("rev-parse", "--path-format=absolute", "--git-path", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		f.tb.Fatal(err)
	}
	f.converse(conversation, h)
	f.Run("add", "-A", conversation)
	f.Remove(conversation)
	if !filepath.IsAbs(file) {
		file = f.Path(file)
	}
	if err = os.Rename(index, file); err == nil {
		err = os.WriteFile(index, before, 0o644)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
}

// TestCommitFromAnotherIndex checks that references in the lock of the index named by the
// environment are kept.
func TestCommitFromAnotherIndex(t *testing.T) {
	f := newFixture(t)
	kept, dead := f.blob("kept"), f.blob("dead")
	f.stageIn(f.Path("../mine.lock"), kept)
	f.Repository = f.With("GIT_INDEX_FILE=" + f.Path("../mine"))
	if res, err := f.collect(); err != nil || len(res.Doubts) > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if !f.has(kept) || f.has(dead) {
		t.Errorf("has kept %v and dead %v, want true and false", f.has(kept), f.has(dead))
	}
}
