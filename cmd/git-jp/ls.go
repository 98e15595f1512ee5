package main

import (
	"cmp"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type lsCmd struct {
	Archived bool     `short:"a" help:"List archived conversations too."`
	Agents   bool     `help:"List the sessions of agents, which are in the archive."`
	Local    bool     `help:"List user-local conversations too."`
	Sort     string   `enum:"id,activity,title" default:"activity" help:"Order: id, activity or title."`
	Reverse  bool     `short:"r" help:"Reverse the order."`
	Limit    *int     `short:"n" placeholder:"N" help:"List the last N only."`
	Label    []string `sep:"none" placeholder:"KEY[=VALUE]" help:"List those with this label; repeat for several."`
}

// Help explains the output.
func (lsCmd) Help() string {
	return `The latest is at the end. Marks: * active here, ^ pinned, a archived, l user-local,
o of the generation before events.json. SIZE is that of the stream, without content in the
store; PARENT the conversation that one was forked from. One without a title shows its first
words in quotes. A narrow terminal has fewer columns, --json all of them.

The streams of what is listed are read, so -n makes it fast where there are thousands; no
content is. What cannot be read shows as -, which 'git jp check' explains.`
}

// Run lists the conversations.
func (c lsCmd) Run(a *app) error {
	if c.Limit != nil && *c.Limit < 1 {
		return usagef("--limit %d: expected a positive number", *c.Limit)
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	if c.Local {
		if err := a.host().AdoptLocal(w); err != nil {
			return err
		}
	}
	l, err := listing.Read(w, listing.Request{
		Active:   activeID(a, w),
		Archived: c.Archived, Agents: c.Agents, Local: c.Local, Labels: c.Label,
		Sort: c.Sort, Reverse: c.Reverse, Limit: *cmp.Or(c.Limit, new(int)),
	}, a.warn)
	if err != nil {
		return err
	}
	if err := l.Print(&a.terminal.Printer); err != nil {
		return err
	}
	if len(l.Listed) == 0 || a.Verbose {
		l.NoteHidden(&a.terminal.Printer)
	}
	if l.Failed {
		return report.ErrProblems
	}
	return nil
}

// activeID returns the id of this session's active conversation, 0 without one.
func activeID(a *app, w *workspace.Workspace) events.ID {
	s, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
	if !ok {
		return 0
	}
	e, err := w.Active(s)
	if err != nil {
		return 0
	}
	return e.ID
}
