package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
)

type debugCmd struct {
	Replay replayCmd `cmd:"" help:"Tell what the input of a conversation would have cost under each schedule."`
}

type replayCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default."`
	Model        []string `short:"m" placeholder:"MODEL" help:"Prices of this model; of all with a price by default."`
}

// Help says what is assumed.
func (replayCmd) Help() string {
	return `Goes through the requests of a conversation, with their times, and computes what their
input costs under each schedule of trim.schedule and the prices of each model. A request is
read from the cache up to the first byte that differs from the one before, for as long as
the provider promises; the rest is written.`
}

// A replayRecord is what `debug replay --json` prints.
type replayRecord struct {
	Model    string `json:"model"`
	Schedule string `json:"schedule"`
	compact.Cost
	Change float64 `json:"change"` // of the cost, as a share, against never
	AsOf   string  `json:"prices_as_of"`
}

// Run replays a conversation.
func (c replayCmd) Run(ctx context.Context, a *app) error {
	return reading(ctx, a, c.Conversation, c.replay)
}

func (c replayCmd) replay(_ context.Context, a *app, r *prepare.Compaction) error {
	known := r.Settings()
	all, err := compact.Histories(r.Conversation.Stream, compact.ObsoleteOptions{
		Rules: known.Rules, Limits: known.Limits(), Dedup: known.Dedup(), Contents: r.Contents(),
		Stale: func(string) bool { return true },
	})
	if err != nil {
		return err
	}
	records, err := c.records(a, all)
	if err != nil {
		return err
	}
	if a.JSON {
		for _, rec := range records {
			if err := a.printJSON(rec); err != nil {
				return err
			}
		}
		return nil
	}
	return printReplay(a, records)
}

func (c replayCmd) records(a *app, sent []compact.History) ([]replayRecord, error) {
	table, err := a.models()
	if err != nil {
		return nil, err
	}
	var all []replayRecord
	for _, row := range table.Rows() {
		m := compaction.Market(table, row.ID, llm.CachePolicy{})
		if !m.Priced() || len(c.Model) > 0 && !slices.Contains(c.Model, row.ID) {
			continue
		}
		never := compact.ReplayAll(sent, compact.Never, m, m.Promised())
		for _, s := range compact.Schedules() {
			cost := compact.ReplayAll(sent, s, m, m.Promised())
			rec := replayRecord{Model: row.ID, Schedule: string(s), Cost: cost, AsOf: m.AsOf}
			if never.Units > 0 {
				rec.Change = cost.Units/never.Units - 1
			}
			all = append(all, rec)
		}
	}
	if len(all) == 0 {
		return nil, usagef("--model: no price is known")
	}
	return all, nil
}

func printReplay(a *app, records []replayRecord) error {
	t := render.NewTable(a.output(),
		render.Column{Head: "Model", Shrink: true}, render.Column{Head: "Schedule"},
		render.Column{Head: "Requests", Align: render.AlignRight},
		render.Column{Head: "Rewrites", Align: render.AlignRight},
		render.Column{Head: "Trimmed", Align: render.AlignRight},
		render.Column{Head: "Input", Align: render.AlignRight},
		render.Column{Head: "Change", Align: render.AlignRight},
		render.Column{Head: "Prices of"})
	for _, r := range records {
		t.Row(r.Model, r.Schedule, render.Number(int64(r.Calls)), render.Number(int64(r.Rewrites)),
			render.Number(int64(r.Trimmed)), fmt.Sprintf("$%.4f", r.USD),
			fmt.Sprintf("%+.2f %%", 100*r.Change), r.AsOf)
	}
	return t.Write(a.stdout)
}
