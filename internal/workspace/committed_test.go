package workspace_test

import (
	"io/fs"
	"iter"
	"path"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

func TestCommittedConversationsAreFoundByID(t *testing.T) {
	files := fstest.MapFS{}
	for _, dir := range []string{
		"conversations/17800000001-one", "conversations/17800000002-two",
		"conversations/.archive/17800000002-two",
	} {
		files[path.Join(dir, workspace.EventsFile)] = &fstest.MapFile{Data: []byte("[]")}
		files[path.Join(dir, workspace.MetadataFile)] = &fstest.MapFile{Data: []byte("{}")}
	}
	w, err := workspace.OpenCommitted(files, t.TempDir(), workspace.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int64]int{17800000001: 1, 17800000002: 2, 17800000003: 0} {
		all, err := w.Copies(events.ID(id))
		if err != nil || len(all) != want {
			t.Errorf("%d: %v, %v; want %d", id, all, err, want)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestCommittedConversationsAreReadOnce checks that what would be read to fetch blobs together is
// not read where none can be fetched.
func TestCommittedConversationsAreReadOnce(t *testing.T) {
	files := counted{fstest.MapFS{}, map[string]int{}}
	for _, dir := range []string{"conversations/17800000001-one", "conversations/17800000002-two"} {
		for name, data := range map[string]string{
			workspace.EventsFile: "[]", workspace.BaseConfigFile: "{}",
			workspace.MetadataFile: `{"last_activated_at": "2026-01-01 00:00:00.0"}`,
		} {
			files.MapFS[path.Join(dir, name)] = &fstest.MapFile{Data: []byte(data)}
		}
	}
	for _, fetches := range []bool{false, true} {
		clear(files.reads)
		env := workspace.Env{Elsewhere: elsewhere(fetches)}
		w, err := workspace.OpenCommitted(files, t.TempDir(), env)
		if err != nil {
			t.Fatal(err)
		}
		walk := workspace.Walk{Workspace: w, Problem: func(err error) { t.Error(err) }}
		n := 0
		err = walk.Each(t.Context(), func(workspace.Entry, *workspace.Conversation) error {
			n++
			return nil
		})
		if err != nil || n != 2 {
			t.Errorf("%d conversations: %v", n, err)
		}
		want := map[bool]int{false: 1, true: 2}[fetches]
		for name, n := range files.reads {
			if path.Base(name) == workspace.EventsFile && n != want {
				t.Errorf("%s was read %d times, want %d, fetching %t", name, n, want, fetches)
			}
		}
	}
}

// counted counts how often each file is read.
type counted struct {
	fstest.MapFS

	reads map[string]int
}

func (c counted) ReadFile(name string) ([]byte, error) {
	c.reads[name]++
	return fs.ReadFile(c.MapFS, name)
}

// elsewhere has no blobs.
type elsewhere bool

func (e elsewhere) Fetches() bool { return bool(e) }

func (elsewhere) Has(blobs.Hash) bool { return false }

func (elsewhere) File(blobs.Ref) ([]byte, error) { return nil, fs.ErrNotExist }

func (elsewhere) Expect(iter.Seq[blobs.Ref]) {}
