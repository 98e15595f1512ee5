package main

import (
	"context"
	"io"
	"slices"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/view"
)

type exportCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; the active one by default. More than one with --format=html or envelopes."`
	Format       string   `short:"f" enum:"md,json,html,envelopes,claude-code,codex" default:"md" placeholder:"FORMAT" help:"md, json, html, envelopes, claude-code or codex."`
	Output       string   `short:"o" placeholder:"FILE" help:"Write to FILE; - is standard output, the default except for agents."`
	Compacted    bool     `help:"Export what a model is given: with compactions applied, and references for what it has."`
	Focused      bool     `help:"With --format=html, only prompts and the answers to them."`
}

// Help explains the difference from print.
func (exportCmd) Help() string {
	return `An export is one document with all content in it, to be read without git-jp. It holds
no path of this machine: the workspace is written $WORKSPACE.

With --format=html it is a page that a browser opens from the disk: nothing in it is fetched
from anywhere, and nothing that a conversation says can run. Calls of tools and what led to an
answer are folded.

With --format=envelopes it is one line of JSON for each conversation, its configuration included;
git jp import - makes the same conversation of it in another workspace.

With --format=claude-code or codex it is a session of that agent, in the agent's own directory, to
continue from this working tree: what a model would be given, with compactions applied. The
agent's command for that is printed. What the agent has no form for is left out and reported. git
jp import adds what is said there to the conversation.`
}

// Run exports conversations. A file is written completely or not at all.
func (c exportCmd) Run(ctx context.Context, a *app) (err error) {
	html := c.Format == "html"
	switch {
	case html && a.JSON:
		return usagef("--format=html and --json cannot be used together")
	case len(c.Conversation) > 1 && !html && c.Format != "envelopes":
		return usagef("only --format=html and --format=envelopes take several conversations")
	case c.Focused && !html:
		return usagef("--focused needs --format=html")
	}
	entries, err := findAll(a, c.Conversation)
	if err != nil {
		return err
	}
	if agent := sessions.Agent(c.Format); slices.Contains(sessions.Agents, agent) {
		return c.handOver(a, agent, entries[0])
	}
	if c.Format == "envelopes" {
		return writeTo(a, c.Output, func(out io.Writer) error {
			return c.envelopes(a, out, entries)
		})
	}
	if err := a.openWorkspace.Expect(ctx, entries); err != nil {
		return err
	}
	subjects := make([]view.Conversation, len(entries))
	for i, e := range entries {
		conv, err := a.openWorkspace.Load(e)
		if err != nil {
			return err
		}
		subjects[i].Facts = view.FactsOf(conv)
		if subjects[i].Conversation, err = renderable(a, conv, "", c.Compacted); err != nil {
			return err
		}
	}
	var problems []render.Problem
	err = writeTo(a, c.Output, func(out io.Writer) (err error) {
		problems, err = c.document(a, out, subjects)
		return err
	})
	if err != nil {
		return err
	}
	return contentProblems(a, problems)
}

// document writes the one document.
func (c exportCmd) document(
	a *app, out io.Writer, all []view.Conversation,
) ([]render.Problem, error) {
	o := render.Options{Format: render.FormatMarkdown, Full: true}
	if c.Output == "" || c.Output == "-" {
		o.Output.Terminal = a.stdoutTerminal // a file or a pipe gets every byte unchanged
	}
	switch {
	case c.Format == "json" || a.JSON:
		o.Format = render.FormatJSON
	case c.Format == "html":
		prices, err := a.models()
		if err != nil {
			return nil, err
		}
		doc := view.Document{Title: "Conversations", Focused: c.Focused, Prices: prices}
		return doc.Write(out, all...)
	}
	return all[0].Render(out, o)
}
