package stats

import (
	"cmp"
	"encoding/json"
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

// An Axis groups answers.
type Axis string

// The axes.
const (
	ByDay    Axis = "day"
	ByModel  Axis = "model"
	ByAuthor Axis = "author"
	ByAgent  Axis = "agent"
	ByTool   Axis = "tool"
)

// NoTool is the name of answers to prompts among those to the results of tools.
const NoTool = "(prompt)"

// A Row is what has been spent on one day, with one model, by one author or agent, or on one tool.
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

// NewLedger returns an empty ledger. A day begins and ends by the clock of the zone.
func NewLedger(axis Axis, zone *time.Location, table *models.Table) *Ledger {
	return &Ledger{
		axis: axis, zone: zone, table: table, seen: map[blobs.Hash]bool{}, rows: map[string]*Row{},
	}
}

// A Subject is a conversation whose answers are counted.
type Subject struct {
	ID     events.ID
	Agent  string // from whose session it was imported, "" for none
	Base   []byte // its base configuration
	Stream *events.Stream
}

// Add adds a conversation. Its answers count unless they were counted already.
func (l *Ledger) Add(s Subject) error {
	err := eachAnswer(s.Base, s.Stream, func(a answer) {
		if key := a.identity(s.Agent); !l.seen[key] {
			l.seen[key] = true
			l.count(s, a)
		}
	})
	if err != nil {
		return fmt.Errorf("read the configuration of %s: %w", s.ID, err)
	}
	return nil
}

// identity returns what identifies an answer in every copy: the agent's own name for it or the
// request, with what it has used, since a copy may have been edited or redacted; else its content.
func (a *answer) identity(agent string) blobs.Hash {
	e, agent := a.element, cmp.Or(a.agent, agent)
	if key, ok := e.Metadata().Text(events.MetadataSource); ok && agent != "" {
		return blobs.Sum([]byte(agent + "\x00" + string(e.Kind()) + "\x00" + key))
	}
	if a.asked.sent {
		request, err := json.Marshal(a.sent)
		if err == nil {
			return blobs.Sum(fmt.Appendf(request, "%+v", a.charges))
		}
	}
	return e.Sum()
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
		return settings.ModelOfWord(id)
	}
	return ""
}

func (l *Ledger) count(s Subject, a answer) {
	name := cmp.Or(a.author, "(no author)")
	switch l.axis {
	case ByDay:
		name = a.element.Time().In(l.zone).Format(time.DateOnly)
	case ByModel:
		name = cmp.Or(a.model, "(unknown)")
	case ByAgent:
		name = cmp.Or(a.agent, s.Agent, "(none)")
	case ByTool:
		name = cmp.Or(a.given.tool, NoTool)
	}
	r := l.rows[name]
	if r == nil {
		r = &Row{Name: name}
		l.rows[name] = r
	}
	if r.last != s.ID {
		r.last = s.ID
		r.Conversations++
	}
	r.Count(a.priced(s.Agent, l.table))
}

// Count adds an answer.
func (r *Row) Count(a Answer) {
	r.Answers++
	r.Input += a.Input
	r.Cached += a.Cached
	r.Output += a.Output
	r.USD += a.USD
	if !a.Priced {
		r.Unpriced++
	}
}

// cost returns the cost of an answer, whose requests are priced one by one: the price of a token
// depends on the size of the prompt. Cache writes for an hour cost more.
func (a *answer) cost(table *models.Table) (usd float64, known bool) {
	row, known := table.Priced(a.model)
	for _, c := range a.charges {
		one, _ := row.Cost(c.Usage, c.hour)
		usd += one
	}
	provider, _, _ := llm.SplitID(a.model)
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

// Total returns the sum of rows. Conversations in several rows count once for each.
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
