package main

import (
	"context"

	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/workspace"
)

// pickOne lets the person at the terminal choose a conversation.
func pickOne(a *app) (workspace.Entry, error) {
	w, err := a.workspace()
	if err != nil {
		return workspace.Entry{}, err
	}
	ctx := context.Background()
	defer a.interrupts.Reading()() // nothing has changed before a conversation is known
	prompter := a.terminal.NewPrompter(ctx)
	if prompter == nil {
		return workspace.Entry{}, usagef("there is no terminal to choose on, name a conversation")
	}
	s, err := prompter.Open(ctx)
	if err != nil {
		return workspace.Entry{}, err
	}
	defer func() { _ = s.Close() }()
	p := listing.Picker{Workspace: w, Find: a.find, Prompt: s, Printer: &a.terminal.Printer}
	return p.Pick()
}
