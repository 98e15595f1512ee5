package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// An Axis is what answers are told apart by.
type Axis string

// The axes.
const (
	ByDay    Axis = "day"
	ByModel  Axis = "model"
	ByAuthor Axis = "author"
)

// A Row is what has been spent on one day, with one model or by one author.
type Row struct {
	Name          string  `json:"name"`
	Conversations int     `json:"conversations"`
	Answers       int     `json:"answers"`
	Input         int64   `json:"input"` // with what came from a cache
	Cached        int64   `json:"cached"`
	Output        int64   `json:"output"`
	USD           float64 `json:"usd"`
	// Unpriced is how many of the answers are of models whose price is not known.
	Unpriced int `json:"unpriced"`

	last events.ID // the conversation that was counted last
}

// A Ledger adds up.
type Ledger struct {
	axis  Axis
	zone  *time.Location
	table *models.Table
	seen  map[blobs.Hash]bool
	rows  map[string]*Row
}

// NewLedger returns an empty one. A day is one of the zone.
func NewLedger(axis Axis, zone *time.Location, table *models.Table) *Ledger {
	return &Ledger{
		axis: axis, zone: zone, table: table, seen: map[blobs.Hash]bool{}, rows: map[string]*Row{},
	}
}

// Add adds a conversation with the configuration that it began with. Its answers count unless
// they were counted already.
func (l *Ledger) Add(id events.ID, base []byte, s *events.Stream) error {
	err := eachAnswer(base, s, func(a answer) {
		if !l.seen[a.element.Sum()] {
			l.seen[a.element.Sum()] = true
			l.count(id, a)
		}
	})
	if err != nil {
		return fmt.Errorf("read the configuration of %s: %w", id, err)
	}
	return nil
}

func usageOf(u compact.Usage) llm.Usage {
	return llm.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Model: u.Model,
	}
}

func orEmpty(data []byte) []byte {
	if len(data) == 0 {
		return []byte("{}")
	}
	return data
}

// modelOf returns the model that a configuration names, in either of its forms.
func modelOf(c settings.Config) string {
	text := func(path ...string) string {
		s, ok := c.Setting(append([]string{"assistant", "model", "id"}, path...)...)
		if !ok {
			return ""
		}
		return strings.Trim(string(s.Value()), `"`)
	}
	if provider, name := text("provider"), text("name"); provider != "" && name != "" {
		return provider + "/" + name
	}
	if id := text(); !strings.HasPrefix(id, "{") {
		return id
	}
	return ""
}

func (l *Ledger) count(id events.ID, a answer) {
	name, u := cmp.Or(a.author, "(nobody)"), a.usage
	switch l.axis {
	case ByDay:
		name = a.element.Time().In(l.zone).Format(time.DateOnly)
	case ByModel:
		name = cmp.Or(a.model, "(unknown)")
	}
	r := l.rows[name]
	if r == nil {
		r = &Row{Name: name}
		l.rows[name] = r
	}
	if r.last != id {
		r.last = id
		r.Conversations++
	}
	r.Answers++
	r.Input += u.Prompt()
	r.Cached += u.CacheRead
	r.Output += u.Output
	usd, known := cost(l.table, a.model, u)
	r.USD += usd
	if !known {
		r.Unpriced++
	}
}

// Cost returns what an answer of a model has cost, and whether that is known.
func Cost(table *models.Table, model string, u compact.Usage) (usd float64, known bool) {
	return cost(table, model, usageOf(u))
}

func cost(table *models.Table, model string, u llm.Usage) (usd float64, known bool) {
	row, _ := table.Find(model)
	usd, known = row.Cost(u, false)
	provider, _, _ := llm.SplitID(model)
	return usd, known || isFree(provider)
}

// isFree reports whether a provider's models run on this machine.
func isFree(provider string) bool {
	p, _ := models.Find(provider)
	return p.Local
}

// Rows returns what was spent, by name.
func (l *Ledger) Rows() []Row {
	all := make([]Row, 0, len(l.rows))
	for _, r := range l.rows {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Total returns the sum of rows. Conversations that are in several are in it once for each.
func Total(rows []Row) (sum Row) {
	for _, r := range rows {
		sum.Answers += r.Answers
		sum.Input += r.Input
		sum.Cached += r.Cached
		sum.Output += r.Output
		sum.USD += r.USD
		sum.Unpriced += r.Unpriced
	}
	return sum
}
