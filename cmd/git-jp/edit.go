package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/workspace"
)

type editCmd struct {
	textOnly

	Conversation string `arg:"" optional:"" help:"The conversation; the active one by default."`
	Events       bool   `short:"e" xor:"file" help:"Edit events.json; this is the default."`
	Metadata     bool   `short:"m" xor:"file" help:"Edit metadata.json."`
	BaseConfig   bool   `short:"b" xor:"file" help:"Edit base_config.json."`
}

// Help says when an edit is saved.
func (editCmd) Help() string {
	return `Opens the file in the editor that git uses. It is saved only if it can be loaded: after
a mistake you can continue editing, and nothing is lost. A file that cannot be loaded now can be
fixed this way. Content may be written in place, as {"text": "..."}; saving moves it to the
store.`
}

// Run edits one file of a conversation.
func (c editCmd) Run(ctx context.Context, a *app) error {
	e, err := a.findOr(c.Conversation)
	if err != nil {
		return err
	}
	if e.Legacy {
		return fmt.Errorf("edit %s: %w", e.ID, workspace.ErrLegacy)
	}
	before, err := a.openWorkspace.ReadFile(e, c.filename())
	if err != nil {
		return err
	}
	draft, err := ask.NewDraft(c.filename(), before)
	if err != nil {
		return err
	}
	for {
		after, err := a.terminal.Editor.Edit(ctx, draft)
		switch {
		case errors.Is(err, ask.ErrNotSaved):
			a.note("nothing was changed")
			return draft.Remove()
		case err != nil:
			return draft.Keep(err)
		}
		err = a.openWorkspace.Replace(ctx, e.ID, workspace.Replacement{
			Name: c.filename(), Before: before, After: after,
		})
		if err == nil {
			a.note("saved %s of %s", c.filename(), e.ID)
			return draft.Remove()
		}
		err = fmt.Errorf("save %s: %w", c.filename(), err)
		if !a.terminal.Confirm(fmt.Sprintf("%v\nedit again?", err)) {
			return draft.Keep(err)
		}
	}
}

func (c editCmd) filename() string {
	switch {
	case c.Metadata:
		return workspace.MetadataFile
	case c.BaseConfig:
		return workspace.BaseConfigFile
	default:
		return workspace.EventsFile
	}
}
