package main

import (
	"context"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/stats"
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
	table, err := a.models()
	if err != nil {
		return err
	}
	replays := stats.Replays(all, table, c.Model)
	if len(replays) == 0 {
		return usagef("--model: no price is known")
	}
	return figures.Replays(&a.terminal.Printer, replays)
}
