package compact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// A Report describes the changes that a run made, or would make.
type Report struct {
	Strategies []string `json:"strategies"`
	KeepLast   int      `json:"keep_last"`

	EventsBefore  int   `json:"events_before"`
	EventsAfter   int   `json:"events_after"`
	EventsRemoved int   `json:"events_removed"`
	BytesBefore   int64 `json:"bytes_before"`
	BytesAfter    int64 `json:"bytes_after"`

	TokensBefore float64 `json:"tokens_before"`
	TokensAfter  float64 `json:"tokens_after"`
	TokensSaved  float64 `json:"estimated_tokens_saved"`
	// Error is the error of the estimates, as a share, and Samples the number of exchanges with
	// known usage from which it was learned.
	Error   float64 `json:"estimate_error"`
	Samples int     `json:"estimate_samples"`

	Steps []Step       `json:"steps"`
	Tools []ToolSaving `json:"tools"`
	Money *Money       `json:"money"`
	Goal  float64      `json:"goal_tokens"` // of auto; 0 if there is none
	// Idle is the reason why there was nothing to gain, or "" if there was, or if it is unknown.
	Idle string `json:"nothing_to_gain_because,omitempty"`
}

// A Step describes the changes of one strategy.
type Step struct {
	Strategy      string       `json:"strategy"`
	Reason        string       `json:"reason"`
	EventsRemoved int          `json:"events_removed"`
	Changed       int          `json:"events_changed"`
	Bytes         int64        `json:"bytes_saved"`
	Tokens        float64      `json:"estimated_tokens_saved"`
	Tools         []ToolSaving `json:"tools"`
	Pruned        []string     `json:"pruned_tools,omitempty"`
	Tangents      []Tangent    `json:"tangents,omitempty"`
	Usage         *Usage       `json:"usage,omitempty"` // of calling a model
	Notes         []string     `json:"notes,omitempty"`
}

// A ToolSaving is the saving in the calls of one tool.
type ToolSaving struct {
	Tool   string  `json:"tool"`
	Events int     `json:"events_removed"`
	Bytes  int64   `json:"bytes_saved"`
	Tokens float64 `json:"estimated_tokens_saved"`
}

// Changed reports whether anything changed.
func (r *Report) Changed() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.EventsRemoved != 0 || s.Changed != 0 || len(s.Pruned) > 0
	})
}

// savings returns the savings by tool, the largest first.
func savings(before, after map[string]Size) []ToolSaving {
	all := []ToolSaving{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		b, a := before[name], after[name]
		s := ToolSaving{name, b.Events - a.Events, b.Bytes - a.Bytes, b.Tokens - a.Tokens}
		if s.Events != 0 || s.Bytes != 0 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b ToolSaving) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

// changedEvents counts the elements of after that before does not have.
func changedEvents(before, after *events.Stream) int {
	if before == after {
		return 0
	}
	n, had := 0, given(before)
	for _, e := range after.All() {
		if !had(e) {
			n++
		}
	}
	return n
}

// finish completes the report.
func (j *job) finish() {
	r := &j.report
	r.EventsAfter, r.BytesAfter, r.TokensAfter = j.size.Events, j.size.Bytes, j.size.Tokens
	r.EventsRemoved = r.EventsBefore - r.EventsAfter
	r.TokensSaved = r.TokensBefore - r.TokensAfter
	r.Tools = savings(j.first.Tools, j.size.Tools)
	r.Money = j.money()
	if n := len(openings(j.source)); !r.Changed() && j.KeepCalls == 0 && n > 0 && n <= j.KeepLast {
		r.Idle = fmt.Sprintf("its turns are %d, and the last %d are left alone", n, j.KeepLast)
	}
}

// money returns the cost and savings of the change, or nil if nothing is known about the model.
func (j *job) money() *Money {
	if j.Market.Model == "" && !j.Market.Priced() {
		return nil
	}
	return j.Market.Rewrite(j.first.Tokens-j.size.Tokens, j.tail(), j.Cold)
}

// tail returns the tokens of the source from the first changed element on.
func (j *job) tail() float64 {
	has := given(j.stream)
	view := j.source.Project().Stream
	sum, cut := 0.0, false
	for i, e := range view.All() {
		cut = cut || e.Kind().IsEvent() && !has(e)
		if cut && i < len(j.first.Element) {
			sum += j.first.Element[i].Tokens
		}
	}
	if j.report.prunes() { // tool definitions precede everything
		return j.first.Tokens
	}
	return sum
}

func (r *Report) prunes() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return len(s.Pruned) > 0 })
}
