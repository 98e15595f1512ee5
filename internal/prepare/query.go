package prepare

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/go-json-experiment/json/jsontext"
)

// Options are the user's options of one question, beside the configuration.
type Options struct {
	Flags    map[string][]byte // configuration changes: JSON objects by flag
	Model    string            // named by a flag; it is also in Flags
	Switches []tool.Switch     // of tools, in order
	Choice   *llm.ToolChoice   // nil for the configured one
	Attach   []string          // arguments
	MaxCost  *float64          // nil for the setting

	KeepTitle     bool // keep the title, or its absence
	HideReasoning bool
	HideToolCalls bool
	Explain       bool // nothing is sent, so that no approval is needed
	Resume        bool // see [query.Turn]
}

// A Query is one question with everything that it needs. The caller closes it.
type Query struct {
	Config *jpconfig.Config
	Model  llm.Model

	host     *Host
	options  Options
	target   *query.Target
	settings *config.Config
	setup    query.Setup
	table    *models.Table // built-in rows and the user's
	offers   map[string]llm.Info
	delta    jsontext.Value // configuration change of the conversation by flags
	gate     trust.Gate
	prompter *ask.Prompter // nil if no user can be asked

	tools       *toolset
	attachments *Attachments
	typed       bool              // the user set a part of the configuration now
	flags       map[string][]byte // that part by flags
	settled     bool              // the question about foreign settings was asked
	closers     []func() error
}

// Target returns the conversation that is asked.
func (q *Query) Target() *query.Target { return q.target }

// Open opens everything that a question needs. The settings are those of git jp, for the target's
// workspace.
func Open(
	ctx context.Context, h *Host, settings *config.Config, t *query.Target, o Options,
) (_ *Query, err error) {
	q, err := newQuery(ctx, h, settings, t)
	defer func() {
		if err != nil {
			err = errors.Join(err, q.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	q.options = o
	q.prompter = h.Terminal.NewPrompter(ctx)
	if q.gate, err = asking(h, t.Workspace.Root(), q.prompter); err != nil {
		return nil, err
	}
	if err := q.configure(); err != nil {
		return nil, err
	}
	if asker, ok := q.gate.(*trust.Asker); ok {
		asker.Known = q.Config.Claims()
	}
	q.Model, err = q.newModel(ctx)
	if noKey := new(models.KeyError); o.Explain && errors.As(err, &noKey) {
		// Nothing is sent, so that no key is needed.
		q.Model, err = unasked(q.setup.Model), nil
	}
	if err == nil {
		q.connect(ctx)
	}
	return q, err
}

// newQuery opens what is needed before the configuration. The query is to be closed also after an
// error.
func newQuery(
	ctx context.Context, h *Host, settings *config.Config, t *query.Target,
) (q *Query, err error) {
	q = &Query{host: h, target: t, settings: settings}
	if q.table, err = h.Models(); err != nil {
		return q, err
	}
	files, err := h.openFiles(ctx, t.Workspace.Root())
	if err != nil {
		return q, err
	}
	q.closers = append(q.closers, files.Tree.Close)
	q.tools = &toolset{host: h, target: t, files: files}
	return q, nil
}

// connect sets up the servers that tools and attachments share. They are started on demand.
func (q *Query) connect(ctx context.Context) {
	w, files := q.target.Workspace, q.tools.files
	s := &servers{
		host: q.host, config: q.Config, gate: q.gate, dir: w.Root(), space: files.Tree.Space,
	}
	q.closers = append(q.closers, func() error { s.close(); return nil })
	q.attachments = q.host.attachments(ctx, w, q.settings.Settings().Network, s, files)
	q.attachments.prompter = q.prompter
	q.tools.servers, q.tools.attachments = s, q.attachments
}

// Close closes everything that was opened, in reverse order.
func (q *Query) Close() error {
	var errs []error
	for _, c := range slices.Backward(q.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// asking returns the gate for foreign settings, which asks like all questions of a query.
func asking(h *Host, root string, prompter *ask.Prompter) (trust.Gate, error) {
	gate, err := h.Gate(root)
	if asker, ok := gate.(*trust.Asker); ok && prompter != nil {
		asker.Terminal = prompter.Terminal
	}
	return gate, err
}

// Prepare opens the tools and adds attachments to a prompt.
func (q *Query) Prepare(ctx context.Context, p *query.Prompt) error {
	if err := q.attachments.attach(ctx, q.options.Attach, q.target, p); err != nil {
		return err
	}
	wanted := ""
	if q.options.Choice != nil {
		wanted = q.options.Choice.Name
	}
	if err := q.tools.open(ctx, q.prompter, wanted); err != nil {
		return err
	}
	if p.Request != nil {
		p.Request.Author = q.setup.Author
	}
	if !q.target.Fresh {
		p.Delta = q.delta
	}
	return nil
}

// Turn returns the turn, which reports its progress to w.
func (q *Query) Turn(ctx context.Context, w query.Watcher) (*query.Turn, error) {
	base, err := parseBase(q.target.BaseConfig())
	if err != nil {
		return nil, err
	}
	if q.target.Fresh {
		if base, err = settings.Parse(q.Config.JSON(), 0); err != nil {
			return nil, err
		}
	}
	budget, err := q.budget(ctx)
	if err != nil {
		return nil, err
	}
	q.serve(budget.Most > 0)
	trim := q.trim(ctx)
	if trim != nil {
		trim.Current = q.tools.current()
	}
	return &query.Turn{
		Budget: budget, Cycles: q.settings.Settings().MaxRequests,
		Record: q.target.Record(), Model: q.Model, Tools: q.tools.executor, Now: q.host.Now,
		Setup: q.setup, Base: base, Root: q.target.Workspace.Root(), Watch: w,
		Dedup: q.dedup(), Trim: trim,
		Session: func() string {
			if id := q.target.ID; id != 0 {
				return "jp:conversation:" + id.Digits()
			}
			return ""
		},
		Resume:   q.options.Resume,
		Continue: q.continues(budget.Most > 0),
		Asker:    ask.NewToolAsker(q.prompter), Assistant: q.assistant,
	}, nil
}

// Manner returns how the turn is shown.
func (q *Query) Manner() ask.Manner {
	m := ask.Manner{Record: q.target.Record(), Calls: q.tools.calls}
	m.Calls.Gate, m.Calls.Hidden = q.tools.approve, q.options.HideToolCalls
	m.Reasoning = stringOr(q.Config, ask.ReasoningFull, "style", "reasoning", "display")
	if q.options.HideReasoning {
		m.Reasoning = ask.ReasoningHidden
	}
	return m
}

// Menu returns the menu for interrupts of the turn.
func (q *Query) Menu(c *query.Control) *ask.Menu {
	m := &ask.Menu{
		Prompter: q.prompter, Control: c, Now: q.host.Now, Cooldown: ask.DefaultCooldown,
		Preset: map[query.Phase]string{},
	}
	var seconds int
	if q.Config.Decode(&seconds, "interrupt", "escalation_cooldown_secs") && seconds >= 0 {
		m.Cooldown = time.Duration(seconds) * time.Second
	}
	for phase, key := range map[query.Phase]string{
		query.PhaseAnswer: "streaming", query.PhaseTools: "tool_call",
	} {
		var action string
		if q.Config.Decode(&action, "interrupt", key, "action") && action != "prompt" {
			m.Preset[phase] = action
		}
	}
	return m
}

// stringOr returns a setting that is text or a number.
func stringOr(c *jpconfig.Config, fallback string, path ...string) string {
	var raw json.RawMessage
	if !c.Decode(&raw, path...) {
		return fallback
	}
	var text string
	if exact.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
