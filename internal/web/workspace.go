package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Live has the conversations of a workspace, archived ones too, at the time of a call.
type Live struct{ Workspace *workspace.Workspace }

var _ Source = Live{}

// Entries implements [Source].
func (s Live) Entries(context.Context) ([]Entry, error) {
	list, _, err := s.Workspace.List(workspace.ListOptions{Archived: true})
	if err != nil {
		return nil, err
	}
	all := make([]Entry, 0, len(list))
	for _, e := range list {
		all = append(all, Entry{
			ID: e.ID, Version: func() string { return s.version(e) },
			Details: func() (*events.Details, error) { return s.Workspace.LoadDetails(e) },
			Load: func() (*workspace.Conversation, view.Conversation, error) {
				return view.Load(s.Workspace, e)
			},
		})
	}
	return all, nil
}

// version depends on everything that a save changes.
func (s Live) version(e workspace.Entry) (v string) {
	for _, name := range []string{workspace.MetadataFile, workspace.EventsFile} {
		if info, err := os.Stat(filepath.Join(s.Workspace.Path(e), name)); err == nil {
			v += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return v
}
