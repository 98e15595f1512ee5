package main

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

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
	state := figures.CacheWords(t.Cold)
	if !t.Asked.IsZero() {
		state += ", asked last " + a.terminal.Moment(t.Asked)
	}
	if t.Gone > 0 {
		state += fmt.Sprintf("; it surely forgets after %s", t.Gone)
	}
	return state
}

func whole(n float64) string { return render.Number(int64(n)) }
