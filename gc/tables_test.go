package gc_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/gittest"
)

// tableRows returns the roots that are elsewhere if refs are in reftables. Git keeps MERGE_HEAD and
// FETCH_HEAD as files there too.
func tableRows() []row {
	rows := []row{
		{"HEAD of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			l := f.at("../linked")
			l.Run("update-ref", "--no-deref", "HEAD", f.commit(h))
			l.Run("reflog", "expire", "--expire=now", "--all")
			f.Remove(".git/worktrees/linked/index")
		}},
		{"reflog of HEAD", func(f *fixture, h blobs.Hash) {
			f.Run("checkout", "-q", "--detach")
			head := f.Run("rev-parse", "HEAD")
			f.Run("update-ref", "-m", "there", "HEAD", f.commit(h))
			f.Run("update-ref", "-m", "back", "HEAD", head)
			f.Run("checkout", "-q", "main")
		}},
		{"reflog of the HEAD of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			l := f.at("../linked")
			head := f.Run("rev-parse", "HEAD")
			l.Run("update-ref", "-m", "there", "HEAD", f.commit(h))
			l.Run("update-ref", "-m", "back", "HEAD", head)
		}},
		{"reflog of a ref of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			l := f.at("../linked")
			l.Run("update-ref", "--create-reflog", "refs/worktree/own", f.commit(h))
			l.Run("update-ref", "refs/worktree/own", "HEAD")
		}},
		{"what a branch was before its reflog", func(f *fixture, h blobs.Hash) {
			f.Run("-c", "core.logAllRefUpdates=false", "update-ref", "refs/heads/late", f.commit(h))
			f.Run("update-ref", "-m", "moved", "refs/heads/late", "HEAD")
		}},
		{"between two entries of a reflog, one deleted", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "-m", "there", "refs/heads/other", "HEAD")
			f.Run("update-ref", "-m", "there", "refs/heads/other", f.commit(h))
			f.Run("update-ref", "-m", "back", "refs/heads/other", "HEAD")
			f.Run("reflog", "delete", "refs/heads/other@{1}")
		}},
		{"reflog that was packed", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "-m", "there", "refs/heads/other", f.commit(h))
			f.Run("update-ref", "-m", "back", "refs/heads/other", "HEAD")
			f.Run("pack-refs", "--all")
		}},
		{"symbolic ref", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "refs/kept/x", f.commit(h))
			f.Run("symbolic-ref", "refs/heads/sym", "refs/kept/x")
		}},
	}
	shared := []string{
		"stash", "older stash", "untracked files of a stash", "index of a stash", "reflog",
		"reflog of a split branch, as one conversation", "replacement", "tag of a tag",
		"rebase stopped half-way", "cherry-pick stopped half-way", "merge whose branch is gone",
		"bisect", "MERGE_HEAD", "MERGE_HEAD of another", "FETCH_HEAD", "note that is a stream",
		"older commit of a branch", "index of another", "working tree of another",
	}
	rows = append(rows, rowsOf(shared)...)
	for _, name := range slices.Concat(refNames, []string{
		"ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_HEAD",
		"BISECT_EXPECTED_REV", "AUTO_MERGE",
		"SAVED", // git sets it, and does not list it
	}) {
		rows = append(rows, row{name, func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "--no-deref", name, f.commit(h))
		}}, row{name + " of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			f.at("../linked").Run("update-ref", "--no-deref", name, f.commit(h))
		}})
	}
	return rows
}

// rowsOf returns rows of the matrix by name.
func rowsOf(names []string) []row {
	return slices.DeleteFunc(rows(), func(r row) bool { return !slices.Contains(names, r.name) })
}

// TestRootMatrixOfTables is TestRootMatrix with refs in reftables.
func TestRootMatrixOfTables(t *testing.T) {
	format := gittest.RefTables(t)
	for _, row := range tableRows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.hold(t, newFixture(t, format...))
		})
	}
}

// hold creates the root, collects, and checks what is left.
func (r row) hold(t *testing.T, f *fixture) {
	t.Helper()
	kept, dead := f.blob("kept"), f.blob("dead")
	r.make(f, kept)
	res, err := f.collect()
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Doubts) > 0 {
		t.Errorf("the second opinion differs: %v", res.Doubts)
	}
	if !f.has(kept) {
		t.Error("what the root refers to was deleted")
	}
	if f.has(dead) {
		t.Error("what nothing refers to is still there")
	}
}

// TestDamagedTablesDeleteNothing damages the table of a tag, which alone keeps a blob. Git then
// lists other refs only and succeeds, and git fsck is silent too.
func TestDamagedTablesDeleteNothing(t *testing.T) {
	const tag = "refs/tags/only"
	format := gittest.RefTables(t)
	for _, tt := range []struct {
		name   string
		damage func(list, table []byte) (newList, newTable []byte)
		want   string // why nothing is deleted; "" if all is read nevertheless
	}{
		{"a table is not in the list", func(list, table []byte) ([]byte, []byte) {
			last := bytes.LastIndexByte(list[:len(list)-1], '\n')
			return list[:last+1], table
		}, "the list of tables has not got it"},
		{"the list is empty", func(_, table []byte) ([]byte, []byte) {
			return nil, table
		}, "the list of tables has lost HEAD"},
		{"the name is outside of refs", func(list, table []byte) ([]byte, []byte) {
			return list, bytes.Replace(table, []byte(tag), []byte("s"+tag[1:]), 1)
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, format...)
			kept, dead := f.blob("kept"), f.blob("dead")
			f.With("GIT_TEST_REFTABLE_AUTOCOMPACTION=false").Run("update-ref", tag, f.commit(kept))
			listed := f.ReadFile(".git/reftable/tables.list")
			names := strings.Fields(listed)
			table := ".git/reftable/" + names[len(names)-1]
			list, data := tt.damage([]byte(listed), []byte(f.ReadFile(table)))
			f.Remove(table) // it is read-only
			f.WriteFile(table, string(data))
			f.WriteFile(".git/reftable/tables.list", string(list))
			if out, err := f.Try("for-each-ref", tag); err != nil || out != "" {
				t.Fatalf("git has %q, %v: the damage is none", out, err)
			}
			_, err := f.collect()
			refused := errors.As(err, new(*gc.RefusedError))
			if refused != (tt.want != "") || refused && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("collected with %v, want %q", err, tt.want)
			}
			if !f.has(kept) || f.has(dead) != refused {
				t.Errorf("kept is there: %t, dead: %t", f.has(kept), f.has(dead))
			}
		})
	}
}
