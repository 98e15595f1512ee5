package main

import (
	"context"

	"github.com/git-jp/git-jp/internal/attached"
)

type attachmentCmd struct {
	Ls    attachmentLsCmd    `cmd:"" aliases:"l" default:"withargs" help:"List what is attached."`
	Add   attachmentAddCmd   `cmd:"" aliases:"a" help:"Attach something from the next question on."`
	Rm    attachmentRmCmd    `cmd:"" aliases:"r" help:"Remove an attachment."`
	Print attachmentPrintCmd `cmd:"" aliases:"p" help:"Print the current content of attachments."`
}

// Help says what can be attached.
func (attachmentCmd) Help() string {
	return `What is attached is given to the model with the first question. It is part of the
configuration of the conversation, or of that of the workspace. An attachment is a path, a
pattern, the id of another conversation, or a URL:

    src/main.go          a file; a directory means all files below it
    'src/**/*.go'        a pattern; one that begins with ! takes files out again
    https://...          a web page
    cmd:git log -3       what a command prints
    jp-c17838...?all     another conversation
    mcp+server+uri       a resource of an MCP server`
}

// attachedHere returns the attachments of the workspace.
func attachedHere(a *app) (*attached.Desk, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	gate, err := gateOf(a)
	return &attached.Desk{
		Host: a.host(), Workspace: w, Gate: gate, Network: a.openConfig.Settings().Network,
	}, err
}

type attachmentLsCmd struct {
	ID string `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default, or the workspace."`
}

// Run lists attachments.
func (c attachmentLsCmd) Run(ctx context.Context, a *app) error {
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return err
	}
	d, err := attachedHere(a)
	if err != nil {
		return err
	}
	return d.List(ctx, conv)
}

type attachmentAddCmd struct {
	Attachment []string `arg:"" help:"Paths, patterns, ids of conversations, or URLs."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default."`
}

// Help says where it is stored.
func (attachmentAddCmd) Help() string {
	return `The attachment becomes part of the conversation's configuration. It is resolved
when you ask the next question. Adding it approves it for you, even if it is a command or an
address; other people who have the conversation are asked.`
}

// Run adds attachments to a conversation's configuration.
func (c attachmentAddCmd) Run(ctx context.Context, a *app) error {
	e, err := a.findOr(c.ID)
	if err != nil {
		return err
	}
	d, err := attachedHere(a)
	if err != nil {
		return err
	}
	return d.Add(ctx, e, c.Attachment)
}

type attachmentRmCmd struct {
	Attachment []string `arg:"" help:"Attachments, as 'ls' prints them or as 'add' takes them."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default."`
}

// Run removes attachments from a conversation's configuration.
func (c attachmentRmCmd) Run(ctx context.Context, a *app) error {
	e, err := a.findOr(c.ID)
	if err != nil {
		return err
	}
	d, err := attachedHere(a)
	if err != nil {
		return err
	}
	return d.Remove(ctx, e, c.Attachment)
}

type attachmentPrintCmd struct {
	Attachment []string `arg:"" optional:"" help:"Attachments; all that are declared by default."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default, or the workspace."`
}

// Help says what has to be approved.
func (attachmentPrintCmd) Help() string {
	return `Looks attachments up and prints their text, each behind its URI when there are several.
Binary content is printed with --json only. What the configuration declares and another user
may have written has to be approved where it runs a command, reaches a host or reads outside
of the workspace, whether it is named here or not.`
}

// Run resolves attachments and prints them.
func (c attachmentPrintCmd) Run(ctx context.Context, a *app) error {
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return err
	}
	d, err := attachedHere(a)
	if err != nil {
		return err
	}
	return d.Print(ctx, conv, c.Attachment)
}
