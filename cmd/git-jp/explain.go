package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
)

// An explainRecord is what `query --explain --json` prints.
type explainRecord struct {
	Model  string   `json:"model"`
	Layers []string `json:"layers"`
	// Words are where others put words of theirs into the prompt.
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
	// Compacted is how many messages the provider has compacted itself: it reads what it made of
	// them in their place.
	Compacted int      `json:"messages_compacted_by_provider,omitempty"`
	Saved     int64    `json:"bytes_not_sent_again"`
	CostUSD   *float64 `json:"cost_usd_estimated,omitempty"`
	// Trim is null where nothing is ever trimmed.
	Trim  *trimRecord `json:"trim"`
	Delta string      `json:"config_delta,omitempty"`
}

// explain shows what would be sent.
func explain(ctx context.Context, a *app, q *prepare.Query, p query.Prompt) error {
	turn, err := q.Turn(ctx, nil)
	if err != nil {
		return err
	}
	r, plan, err := turn.Explain(p)
	if err != nil {
		return err
	}
	m := query.MeasureOf(q.Model.ID(), r)
	e := explainRecord{
		Model: q.Model.ID(), Layers: layers(q.Config),
		Words:    append([]string{}, q.Config.ForeignWords()...),
		Messages: len(r.Messages), Tools: m.Tools, Resources: m.Resources, Bytes: m.Bytes,
		TokensByKind: m.TokensByKind, Tokens: m.Tokens, Prefix: m.Prefix, Compacted: m.Compacted,
		Saved: plan.Saved(), Forgotten: turn.Forgotten(),
	}
	if string(p.Delta) != "{}" {
		e.Delta = string(p.Delta)
	}
	e.price(a)
	trimming, trims, err := turn.Trimming(p)
	if err != nil {
		return err
	}
	var decided [][2]string
	if trims {
		e.Trim, decided = newTrimRecord(trimming), a.trimFields(trimming)
	}
	if a.JSON {
		return a.printJSON(e)
	}
	return render.Fields(a.stdout, a.output(), e.fields(decided, q.Config.Claims())...)
}

// layers are the sources of the configuration, from low to high.
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

// price tells what the prompt costs where the price is known: what the provider may still
// have is not counted as that, since nobody can be sure.
func (e *explainRecord) price(a *app) {
	table, err := a.models()
	if err != nil {
		return
	}
	row, ok := table.Find(e.Model)
	if !ok {
		return
	}
	if usd, ok := row.Cost(llm.Usage{Input: int64(e.Tokens)}, false); ok {
		e.CostUSD = &usd
	}
}

// fields are the record for people, with what would have to be approved.
func (e *explainRecord) fields(decided [][2]string, claims []trust.Claim) [][2]string {
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
