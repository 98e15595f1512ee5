package main

import (
	"fmt"
	"strings"
	"time"

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
	if table, err := models.Builtin(); err == nil {
		if row, ok := table.Find(k.model.ID()); ok {
			if usd, ok := row.Cost(u, k.setup.Cache.TTL >= time.Hour); ok {
				parts = append(parts, fmt.Sprintf("$%.4f (prices of %s)", usd, row.AsOf))
			}
		}
	}
	k.app.note("%s: %s, %s", k.model.ID(), strings.Join(parts, ", "), seconds(took))
}
