package view

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Of returns a conversation to be shown. Its files are those of $WORKSPACE.
func Of(conv *workspace.Conversation, contents blobs.Reader) Conversation {
	return Conversation{
		Conversation: render.Conversation{
			ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: contents,
			Base: conv.BaseConfig, Agent: events.AgentOf(conv.Details.Labels[events.LabelSession]),
		},
		Facts: FactsOf(conv),
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
	return conv, Of(conv, w.BlobsOf(e)), nil
}
