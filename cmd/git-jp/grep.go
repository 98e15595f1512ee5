package main

import (
	"context"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/grep"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/git-jp/git-jp/internal/workspace"
)

type grepCmd struct {
	Pattern       string   `arg:"" help:"What to look for."`
	Conversation  []string `arg:"" optional:"" help:"Conversations to search; all by default."`
	Regexp        bool     `short:"E" aliases:"regex" help:"The pattern is a regular expression (RE2)."`
	IgnoreCase    bool     `short:"i" xor:"case" help:"Upper and lower case are the same."`
	CaseSensitive bool     `xor:"case" help:"They are not, also when the pattern is all lower case."`
	Context       int      `placeholder:"N" help:"Show N lines around each hit."`
	Scope         []string `short:"s" placeholder:"SCOPE" help:"Search only here; repeat for several."`
	Names         bool     `short:"l" xor:"output" help:"Print only the conversations."`
	Count         bool     `xor:"output" help:"Print only the number of matching lines of each."`
	All           bool     `help:"Search every branch and other ref, not the working tree."`
	Archived      bool     `short:"a" help:"Search archived conversations too, as those of agents."`
	Label         []string `sep:"none" placeholder:"KEY[=VALUE]" help:"Search those with this label; repeat for several."`
	Heading       *bool    `negatable:"" help:"Group lines below conversations and turns, as on a terminal."`
}

// Help explains scopes and output.
func (grepCmd) Help() string {
	return `Searches blobs and base64 too, unlike 'git grep'. The pattern is plain
text; case matters when it has an upper-case letter.

Scopes: title, user, assistant, reasoning, structured, tool-call, tool-result, attachment,
inquiry; chat and tool mean several of them.

On a terminal lines are grouped by conversation and turn, and cut around what matched.
Elsewhere, or with --no-heading, each is ID:TURN:SCOPE:LINE:TEXT as it is, with - in place of
the last : for a line of context.
The exit code is 0 when something was found, and 1 when nothing was or when something
could not be searched.`
}

// Run searches.
func (c grepCmd) Run(ctx context.Context, a *app) error {
	if c.Pattern == "" {
		return usagef("the pattern is empty")
	}
	q := search.Query{Pattern: c.Pattern, Regexp: c.Regexp, Context: c.Context}
	switch {
	case c.IgnoreCase:
		q.Case = search.CaseIgnore
	case c.CaseSensitive:
		q.Case = search.CaseExact
	}
	pattern, err := grep.Compile(q, c.Scope)
	if err != nil {
		return &report.UsageError{Err: err}
	}
	groups := a.stdoutTerminal
	if c.Heading != nil {
		groups = *c.Heading
	}
	request := grep.Request{
		Pattern: pattern, Labels: c.Label, Names: c.Names, Count: c.Count,
		Context: c.Context > 0, Groups: groups,
	}
	return a.pagedPrinter(ctx, func(p *render.Printer) error {
		g := grep.New(p, request, func(err error) bool { return isNotHere(a, err) })
		var err error
		if c.All {
			err = c.refs(ctx, a, g, pattern)
		} else {
			err = c.workTree(ctx, a, g)
		}
		if err == nil && (g.Failed || !g.Found) {
			err = report.ErrProblems
		}
		return err
	})
}

// workTree searches the conversations of the working tree.
func (c grepCmd) workTree(ctx context.Context, a *app, g *grep.Search) error {
	walk, err := newWalk(a, c.Conversation, c.Archived)
	if err != nil {
		return err
	}
	walk.Problem = g.Problem
	return walk.Each(ctx, func(e workspace.Entry, conv *workspace.Conversation) error {
		return g.Version(search.Version{
			ID: e.ID, Title: conv.Title(), Labels: conv.Details.Labels, Stream: conv.Stream,
			Contents: walk.Workspace.BlobsOf(e),
		})
	})
}

// newWalk loads the conversations that were named, or all.
func newWalk(a *app, names []string, archived bool) (k workspace.Walk, err error) {
	k.Archived = archived
	if k.Workspace, err = a.workspace(); err != nil || len(names) == 0 {
		return k, err
	}
	k.Named, err = findAll(a, names)
	return k, err
}

// refs searches the tips of all refs.
func (c grepCmd) refs(ctx context.Context, a *app, g *grep.Search, p *search.Pattern) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	all := search.Refs{
		Repo: repo, Archived: c.Archived, Contents: p.Contents(), Problem: g.Problem,
	}
	if all.Wanted, err = c.wanted(a); err != nil {
		return err
	}
	return all.Each(ctx, g.Version)
}

// wanted parses the conversations that were named for a search of refs, where one need not be in
// the working tree.
func (c grepCmd) wanted(a *app) (wanted map[events.ID]bool, err error) {
	for _, name := range c.Conversation {
		e, err := a.find(name)
		if err != nil {
			id, noID := events.ParseID(name)
			if noID != nil {
				return nil, err
			}
			e.ID = id
		}
		if wanted == nil {
			wanted = make(map[events.ID]bool)
		}
		wanted[e.ID] = true
	}
	return wanted, nil
}
