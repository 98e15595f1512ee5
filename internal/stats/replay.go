package stats

import (
	"slices"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// A Replay is what the input of a conversation would have cost under a schedule.
type Replay struct {
	Model    string `json:"model"`
	Schedule string `json:"schedule"`
	compact.Cost
	Change float64 `json:"change"` // of the cost, as a share, compared with never
	AsOf   string  `json:"prices_as_of"`
}

// Replays replays the requests sent, under each schedule and the prices of the models in only, or
// of all models with a price if only is empty.
func Replays(sent []compact.History, table *models.Table, only []string) (all []Replay) {
	for _, row := range table.Rows() {
		m := compaction.Market(table, row.ID, llm.CachePolicy{})
		if !m.Priced() || len(only) > 0 && !slices.Contains(only, row.ID) {
			continue
		}
		never := compact.ReplayAll(sent, compact.Never, m, m.Promised())
		for _, s := range compact.Schedules() {
			cost := compact.ReplayAll(sent, s, m, m.Promised())
			r := Replay{Model: row.ID, Schedule: string(s), Cost: cost, AsOf: m.AsOf}
			if never.Units > 0 {
				r.Change = cost.Units/never.Units - 1
			}
			all = append(all, r)
		}
	}
	return all
}
