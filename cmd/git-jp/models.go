package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

type modelsCmd struct {
	Provider string `arg:"" optional:"" help:"Ask this provider what it has."`
}

// Help says where the list comes from.
func (modelsCmd) Help() string {
	return `Lists the models that something is known of, and the short names of the configuration,
without asking anybody; with a provider, those that it says it has.

WINDOW is in tokens. Prices are US dollars for a million tokens, as they were on the day
beside them; --json has the source, and what cached tokens cost. KEY is the environment
variable of the provider's key and whether it is set, never what it holds. The model that
is used without --model is marked with *.`
}

// modelRecord is a model in the JSON of `models`.
type modelRecord struct {
	ID         string       `json:"id"`
	Title      string       `json:"title,omitempty"`
	Aliases    []string     `json:"aliases"`
	Chosen     bool         `json:"chosen"`
	Window     int          `json:"window"`
	MaxOutput  int          `json:"max_output"`
	Accepts    []string     `json:"accepts"`
	Reasoning  bool         `json:"reasoning"`
	Price      *priceRecord `json:"price"`
	KeyEnv     string       `json:"key_env"`
	KeyPresent bool         `json:"key_present"`
	Local      bool         `json:"local"`
}

// priceRecord is what a model costs, in USD for a million tokens.
type priceRecord struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	AsOf       string  `json:"as_of"`
	Source     string  `json:"source"`
}

// Run lists models.
func (c modelsCmd) Run(ctx context.Context, a *app) error {
	l, err := newModelList(a)
	if err != nil {
		return err
	}
	warnOfConfig(a, l.config)
	records, err := l.known(), error(nil)
	if c.Provider != "" {
		records, err = l.ask(ctx, c.Provider)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		for _, r := range records {
			if err := a.printJSON(r); err != nil {
				return err
			}
		}
		return nil
	}
	return printModels(a, records)
}

func printModels(a *app, records []modelRecord) error {
	table := render.NewTable(a.output(),
		render.Column{}, render.Column{Head: "MODEL"},
		render.Column{Head: "WINDOW", Align: render.AlignRight},
		render.Column{Head: "IN", Align: render.AlignRight},
		render.Column{Head: "OUT", Align: render.AlignRight},
		render.Column{Head: "AS OF"}, render.Column{Head: "KEY"},
		render.Column{Head: "ALIASES", Shrink: true})
	for _, r := range records {
		mark, in, out, asOf := "", "", "", ""
		if r.Chosen {
			mark = "*"
		}
		if r.Price != nil {
			in, out = dollars(r.Price.Input), dollars(r.Price.Output)
			asOf = r.Price.AsOf
		}
		table.Row(mark, r.ID, tokens(r.Window), in, out, asOf, r.key(),
			strings.Join(r.Aliases, " "))
	}
	return table.Write(a.stdout)
}

func (r modelRecord) key() string {
	switch {
	case r.Local:
		return "none needed"
	case r.KeyEnv == "":
		return ""
	case r.KeyPresent:
		return r.KeyEnv + " is set"
	default:
		return r.KeyEnv + " is not set"
	}
}

func tokens(n int) string {
	if n == 0 {
		return "?"
	}
	return render.Number(int64(n))
}

func dollars(usd float64) string { return fmt.Sprintf("%.2f", usd) }

// A modelList is what is known of models here.
type modelList struct {
	app     *app
	config  *jpconfig.Config
	gate    trust.Gate
	table   *models.Table
	chosen  string
	aliases map[string][]string // by id
}

// newModelList reads what is known. There need not be a workspace.
func newModelList(a *app) (*modelList, error) {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return nil, err
	}
	if a.openConfig == nil { // outside of a workspace there is the user's
		if _, err := a.configAt(""); err != nil {
			return nil, err
		}
	}
	table, err := a.models()
	if err != nil {
		return nil, err
	}
	l := &modelList{
		app: a, config: conf, gate: trust.Nobody{}, table: table, aliases: map[string][]string{},
	}
	if gate, err := gateOf(a); err == nil {
		l.gate = gate
	} else if !errors.Is(err, workspace.ErrNoWorkspace) {
		return nil, err
	}
	if m, err := conf.Model(); err == nil {
		l.chosen = m.ID.String()
	}
	var named map[string]any
	conf.Decode(&named, "providers", "llm", "aliases")
	for _, alias := range slices.Sorted(maps.Keys(named)) {
		id, err := conf.ResolveModel(alias)
		if err != nil {
			a.warn("providers.llm.aliases.%s: %v", alias, err)
			continue
		}
		l.aliases[id.String()] = append(l.aliases[id.String()], alias)
	}
	return l, nil
}

// known returns the rows of the table, and what the configuration names beside them.
func (l *modelList) known() (all []modelRecord) {
	seen := map[string]bool{}
	add := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			all = append(all, l.record(llm.Info{}, id))
		}
	}
	for _, row := range l.table.Rows() {
		add(row.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(l.aliases)) {
		add(id)
	}
	add(l.chosen)
	return all
}

// ask asks a provider what it has.
func (l *modelList) ask(ctx context.Context, provider string) (all []modelRecord, err error) {
	list, err := modelsOf(l.app, l.config, l.gate).Catalog(ctx, provider)
	if err != nil {
		return nil, err
	}
	for _, info := range list {
		id := info.ID
		if !strings.HasPrefix(id, provider+"/") {
			id = provider + "/" + id
		}
		all = append(all, l.record(info, id))
	}
	return all, nil
}

// record tells what is known of a model; what the provider said of it counts.
func (l *modelList) record(info llm.Info, id string) modelRecord {
	row, _ := l.table.Find(id)
	r := modelRecord{
		ID: id, Title: info.Title, Aliases: []string{}, Chosen: id == l.chosen,
		Window: info.Window, MaxOutput: info.MaxOutput, Accepts: []string{},
		Reasoning: info.Reasoning || row.Reasoning,
	}
	r.Aliases = append(r.Aliases, l.aliases[id]...)
	r.Accepts = append(r.Accepts, row.Accepts...)
	if r.Window == 0 {
		r.Window = row.Window
	}
	if r.MaxOutput == 0 {
		r.MaxOutput = row.Output
	}
	if own, ok := models.Offered(id, info.Price, l.app.now()).Find(id); ok {
		row = own
	}
	if row.Price != (models.Price{}) {
		p := row.Of(0) // with what is not said of the cache
		r.Price = &priceRecord{
			p.Input, p.Output, p.Read, p.Write,
			row.AsOf.String(), row.Source,
		}
	}
	provider, _, _ := llm.SplitID(id)
	p, _ := models.Find(provider)
	r.KeyEnv, r.Local = l.keyEnv(p), p.Local
	r.KeyPresent = r.KeyEnv != "" && l.app.getenv(r.KeyEnv) != ""
	return r
}

// keyEnv returns the variable of a provider's key: what is approved of the configuration,
// else the usual one. Whether a variable is set is also something to tell, so one that
// others name is not looked at.
func (l *modelList) keyEnv(p models.Provider) string {
	gate := trust.WithoutAsking(l.gate) // to list is no reason to ask
	if name, err := l.config.Provider(p.Name).APIKeyEnv.Open(gate); err == nil && name != "" {
		return name
	}
	return p.KeyEnv
}
