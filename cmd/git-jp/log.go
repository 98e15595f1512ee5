package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/revisions"
)

type logCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default. A deleted one is named by its id in full."`
	Revision     []string `arg:"" optional:"" help:"Where to begin, and where to end: a revision or a range."`
	All          bool     `help:"Look at all branches and tags."`
	Count        int      `short:"n" name:"max-count" placeholder:"N" help:"Show the newest N commits only."`
}

// Help says what is shown.
func (logCmd) Help() string {
	return `Lists the commits that changed a conversation, wherever its directory was at the time,
and what they did to it. 'git log -p' shows the text of the changes.`
}

// revisionRecord is a commit in `log --json`.
type revisionRecord struct {
	Commit  string    `json:"commit"`
	Author  string    `json:"author"`
	Date    time.Time `json:"date"`
	Subject string    `json:"subject"`
	// Path is of the conversation's directory after the commit, "" when it is gone.
	Path string `json:"path"`
	// Turns and TurnsBefore are nil when the commit did not touch the stream.
	Turns       *int `json:"turns"`
	TurnsBefore *int `json:"turns_before"`
	// Parallel is the number of turns that were asked without knowledge of the turn before.
	Parallel int      `json:"parallel,omitempty"`
	Did      []string `json:"did"`
}

// Run lists the commits that changed a conversation.
func (c logCmd) Run(ctx context.Context, a *app) error {
	if c.Count < 0 {
		return usagef("--max-count %d: expected a positive number", c.Count)
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return err
	}
	ids, err := a.stageIDs([]string{cmp.Or(c.Conversation, ".")})
	if err != nil {
		return err
	}
	all, err := revisions.Of(ctx, repo, revisions.Request{
		Dir: dir, ID: ids[0], Revs: c.Revision, All: c.All, Count: c.Count,
	})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		a.note("no commit has %s", ids[0])
	}
	return c.print(a, all)
}

func (logCmd) print(a *app, all []revisions.Revision) error {
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range all {
			if err := lines.Write(revisionRecord(r)); err != nil {
				return err
			}
		}
		return nil
	}
	table := render.NewTable(a.output(), render.Column{Head: "COMMIT"},
		render.Column{Head: "DATE"}, render.Column{Head: "AUTHOR"},
		render.Column{Head: "CHANGE"}, render.Column{Head: "SUBJECT", Shrink: true})
	p := a.terminal
	for _, r := range all {
		table.Row(r.Commit[:12], p.Ago(r.Date), r.Author, strings.Join(r.Did, ", "), r.Subject)
	}
	return table.Write(a.stdout)
}
