package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
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

// Help says what the figures are.
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

// Run looks at a conversation.
func (c statsCmd) Run(ctx context.Context, a *app) error {
	if c.By != "" {
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
	o.Subsumer = nil // to look starts no process
	s, err := compact.Survey(ctx, conv.Stream, o)
	if err != nil {
		return err
	}
	table, err := a.models()
	if err != nil {
		return err
	}
	ledger := stats.NewCacheLedger(table)
	if err := ledger.Add(conv.ID, conv.BaseConfig, conv.Stream); err != nil {
		return err
	}
	cache := ledger.Caching()
	if c.Chart && !a.JSON {
		turns, err := stats.Turns(conv.BaseConfig, conv.Stream, table)
		if err != nil {
			return err
		}
		return c.chart(a, s, turns)
	}
	if a.JSON {
		return a.printJSON(statsRecord{conv.ID.String(), conv.Title(), r.ModelID(), s, cache})
	}
	if err := c.print(a, s); err != nil || cache.Answers == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	return a.printCaching(cache)
}

// byCause asks for the ledger of the providers' caches.
const byCause = "cause"

// spending tells what has been spent.
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
			return cache.Add(conv.ID, conv.BaseConfig, conv.Stream)
		}
		return ledger.Add(stats.Subject{
			ID: conv.ID, Agent: agentOf(conv.Details), Base: conv.BaseConfig, Stream: conv.Stream,
		})
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

// agentOf returns the agent whose session a conversation was, or is a copy of.
func agentOf(d *events.Details) string {
	return events.AgentOf(cmp.Or(
		d.Labels[events.LabelSession], d.Labels[events.LabelSessionOf],
		d.Labels[events.LabelParent],
	))
}

func (c statsCmd) tellSpending(a *app, rows []stats.Row) error {
	switch {
	case a.JSON:
	case c.Chart && len(rows) > 0:
		return c.chartSpending(a, rows)
	default:
		return c.printSpending(a, rows)
	}
	for _, r := range rows {
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	return nil
}

func (c statsCmd) printSpending(a *app, rows []stats.Row) error {
	if len(rows) == 0 {
		a.note("no answer has recorded usage")
		return nil
	}
	right := func(head string) render.Column {
		return render.Column{Head: head, Align: render.AlignRight}
	}
	t := render.NewTable(a.output(), render.Column{Head: strings.ToUpper(c.By), Shrink: true},
		right("CONVERSATIONS"), right("ANSWERS"), right("TOKENS IN"), right("CACHED"),
		right("OUT"), right("USD"), render.Column{})
	add := func(name, conversations string, r stats.Row) {
		unpriced := ""
		if r.Unpriced > 0 {
			unpriced = "and " + render.Count(r.Unpriced, "answer") + " without a known price"
		}
		t.Row(name, conversations, render.Number(int64(r.Answers)), render.Number(r.Input),
			render.Number(r.Cached), render.Number(r.Output), fmt.Sprintf("%.4f", r.USD), unpriced)
	}
	for _, r := range rows {
		add(r.Name, render.Number(int64(r.Conversations)), r)
	}
	if len(rows) > 1 {
		add("total", "", stats.Total(rows))
	}
	return t.Write(a.stdout)
}

// largest is how many tools and turns are listed.
const largest = 10

func (c statsCmd) print(a *app, s compact.Stats) error {
	turns := slices.Clone(s.Turns)
	slices.SortStableFunc(turns, func(x, y compact.Share) int {
		return cmp.Compare(y.Tokens, x.Tokens)
	})
	err := render.Fields(a.stdout, a.output(),
		[2]string{"Events", render.Number(int64(s.Events))},
		[2]string{"Bytes", render.Bytes(s.Bytes)},
		[2]string{"Tokens", fmt.Sprintf("about %s (±%.0f %%, %s)",
			render.Number(int64(s.Tokens)), 100*s.Error, learned(s.Samples))})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		head, count string
		shares      []compact.Share
		all         int // how many there are, 0 where all are listed
	}{
		{"Kind", "Events", s.Sorts, 0},
		{"Tool", "Events", c.cut(s.Tools), len(s.Tools)},
		{"Turn", "Events", c.cut(turns), len(turns)},
		{"Had before", "Results", s.Sent, 0},
		{"Twice or of no use", "Results", s.Waste, 0},
		{"Strategy would save", "Events", s.Strategies, 0},
	} {
		if err := printShares(a, part.head, part.count, part.shares, s.Tokens); err != nil {
			return err
		}
		if more := part.all - len(part.shares); part.all > 0 && more > 0 {
			_, err := fmt.Fprintf(a.stdout, "… and %s, listed with --all\n",
				render.Count(more, strings.ToLower(part.head)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c statsCmd) cut(all []compact.Share) []compact.Share {
	if c.All || len(all) <= largest {
		return all
	}
	return all[:largest]
}

// printShares prints one table, with a bar for each row on a terminal.
func printShares(a *app, head, count string, shares []compact.Share, whole float64) error {
	if len(shares) == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	t := render.NewTable(a.output(),
		render.Column{Head: head, Shrink: true},
		render.Column{Head: count, Align: render.AlignRight},
		render.Column{Head: "Bytes", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight},
		render.Column{Head: "Share", Align: render.AlignRight},
		render.Column{})
	for _, s := range shares {
		part := 0.0
		if whole > 0 {
			part = s.Tokens / whole
		}
		bar := ""
		if a.stdoutTerminal {
			bar = render.Bar(part, 0)
		}
		t.Row(s.Name, render.Number(int64(s.Count)), render.Bytes(s.Bytes),
			"≈"+render.Number(int64(s.Tokens)), fmt.Sprintf("%.1f %%", 100*part), bar)
	}
	return t.Write(a.stdout)
}
