package prepare

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/go-json-experiment/json/jsontext"
)

// models returns Models for the query's configuration.
func (q *Query) models() Models {
	return Models{
		Host: q.host, Network: q.settings.Settings().Network, Config: q.Config, Gate: q.gate,
	}
}

// newModel returns the configured model, or else the built-in search.
func (q *Query) newModel(ctx context.Context) (llm.Model, error) {
	made := q.models()
	if !sends(q.setup) {
		return made.Builtin(ctx), nil
	}
	return made.New(q.setup.Model, made.Retry())
}

// sends reports whether requests leave this machine.
func sends(s query.Setup) bool { return s.Model != "" && s.Model != builtin.ID }

// assistant returns the model for a question of a tool: the one in the question's settings, else
// the one configured for all inquiries; nil for the model of the turn.
func (q *Query) assistant(target jsontext.Value) (llm.Model, error) {
	var own struct {
		Model struct {
			ID json.RawMessage `json:"id"`
		} `json:"model"`
	}
	if exact.Unmarshal(target, &own) != nil || own.Model.ID == nil {
		m, err := q.Config.ModelAt("conversation", "inquiry", "assistant", "model")
		if err != nil && !errors.Is(err, jpconfig.ErrNoModel) {
			return nil, err
		}
		return q.modelOr(m.ID)
	}
	var name string
	var id jpconfig.ModelID
	if exact.Unmarshal(own.Model.ID, &id) == nil && !id.IsZero() {
		return q.modelOr(id)
	}
	if err := exact.Unmarshal(own.Model.ID, &name); err != nil {
		return nil, askedf("%s names no model", own.Model.ID)
	}
	id, err := q.Config.ResolveModel(name)
	if err != nil {
		return nil, err
	}
	return q.modelOr(id)
}

func (q *Query) modelOr(id jpconfig.ModelID) (llm.Model, error) {
	if id.IsZero() || id.String() == q.Model.ID() {
		return nil, nil
	}
	return q.models().New(id.String(), q.models().Retry())
}

// continues returns how often the turn continues an answer after its limit: never if the adapter
// does so, which it does unless its requests are metered.
func (q *Query) continues(metered bool) int {
	provider, _, _ := llm.SplitID(q.Model.ID())
	found, _ := models.Find(provider)
	table := tableOf(q.Config.Provider(provider))
	chains := cmp.Or(table.Format, found.Format) == wire.FormatAnthropic
	if chains && (!metered || !table.chains()) {
		return -1
	}
	return 0
}

// listWait limits the wait for a provider to return a model's window.
const listWait = 2 * time.Second

// offeredWindow returns the window of a model by its provider, 0 if it does not say, and the table
// is used. It never asks for an approval.
func (q *Query) offeredWindow(ctx context.Context, id string) int64 {
	return int64(q.offered(ctx, id).Window)
}

// offered returns the provider's entry of a model, which is requested once; the zero value if there
// is none.
func (q *Query) offered(ctx context.Context, id string) llm.Info {
	if id == "" || id == builtin.ID || q.options.Explain {
		return llm.Info{}
	}
	info, asked := q.offers[id]
	if !asked {
		if q.offers == nil {
			q.offers = map[string]llm.Info{}
		}
		info = q.describe(ctx, id)
		q.offers[id] = info
	}
	return info
}

func (q *Query) describe(ctx context.Context, id string) llm.Info {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	made := q.models()
	made.Gate = trust.WithoutAsking(q.gate)
	m, err := made.New(id, llm.Retry{})
	if err != nil {
		return llm.Info{}
	}
	d, ok := m.(llm.Describer)
	if !ok {
		return llm.Info{}
	}
	info, err := d.Describe(ctx)
	if err != nil && q.host.Verbose {
		q.host.warn("what is known of %s is that of the table: %v", id, err)
	}
	return info
}

