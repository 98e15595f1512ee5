package main

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// bytesPerToken is a guess that is good enough for a plan.
const bytesPerToken = 4

// An explainRecord is what `query --explain --json` prints.
type explainRecord struct {
	Model     string         `json:"model"`
	Messages  int            `json:"messages"`
	Tools     []string       `json:"tools"`
	Resources []string       `json:"resources"`
	Bytes     map[string]int `json:"bytes"`
	Tokens    int            `json:"tokens_estimated"`
	Saved     int64          `json:"bytes_not_sent_again"`
	CostUSD   *float64       `json:"cost_usd_estimated,omitempty"`
	Delta     string         `json:"config_delta,omitempty"`
}

// explain tells what would be sent.
func (k *talk) explain(p query.Prompt) error {
	turn, err := k.turn(nil)
	if err != nil {
		return err
	}
	r, plan, err := turn.Explain(p)
	if err != nil {
		return err
	}
	e := explainRecord{
		Model: k.model.ID(), Messages: len(r.Messages), Tools: []string{}, Resources: []string{},
		Bytes: map[string]int{}, Saved: plan.Saved(),
	}
	if string(p.Delta) != "{}" {
		e.Delta = string(p.Delta)
	}
	e.measure(r)
	if table, err := models.Builtin(); err == nil {
		if row, ok := table.Find(e.Model); ok {
			if usd, ok := row.Cost(llm.Usage{Input: int64(e.Tokens)}, false); ok {
				e.CostUSD = &usd
			}
		}
	}
	if k.app.JSON {
		return k.app.printJSON(e)
	}
	return k.printPlan(e)
}

// measure adds up the request by kind.
func (e *explainRecord) measure(r *llm.Request) {
	for _, s := range r.System {
		e.Bytes["system"] += len(s.Text)
	}
	for _, t := range r.Tools {
		e.Tools = append(e.Tools, t.Name)
		e.Bytes["tools"] += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			e.part(m.Role, p)
		}
	}
	for _, n := range e.Bytes {
		e.Tokens += n
	}
	e.Tokens /= bytesPerToken
}

func (e *explainRecord) part(role llm.Role, p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		e.Bytes[string(role)] += len(p.Text)
	case llm.Reasoning:
		e.Bytes["reasoning"] += len(p.Text)
	case llm.Data:
		e.Bytes[string(role)] += len(p.Value)
	case llm.Call:
		e.Bytes["calls"] += len(p.Name) + len(p.Args)
	case llm.Resource:
		e.Resources = append(e.Resources, p.URI)
		e.Bytes["resources"] += len(p.Text) + len(p.Bytes)
	case llm.Media:
		e.Bytes["media"] += len(p.Bytes)
	case llm.Result:
		before := e.Bytes["user"]
		for _, q := range p.Parts {
			e.part(llm.RoleUser, q)
		}
		e.Bytes["results"] += e.Bytes["user"] - before
		e.Bytes["user"] = before
	}
}

func (k *talk) printPlan(e explainRecord) error {
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
			pairs = append(pairs, [2]string{"  " + kind, render.Bytes(int64(n))})
		}
	}
	if e.Saved > 0 {
		pairs = append(pairs, [2]string{"Not sent again", render.Bytes(e.Saved)})
	}
	if e.CostUSD != nil {
		pairs = append(pairs, [2]string{
			"Cost of the prompt", fmt.Sprintf("about $%.4f", *e.CostUSD),
		})
	}
	for _, uri := range e.Resources {
		pairs = append(pairs, [2]string{"Resource", uri})
	}
	for _, name := range e.Tools {
		pairs = append(pairs, [2]string{"Tool", name})
	}
	if e.Delta != "" {
		pairs = append(pairs, [2]string{"Sticks", e.Delta})
	}
	for _, claim := range k.config.Claims() {
		pairs = append(pairs, [2]string{"Would need approval", claim.String()})
	}
	return render.Fields(k.app.stdout, k.app.output(), pairs...)
}
