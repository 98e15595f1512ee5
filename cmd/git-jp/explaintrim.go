package main

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// A trimRecord is what the schedule of trimming decides, with its arithmetic.
type trimRecord struct {
	Schedule string  `json:"schedule"`
	Trim     bool    `json:"trim"`
	Why      string  `json:"why"`
	Results  int     `json:"results"`
	Tokens   float64 `json:"estimated_tokens"`        // that would go
	Tail     float64 `json:"estimated_tokens_behind"` // with those, from the first of them on
	Prompt   float64 `json:"estimated_tokens_prompt"`
	Carried  float64 `json:"estimated_tokens_carried"` // that could have gone, over all calls

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

// newTrimRecord returns the record of a decision.
func newTrimRecord(t query.Trimming) *trimRecord {
	r := &trimRecord{
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

// trimFields tell a decision as the report of 'git jp compact' would.
func (a *app) trimFields(t query.Trimming) [][2]string {
	verdict := "no"
	if t.Trim {
		verdict = "yes"
	}
	pairs := [][2]string{{"Trimming", fmt.Sprintf("%s, by the schedule %s: %s",
		verdict, t.Schedule, t.Why)}}
	if t.Tokens > 0 {
		pairs = append(pairs, [2]string{"  due", fmt.Sprintf(
			"%s, about %s tokens of %s; about %s stand from the first of them on",
			render.Count(t.Results, "result"), whole(t.Tokens), whole(t.Prompt), whole(t.Tail))})
		pairs = append(pairs, [2]string{"  cost", t.Money.String()})
		if t.CarriedUSD != nil {
			pairs = append(pairs, [2]string{"  carried", fmt.Sprintf(
				"about %s tokens in %.0f calls, $%.4f; sending the rest again is $%.4f",
				whole(t.Carried), t.Carried/t.Tokens, *t.CarriedUSD, *t.AgainUSD)})
		}
	}
	return append(pairs, [2]string{"  cache", a.cacheState(t)})
}

// cacheState says whether the provider has the prompt, since when and until when.
func (a *app) cacheState(t query.Trimming) string {
	state := cacheWords(t.Cold)
	if !t.Asked.IsZero() {
		state += ", asked last " + moment(a, t.Asked)
	}
	if t.Gone > 0 {
		state += fmt.Sprintf("; it surely forgets after %s", t.Gone)
	}
	return state
}

func whole(n float64) string { return render.Number(int64(n)) }
