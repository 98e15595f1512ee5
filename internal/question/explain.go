package question

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
)

// Explain prints the request that would be sent.
func Explain(ctx context.Context, p *render.Printer, q *prepare.Query, put query.Prompt) error {
	e, trimming, err := q.Explain(ctx, put)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Records(e)
	}
	var decided [][2]string
	if e.Trim != nil {
		decided = trimFields(p, trimming)
	}
	return render.Fields(p.Out, p.Output, explanationFields(e, decided, q.Config.Claims())...)
}

// explanationFields returns the fields of an explanation, with the number of approvals that are
// needed.
func explanationFields(
	e *prepare.Explanation, decided [][2]string, claims []trust.Claim,
) [][2]string {
	pairs := [][2]string{
		{"Model", e.Model},
		{"Messages", render.Number(int64(e.Messages))},
		{"Tokens", "about " + render.Number(int64(e.Tokens))},
	}
	add := func(name, value string) { pairs = append(pairs, [2]string{name, value}) }
	for _, kind := range []string{
		"system", "tools", "resources", "user", "assistant", "reasoning", "calls", "results",
		"media",
	} {
		if n := e.Bytes[kind]; n > 0 {
			add("  "+kind, fmt.Sprintf("about %s, %s",
				render.Number(int64(e.TokensByKind[kind])), render.Bytes(int64(n))))
		}
	}
	if e.Prefix > 0 {
		state := "which may still be in the provider's cache"
		if e.Forgotten {
			state = "which is no longer in the provider's cache"
		}
		add("Sent before", fmt.Sprintf("about %s, %s", render.Number(int64(e.Prefix)), state))
	}
	if e.Compacted > 0 {
		add("Compacted by the provider", render.Count(e.Compacted, "message")+
			", in whose place it reads its own summary")
	}
	if e.Saved > 0 {
		add("Not sent again", render.Bytes(e.Saved))
	}
	if e.CostUSD != nil {
		add("Cost of the prompt", fmt.Sprintf("about $%.4f", *e.CostUSD))
	}
	pairs = append(pairs, decided...)
	for _, uri := range e.Resources {
		add("Resource", uri)
	}
	for _, name := range e.Tools {
		add("Tool", name)
	}
	for _, layer := range e.Layers {
		add("Configuration", layer)
	}
	for _, words := range e.Words {
		add("Words of others", words)
	}
	if e.Delta != "" {
		add("Sticks", e.Delta)
	}
	for _, claim := range claims {
		add("Would need approval", claim.String())
	}
	return pairs
}

// trimFields returns the fields of a trimming decision, as in the report of 'git jp compact'.
func trimFields(p *render.Printer, t query.Trimming) [][2]string {
	verdict := "no"
	if t.Trim {
		verdict = "yes"
	}
	pairs := [][2]string{{"Trimming", fmt.Sprintf("%s, by the schedule %s: %s",
		verdict, t.Schedule, t.Why)}}
	if t.Tokens > 0 {
		pairs = append(pairs, [2]string{"  due", fmt.Sprintf(
			"%s, about %s tokens of %s; about %s follow from the first of them",
			render.Count(t.Results, "result"), whole(t.Tokens), whole(t.Prompt), whole(t.Tail))})
		pairs = append(pairs, [2]string{"  cost", t.Money.String()})
		if t.CarriedUSD != nil {
			pairs = append(pairs, [2]string{"  carried", fmt.Sprintf(
				"about %s tokens in %.0f calls, $%.4f; sending the rest again is $%.4f",
				whole(t.Carried), t.Carried/t.Tokens, *t.CarriedUSD, *t.AgainUSD)})
		}
	}
	return append(pairs, [2]string{"  cache", cacheState(p, t)})
}

// cacheState describes whether the provider has the prompt cached, since when and until when.
func cacheState(p *render.Printer, t query.Trimming) string {
	state := figures.CacheWords(t.Cold)
	if !t.Asked.IsZero() {
		state += ", asked last " + p.Moment(t.Asked)
	}
	if t.Gone > 0 {
		state += fmt.Sprintf("; its cache expires after %s", t.Gone)
	}
	return state
}

func whole(n float64) string { return render.Number(int64(n)) }