// priced returns the row of the model, and whether its price is known. If the cost is limited and
// the price unknown, the provider's list is requested.
func (q *Query) priced(ctx context.Context, limited bool) (models.Row, bool) {
	id := q.Model.ID()
	row, known := q.table.Priced(id)
	if known || !limited {
		return row, known
	}
	if own := models.Offered(id, q.offered(ctx, id).Price, q.host.Now()); own != nil {
		q.table = q.table.With(own)
	}
	return q.table.Priced(id)
}

// Price returns the row of the model that was asked, and whether its price is known.
func (q *Query) Price() (models.Row, bool) { return q.table.Priced(q.Model.ID()) }

// known returns the settings of compactions.
func (q *Query) known() compaction.Settings { return compaction.Settings{Config: q.settings} }

// dedup returns the options of deduplication. It is off if the provider shortens the prompt itself,
// since the target of a reference could then be gone.
func (q *Query) dedup() dedup.Options {
	o := q.known().Dedup()
	o.Enabled = o.Enabled && !q.setup.Params.Services.Compacts()
	return o
}

// market returns the prices of the conversation's model.
func (q *Query) market() compact.Market {
	return compaction.Market(q.table, q.setup.Model, q.setup.Cache)
}

// trim returns when superseded results are left out of requests.
func (q *Query) trim(ctx context.Context) *query.Trim {
	if !sends(q.setup) {
		return nil
	}
	known := q.known()
	return &query.Trim{
		Schedule: compact.Schedule(q.settings.Settings().Trim.Schedule), Market: q.market(),
		Window: known.Window(q.table, q.setup.Model, 0), Rules: known.Rules, Limits: known.Limits(),
		Offered: func() int64 {
			return known.Window(q.table, q.setup.Model, q.offeredWindow(ctx, q.setup.Model))
		},
	}
}

// serve turns off a web search that is unavailable, and reports why: the provider has none, or none
// beside tools, or its cost cannot be limited.
func (q *Query) serve(limited bool) {
	s := &q.setup.Params.Services
	if !s.Searches() {
		return
	}
	provider, _, _ := llm.SplitID(q.Model.ID())
	p, _ := models.Find(provider)
	var why string
	switch {
	case !p.Searches():
		why = provider + " has no search of its own"
	case limited:
		why = "what it costs is not known, and the query has a limit"
	case p.Format == wire.FormatGemini && len(q.tools.executor.Definitions()) > 0:
		why = provider + " searches only where no tools are offered (-T)"
	default:
		return
	}
	s.WebSearch = nil
	q.host.warn("the model does not search the web (assistant.model.parameters.web_search): %s",
		why)
}

// An UnpricedError says that a cost limit cannot be enforced.
type UnpricedError struct {
	Model string
	Limit float64
}

// Error implements error.
func (e *UnpricedError) Error() string {
	return fmt.Sprintf("ask %s for $%.4g at most: its price is not known, so nothing was sent",
		e.Model, e.Limit)
}

// Hints say how to ask without a limit.
func (e *UnpricedError) Hints() []string {
	return []string{"'--max-cost 0' sets no limit; 'git jp models' lists the prices that are known"}
}

// budget returns the budget of the turn: the limit is that of the flag, else the setting. It cannot
// be enforced if the price is unknown, except on this machine, where requests cost nothing.
func (q *Query) budget(ctx context.Context) (*query.Budget, error) {
	limit := q.settings.Settings().MaxCost
	if q.options.MaxCost != nil {
		limit = *q.options.MaxCost
	}
	provider, _, _ := llm.SplitID(q.Model.ID())
	p, _ := models.Find(provider)
	free := p.Local || q.Model.ID() == builtin.ID
	row, known := q.priced(ctx, limit > 0 && !free)
	switch {
	case limit < 0:
		return nil, askedf("--max-cost: expected an amount of US dollars")
	case limit > 0 && !known && !free:
		return nil, &UnpricedError{q.Model.ID(), limit}
	}
	return &query.Budget{
		Most: limit, Output: row.Output,
		Cost: func(u llm.Usage) float64 {
			long := int64(0)
			if q.setup.Cache.TTL >= time.Hour {
				long = u.CacheWrite
			}
			usd, _ := row.Cost(u, long)
			return usd
		},
	}, nil
}
