package view

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Of returns the input of render for a conversation. Its files are named from $WORKSPACE.
func Of(conv *workspace.Conversation, contents blobs.Reader) render.Conversation {
	return render.Conversation{
		ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: contents,
		Base: conv.BaseConfig, Agent: events.AgentOf(conv.Details.Labels[events.LabelSession]),
	}
}

// Load reads a conversation of a workspace for showing it.
func Load(
	w *workspace.Workspace, e workspace.Entry,
) (*workspace.Conversation, Conversation, error) {
	conv, err := w.Load(e)
	if err != nil {
		return nil, Conversation{}, err
	}
	return conv, Conversation{Conversation: Of(conv, w.BlobsOf(e)), Facts: FactsOf(conv)}, nil
}
