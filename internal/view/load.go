package view

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Of returns what render needs of a conversation. Its files are those of $WORKSPACE.
func Of(conv *workspace.Conversation, contents blobs.Reader) render.Conversation {
	return render.Conversation{
		ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: contents,
		Base: conv.BaseConfig, Agent: events.AgentOf(conv.Details.Labels[events.LabelSession]),
	}
}

// Load reads a conversation of a workspace to be shown.
func Load(
	w *workspace.Workspace, e workspace.Entry,
) (*workspace.Conversation, Conversation, error) {
	conv, err := w.Load(e)
	if err != nil {
		return nil, Conversation{}, err
	}
	return conv, Conversation{Conversation: Of(conv, w.BlobsOf(e)), Facts: FactsOf(conv)}, nil
}
