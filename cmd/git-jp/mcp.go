package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/recall"
	"github.com/git-jp/git-jp/internal/web"
)

type mcpCmd struct {
	textOnly

	Ref string `placeholder:"REF" help:"Conversations as a commit has them; HEAD in a bare repository."`
}

// Help says what agents get.
func (mcpCmd) Help() string {
	return `Serves conversations to coding agents on standard input and output, as an MCP server:
they find conversations by words, file, commit or time, read turns, and ask what was said about
lines of a file or on this branch. It only reads. What it gives is bounded, and marked as quoted
data, with a link to each turn.

Agents start it themselves, with the command "git-jp mcp" in their settings.`
}

// Run serves until the agent goes away.
func (c mcpCmd) Run(ctx context.Context, a *app) error {
	if c.Ref != "" {
		// A place without a workspace may get one while the server runs. A ref is a setting.
		_, err := sourceOf(ctx, a, c.Ref)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return err
		}
	}
	warn := func(err error) { a.warn("%v", err) }
	commits := recall.Repository{Open: a.repo, Warn: warn}
	server := recall.New(recall.Options{
		Version: a.version, Source: anyPlace{a, c.Ref},
		Blame: func(ctx context.Context, file string, from, to int) ([]blame.Span, error) {
			return blameLines(ctx, a, blame.Request{
				Rev: c.Ref, Path: file, From: from, To: to,
			}, warn)
		},
		Added: commits.Added, Review: commits.Review,
	})
	return recall.Serve(ctx, server, a.stdin, a.stdout)
}

// anyPlace returns the conversations that exist at the time of a call: agents start the server in
// every project, and in one without a workspace its calls say so.
type anyPlace struct {
	a   *app
	ref string
}

// Entries implements [web.Source].
func (p anyPlace) Entries(ctx context.Context) ([]web.Entry, error) {
	source, err := sourceOf(ctx, p.a, p.ref)
	if err != nil {
		return nil, err
	}
	return source.Entries(ctx)
}
