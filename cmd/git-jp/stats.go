package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/stats"
	"github.com/git-jp/git-jp/internal/workspace"
)

type statsCmd struct {
	Conversation string `arg:"" optional:"" help:"The conversation; the active one by default."`
	KeepLast     string `placeholder:"N" help:"How many turns at the end strategies leave alone."`
	All          bool   `help:"List all turns and tools, not only the largest."`
	Chart        bool   `help:"Draw how full the context was in each turn and what filled it; with --by what was spent."`
	By           string `enum:",day,model,author,agent,tool,cause" default:"" placeholder:"day|model|author|agent|tool|cause" help:"Show what all conversations have cost, or one: by day, model, author, agent or tool, or why prompts were not in the provider's cache."`
}

// Help explains the figures.
func (statsCmd) Help() string {
	return `Shows where the tokens of a conversation are: by kind, by tool and by turn; what a model
has twice or has no use for any more; and what each strategy of 'git jp compact' would save
by itself; what prompts had of the provider's cache, and why the rest was not in it. Nothing
is changed, and no model is asked.

Tokens are estimates. Where the conversation has recorded usage they are learned from that,
and the error that is printed is that of the past.

With --by it shows what answers have cost, by the usage that is recorded with them, over all
conversations, archived ones too. An answer that is in several forks counts once. Prices are
those of 'git jp models'; answers whose price is not known are counted beside them. With
--by=tool an answer counts for the tool whose result is the largest of what it was asked
with. With --by=cause it shows what was read from caches and written into them, and why.`
}

// A statsRecord is what `stats --json` prints.
type statsRecord struct {
	ID    string        `json:"id"`
	Title string        `json:"title"`
	Model string        `json:"model"`
	Stats compact.Stats `json:"stats"`
	Cache stats.Caching `json:"cache"`
}

// Run analyses a conversation.
func (c statsCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.By != "" && c.KeepLast != "":
		return usagef("--by and --keep-last cannot be used together")
	case c.By != "" && c.All:
		return usagef("--by and --all cannot be used together")
	case c.By != "":
		return c.spending(ctx, a)
	}
	return reading(ctx, a, c.Conversation, c.survey)
}

func (c statsCmd) survey(ctx context.Context, a *app, r *prepare.Compaction) error {
	conv := r.Conversation
	kept, err := keptTurns(c.KeepLast)
	if err != nil {
		return err
	}
	o, err := r.Options(ctx, prepare.Request{
		KeepLast: kept, DryRun: true, Strategies: []string{compact.StripReasoning},
	})
	if err != nil {
		return err
	}
	o.Subsumer = nil // looking starts no process
	s, err := compact.Survey(ctx, conv.Stream, o)
	if err != nil {
		return err
	}
	table, err := a.models()
	if err != nil {
		return err
	}
	ledger := stats.NewCacheLedger(table)
	if err := ledger.Add(subjectOf(conv)); err != nil {
		return err
	}
	cache := ledger.Caching()
	if c.Chart && !a.JSON {
		turns, err := stats.Turns(conv.BaseConfig, conv.Stream, table)
		if err != nil {
			return err
		}
		return c.printer(a).Chart(s, turns)
	}
	if a.JSON {
		return a.printJSON(statsRecord{conv.ID.String(), conv.Title(), r.ModelID(), s, cache})
	}
	if err := c.printer(a).Stats(s); err != nil || cache.Answers == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	return c.printer(a).Caching(cache)
}

// byCause selects the ledger of the providers' caches.
const byCause = "cause"

// spending prints what has been spent.
func (c statsCmd) spending(ctx context.Context, a *app) error {
	table, err := a.models()
	if err != nil {
		return err
	}
	var named []string
	if c.Conversation != "" {
		named = []string{c.Conversation}
	}
	zone := time.Local
	if !a.stdoutTerminal { // a file must not depend on where it was made
		zone = time.UTC
	}
	ledger := stats.NewLedger(stats.Axis(c.By), zone, table)
	cache := stats.NewCacheLedger(table)
	walk, err := newWalk(a, named, true)
	if err != nil {
		return err
	}
	failed := false
	walk.Problem = func(err error) {
		a.warn("%v", err)
		failed = true
	}
	err = walk.Each(ctx, func(_ workspace.Entry, conv *workspace.Conversation) error {
		if c.By == byCause {
			return cache.Add(subjectOf(conv))
		}
		return ledger.Add(subjectOf(conv))
	})
	if err != nil {
		return err
	}
	if c.By == byCause {
		err = c.tellCaching(a, cache.Caching())
	} else {
		err = c.tellSpending(a, ledger.Rows())
	}
	if err != nil {
		return err
	}
	if failed {
		return report.ErrProblems
	}
	return nil
}

// subjectOf returns a conversation whose answers are counted.
func subjectOf(conv *workspace.Conversation) stats.Subject {
	return stats.Subject{
		ID: conv.ID, Agent: agentOf(conv.Details), Base: conv.BaseConfig, Stream: conv.Stream,
	}
}

// agentOf returns the agent that a conversation was imported from, or is a copy of an import from.
func agentOf(d *events.Details) string {
	return events.AgentOf(cmp.Or(
		d.Labels[events.LabelSession], d.Labels[events.LabelSessionOf],
		d.Labels[events.LabelParent],
	))
}

func (c statsCmd) tellSpending(a *app, rows []stats.Row) error {
	switch {
	case a.JSON:
	case len(rows) == 0:
		a.note("no answer has recorded usage")
	case c.Chart:
		return c.printer(a).ChartSpending(rows)
	default:
		return c.printer(a).Spending(rows)
	}
	return render.Records(&a.terminal.Printer, rows)
}

// tellCaching prints how much of the prompts came from caches, and why the rest did not.
func (c statsCmd) tellCaching(a *app, cache stats.Caching) error {
	switch {
	case a.JSON:
		return a.printJSON(cache)
	case cache.Answers == 0:
		a.note("no answer has recorded usage")
		return nil
	case c.Chart:
		return c.printer(a).ChartCaching(cache)
	default:
		return c.printer(a).Caching(cache)
	}
}

func (c statsCmd) printer(a *app) figures.Printer {
	return figures.Printer{
		Out: a.stdout, Output: a.output(), Terminal: a.stdoutTerminal, All: c.All, By: c.By,
	}
}
