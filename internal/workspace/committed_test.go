package workspace_test

import (
	"path"
	"testing"
	"testing/fstest"

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
