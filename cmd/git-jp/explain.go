package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
)

// explain shows what would be sent.
func explain(ctx context.Context, a *app, q *prepare.Query, p query.Prompt) error {
	e, trimming, err := q.Explain(ctx, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(e)
	}
	var decided [][2]string
	if e.Trim != nil {
		decided = a.trimFields(trimming)
	}
	return render.Fields(a.stdout, a.output(),
		explanationFields(e, decided, q.Config.Claims())...)
}

// explanationFields are an explanation for people, with what would have to be approved.
func explanationFields(
	e *prepare.Explanation, decided [][2]string, claims []trust.Claim,
) [][2]string {
	pairs := [][2]string{
		{"Model", e.Model},
		{"Messages", render.Number(int64(e.Messages))},
		{"Tokens", "about " + render.Number(int64(e.Tokens))},
	}
	for _, kind := range []string{
		"system", "tools", "resources", "user", "assistant", "reasoning", "calls", "results",
		"media",
	} {
		if n := e.Bytes[kind]; n > 0 {
			pairs = append(pairs, [2]string{
				"  " + kind, fmt.Sprintf("about %s, %s",
					render.Number(int64(e.TokensByKind[kind])), render.Bytes(int64(n))),
			})
		}
	}
	if e.Prefix > 0 {
		state := "which the provider may still have"
		if e.Forgotten {
			state = "which the provider has forgotten"
		}
		pairs = append(pairs, [2]string{
			"Sent before", fmt.Sprintf("about %s, %s", render.Number(int64(e.Prefix)), state),
		})
	}
	if e.Compacted > 0 {
		pairs = append(pairs, [2]string{
			"Compacted by the provider",
			plural(e.Compacted, "message") + ", in whose place it reads its own summary",
		})
	}
	if e.Saved > 0 {
		pairs = append(pairs, [2]string{"Not sent again", render.Bytes(e.Saved)})
	}
	if e.CostUSD != nil {
		pairs = append(pairs, [2]string{
			"Cost of the prompt", fmt.Sprintf("about $%.4f", *e.CostUSD),
		})
	}
	pairs = append(pairs, decided...)
	for _, uri := range e.Resources {
		pairs = append(pairs, [2]string{"Resource", uri})
	}
	for _, name := range e.Tools {
		pairs = append(pairs, [2]string{"Tool", name})
	}
	for _, layer := range e.Layers {
		pairs = append(pairs, [2]string{"Configuration", layer})
	}
	for _, words := range e.Words {
		pairs = append(pairs, [2]string{"Words of others", words})
	}
	if e.Delta != "" {
		pairs = append(pairs, [2]string{"Sticks", e.Delta})
	}
	for _, claim := range claims {
		pairs = append(pairs, [2]string{"Would need approval", claim.String()})
	}
	return pairs
}
