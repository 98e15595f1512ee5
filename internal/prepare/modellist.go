package prepare

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/trust"
)

// A KnownModel is the known data of a model, in the form of `models --json`.
type KnownModel struct {
	ID         string      `json:"id"`
	Title      string      `json:"title,omitempty"`
	Aliases    []string    `json:"aliases"`
	Chosen     bool        `json:"chosen"`
	Window     int         `json:"window"`
	MaxOutput  int         `json:"max_output"`
	Accepts    []string    `json:"accepts"`
	Reasoning  bool        `json:"reasoning"`
	Price      *ModelPrice `json:"price"`
	KeyEnv     string      `json:"key_env"`
	KeyPresent bool        `json:"key_present"`
	Local      bool        `json:"local"`
}

// A ModelPrice is the price of a model, in USD per million tokens.
type ModelPrice struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	AsOf       string  `json:"as_of"`
	Source     string  `json:"source"`
}

// A ModelList has the data about models that is available here.
type ModelList struct {
	models  Models
	table   *models.Table
	chosen  string
	aliases map[string][]string // by id
}

// List reads the available data without asking a provider. It calls problem for an alias that names
// no model.
func (m Models) List(problem func(error)) (*ModelList, error) {
	table, err := m.Host.Models()
	if err != nil {
		return nil, err
	}
	l := &ModelList{models: m, table: table, aliases: map[string][]string{}}
	if model, err := m.Config.Model(); err == nil {
		l.chosen = model.ID.String()
	}
	var named map[string]any
	m.Config.Decode(&named, "providers", "llm", "aliases")
	for _, alias := range slices.Sorted(maps.Keys(named)) {
		id, err := m.Config.ResolveModel(alias)
		if err != nil {
			problem(fmt.Errorf("providers.llm.aliases.%s: %w", alias, err))
			continue
		}
		l.aliases[id.String()] = append(l.aliases[id.String()], alias)
	}
	return l, nil
}

// Known returns the models of the table, and others that the configuration names.
func (l *ModelList) Known() (all []KnownModel) {
	seen := map[string]bool{}
	add := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			all = append(all, l.model(llm.Info{}, id))
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

// Names returns the short names of the known models, followed by their ids.
func (l *ModelList) Names() (names []string) {
	var ids []string
	for _, m := range l.Known() {
		names, ids = append(names, m.Aliases...), append(ids, m.ID)
	}
	slices.Sort(names)
	return append(names, ids...)
}

// Ask requests the list of models from a provider.
func (l *ModelList) Ask(ctx context.Context, provider string) (all []KnownModel, err error) {
	list, err := l.models.Catalog(ctx, provider)
	if err != nil {
		return nil, err
	}
	for _, info := range list {
		id := info.ID
		if !strings.HasPrefix(id, provider+"/") {
			id = provider + "/" + id
		}
		all = append(all, l.model(info, id))
	}
	return all, nil
}

// model returns the known data of a model; the provider's data overrides the table.
func (l *ModelList) model(info llm.Info, id string) KnownModel {
	row, _ := l.table.Find(id)
	r := KnownModel{
		ID: id, Title: info.Title, Aliases: []string{}, Chosen: id == l.chosen,
		Window: info.Window, MaxOutput: info.MaxOutput, Accepts: []string{},
		Reasoning: info.Reasoning || row.Reasoning,
	}
	r.Aliases = append(r.Aliases, l.aliases[id]...)
	r.Accepts = append(r.Accepts, row.Accepts...)
	r.Window = cmp.Or(r.Window, row.Window)
	r.MaxOutput = cmp.Or(r.MaxOutput, row.Output)
	if own, ok := models.Offered(id, info.Price, l.models.Host.Now()).Find(id); ok {
		row = own
	}
	if row.Price != (models.Price{}) {
		p := row.Of(0) // with the defaults for cached tokens
		r.Price = &ModelPrice{
			p.Input, p.Output, p.Read, p.Write,
			row.AsOf.String(), row.Source,
		}
	}
	provider, _, _ := llm.SplitID(id)
	p, _ := models.Find(provider)
	r.KeyEnv, r.Local = l.keyEnv(p), p.Local
	r.KeyPresent = r.KeyEnv != "" && l.models.Host.Getenv(r.KeyEnv) != ""
	return r
}

// keyEnv returns the variable of a provider's key: the configured one if it is approved, else the
// usual one. Whether a variable is set is private too, so variables in foreign settings are not
// read.
func (l *ModelList) keyEnv(p models.Provider) string {
	gate := trust.WithoutAsking(l.models.Gate) // listing does not justify a question
	name, err := l.models.Config.Provider(p.Name).APIKeyEnv.Open(gate)
	if err == nil && name != "" {
		return name
	}
	return p.KeyEnv
}
