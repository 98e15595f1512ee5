package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// usage tells what the turn has cost.
func (k *talk) usage(a query.Answer, took time.Duration) {
	if a.Saved > 0 {
		k.app.note("%s not sent again", render.Bytes(a.Saved))
	}
	u := a.Usage
	if u.Prompt() == 0 && u.Output == 0 {
		return
	}
	parts := []string{render.Number(u.Prompt()) + " tokens in"}
	if u.CacheRead > 0 {
		parts[0] += " (" + render.Number(u.CacheRead) + " cached)"
	}
	parts = append(parts, render.Number(u.Output)+" out")
	if row, ok := priced(k.model.ID()); ok {
		parts = append(parts, fmt.Sprintf("$%.4f (prices of %s)", a.Cost, row.AsOf))
	}
	k.app.note("%s: %s, %s", k.model.ID(), strings.Join(parts, ", "), seconds(took))
}

// priced returns the row of a model whose price is known.
func priced(id string) (models.Row, bool) {
	table, err := models.Builtin()
	if err != nil {
		return models.Row{}, false
	}
	row, _ := table.Find(id)
	return row, row.Price != (models.Price{})
}

// An unpricedError says that nobody knows whether a limit would be held.
type unpricedError struct {
	model string
	limit float64
}

func (e *unpricedError) Error() string {
	return fmt.Sprintf("ask %s for $%.4g at most: its price is not known, so nothing was sent",
		e.model, e.limit)
}

// Hints say how to ask without a limit.
func (*unpricedError) Hints() []string {
	return []string{"'--max-cost 0' sets no limit; 'git jp models' lists the prices that are known"}
}

// budget is what the turn may cost: what the flag says, else the setting. It cannot be held where
// the price is unknown, but on this machine nothing is paid.
func (k *talk) budget() (*query.Budget, error) {
	limit := k.settings.Settings().MaxCost
	if k.maxCost != nil {
		limit = *k.maxCost
	}
	row, known := priced(k.model.ID())
	provider, _, _ := llm.SplitID(k.model.ID())
	p, _ := models.Find(provider)
	free := p.Local || k.model.ID() == builtin.ID
	switch {
	case limit < 0:
		return nil, usagef("--max-cost: expected an amount of US dollars")
	case limit > 0 && !known && !free:
		return nil, &unpricedError{k.model.ID(), limit}
	}
	return &query.Budget{
		Most: limit, Output: row.Output,
		Cost: func(u llm.Usage) float64 {
			usd, _ := row.Cost(u, k.setup.Cache.TTL >= time.Hour)
			return usd
		},
	}, nil
}
