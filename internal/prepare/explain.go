package prepare

import (
	"context"
	"time"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
)

// An Explanation is the output of `query --explain --json`.
type Explanation struct {
	Model  string   `json:"model"`
	Layers []string `json:"layers"`
	// Words lists foreign text in the prompt, by its location.
	Words     []string       `json:"words_of_others"`
	Messages  int            `json:"messages"`
	Tools     []string       `json:"tools"`
	Resources []string       `json:"resources"`
	Bytes     map[string]int `json:"bytes"`
	// TokensByKind and Tokens are estimates.
	TokensByKind map[string]int `json:"tokens_by_kind"`
	Tokens       int            `json:"tokens_estimated"`
	// Prefix is how many of the tokens were sent with the last question.
	Prefix    int  `json:"cache_prefix_tokens"`
	Forgotten bool `json:"cache_forgotten"`
	// Compacted is how many messages the provider has compacted itself: it reads its compaction in
	// their place.
	Compacted int      `json:"messages_compacted_by_provider,omitempty"`
	Saved     int64    `json:"bytes_not_sent_again"`
	CostUSD   *float64 `json:"cost_usd_estimated,omitempty"`
	// Trim is null if trimming is off.
	Trim  *TrimDecision `json:"trim"`
	Delta string        `json:"config_delta,omitempty"`
}

// Explain returns the request that would be sent, and the trimming decision, if trimming is on. It
// sends nothing.
func (q *Query) Explain(
	ctx context.Context, p query.Prompt,
) (*Explanation, query.Trimming, error) {
	var none query.Trimming
	turn, err := q.Turn(ctx, nil)
	if err != nil {
		return nil, none, err
	}
	r, plan, err := turn.Explain(p)
	if err != nil {
		return nil, none, err
	}
	m := query.MeasureOf(q.Model.ID(), r)
	e := &Explanation{
		Model: q.Model.ID(), Layers: layers(q.Config),
		Words:    append([]string{}, q.Config.ForeignWords()...),
		Messages: len(r.Messages), Tools: m.Tools, Resources: m.Resources, Bytes: m.Bytes,
		TokensByKind: m.TokensByKind, Tokens: m.Tokens, Prefix: m.Prefix, Compacted: m.Compacted,
		Saved: plan.Saved(), Forgotten: turn.Forgotten(),
	}
	if string(p.Delta) != "{}" {
		e.Delta = string(p.Delta)
	}
	// Cached tokens are counted in full, since the state of the provider's cache is uncertain.
	if row, ok := q.table.Find(e.Model); ok {
		if usd, ok := row.Cost(llm.Usage{Input: int64(e.Tokens)}, 0); ok {
			e.CostUSD = &usd
		}
	}
	trimming, trims, err := turn.Trimming(p)
	if trims {
		e.Trim = newTrimDecision(trimming)
	}
	return e, trimming, err
}

// layers returns the sources of the configuration, from low to high.
func layers(c *jpconfig.Config) []string {
	all := []string{}
	for _, o := range c.Layers() {
		layer := o.Layer.String()
		if at := o.At(); at != layer {
			layer += ": " + at
		}
		all = append(all, layer)
	}
	return all
}

// A TrimDecision is a decision of the trimming schedule, with its calculation.
type TrimDecision struct {
	Schedule string  `json:"schedule"`
	Trim     bool    `json:"trim"`
	Why      string  `json:"why"`
	Results  int     `json:"results"`
	Tokens   float64 `json:"estimated_tokens"`        // that would be removed
	Tail     float64 `json:"estimated_tokens_behind"` // from the first of these on
	Prompt   float64 `json:"estimated_tokens_prompt"`
	Carried  float64 `json:"estimated_tokens_carried"` // removable, sent over all calls

	Paid      *float64   `json:"usd_carried"`
	Again     *float64   `json:"usd_sent_again"`
	Now       *float64   `json:"usd_saved_next_call"`
	Later     *float64   `json:"usd_saved_later_call"`
	BreakEven *float64   `json:"break_even_calls"`
	Cold      bool       `json:"cache_cold"`
	Asked     *time.Time `json:"last_asked_at"`
	Gone      float64    `json:"cache_gone_after_seconds"`
	AsOf      string     `json:"prices_as_of"`
}

// newTrimDecision returns the record of a decision.
func newTrimDecision(t query.Trimming) *TrimDecision {
	r := &TrimDecision{
		Schedule: string(t.Schedule), Trim: t.Trim, Why: t.Why, Results: t.Results,
		Tokens: t.Tokens, Tail: t.Tail, Prompt: t.Prompt, Carried: t.Carried,
		Paid: t.CarriedUSD, Again: t.AgainUSD, Now: t.Money.Now, Later: t.Money.PerCall,
		BreakEven: t.Money.BreakEven, Cold: t.Money.Cold, Gone: t.Gone.Seconds(),
		AsOf: t.Money.AsOf,
	}
	if !t.Asked.IsZero() {
		r.Asked = &t.Asked
	}
	return r
}
