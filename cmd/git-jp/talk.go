package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// A talk is one query, with everything opened that it needs.
type talk struct {
	app      *app
	target   *target
	settings *config.Config
	config   *jpconfig.Config
	setup    query.Setup
	delta    jsontext.Value // what flags change of the conversation's configuration
	gate     trust.Gate
	selected []candidate // tools to be offered
	approve  *ask.ToolGate

	keepTitle     bool // the one that was given, or none
	hideReasoning bool
	maxCost       *float64        // nil for the setting
	calls         ask.Calls       // how they are shown
	ctx           context.Context // of the query, for what is shown

	prompter *ask.Prompter // nil where nobody can be asked
	files    builtin.Workspace
	reach    *reach // of others' attachments
	resolver *attach.Resolver
	attached []events.Resource // to this turn
	typed    bool              // the user said something of the configuration now
	settled  bool              // it was asked about what others set
	explains bool              // nothing is asked, since nothing is sent
	model    llm.Model
	tools    *tool.Executor
	servers  *servers
	closers  []func() error

	// Of a conversation that is only read, see newReader.
	reading *workspace.Conversation
	past    []*events.Stream // what it was before; nil until it was looked for
	silent  map[string]bool  // tools that are not asked what their calls subsume
}

func newTalk(ctx context.Context, a *app, t *target, c queryCmd) (_ *talk, err error) {
	k := &talk{app: a, target: t, ctx: ctx, explains: c.Explain}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if k.settings, err = a.configAt(t.Workspace.Root()); err != nil {
		return nil, err
	}
	if err := k.openFiles(ctx); err != nil {
		return nil, err
	}
	k.prompter = a.terminal.NewPrompter(ctx)
	if k.gate, err = k.trustGate(); err != nil {
		return nil, err
	}
	if err := k.configure(c); err != nil {
		return nil, err
	}
	if asker, ok := k.gate.(*trust.Asker); ok {
		asker.Known = k.config.Claims()
	}
	k.model, err = k.newModel(ctx)
	if noKey := new(models.KeyError); c.Explain && errors.As(err, &noKey) {
		// Nothing is sent, so nothing has to be let in.
		k.model, err = unasked(k.setup.Model), nil
	}
	if err != nil {
		return nil, err
	}
	k.servers = &servers{
		app: a, config: k.config, gate: k.gate, dir: t.Workspace.Root(), space: k.files.Tree.Space,
	}
	k.closers = append(k.closers, k.servers.close)
	k.reach = newReach(ctx, k.files, k.config)
	k.resolver = a.resolver(k.reach, t.Workspace, k.servers)
	return k, nil
}

func (k *talk) close() error {
	var errs []error
	for _, c := range slices.Backward(k.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// trustGate asks about what others wrote, as everything is asked during a query.
func (k *talk) trustGate() (trust.Gate, error) {
	gate, err := k.app.trustGate(k.target.Workspace)
	if asker, ok := gate.(*trust.Asker); ok && k.prompter != nil {
		asker.Terminal = k.prompter.Terminal
	}
	return gate, err
}

func (k *talk) openFiles(ctx context.Context) error {
	root := k.target.Workspace.Root()
	repo, err := k.app.repo(ctx)
	var deny []string
	if err == nil {
		deny = []string{repo.GitDir(), repo.CommonDir()}
		k.files.Repo = repo
	}
	if k.files.Tree, err = file.Open(root, deny...); err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	k.closers = append(k.closers, k.files.Tree.Close)
	return nil
}

// configure reads the configuration with what the flags say.
func (k *talk) configure(c queryCmd) error {
	flags, err := c.flags()
	if err != nil {
		return err
	}
	if k.config, err = k.load(flags); err != nil {
		return err
	}
	if err := k.selectTools(c); err != nil {
		return err
	}
	stick, err := k.sticking(c)
	if err != nil {
		return err
	}
	if stick != nil {
		if flags == nil {
			flags = map[string][]byte{}
		}
		flags["--tool, --attach"] = stick
		if k.config, err = k.load(flags); err != nil {
			return err
		}
	}
	for _, w := range k.config.Warnings() {
		if k.app.Verbose || w.Where == "-c" { // what files say is told to who wants it
			k.app.warn("%v", w)
		}
	}
	k.tellLeftOut()
	k.setup, err = setupOf(k.config)
	switch {
	case isA[*trust.RefusedError](err):
		return k.refusal(err)
	case err != nil && c.Model != "":
		return usagef("%w", &models.NameError{
			Name: c.Model, Reason: "neither provider/name nor a short name",
		})
	case err != nil:
		return err
	}
	k.keepTitle = c.Title != "" || c.NoTitle
	k.hideReasoning, k.calls.Hidden = c.HideReasoning, c.HideToolCalls
	k.maxCost = c.MaxCost
	if choice, ok := c.choice(); ok {
		k.setup.Choice = choice
	}
	k.typed = len(flags) > 0 || len(jpOptions(k.app.Set)) > 0
	delta, lost := k.config.Delta()
	if len(lost) > 0 && !k.target.Fresh {
		k.app.warn("%s: the conversation keeps saying it; a new one would not",
			strings.Join(lost, ", "))
	}
	k.delta = jsontext.Value(jpconfig.Shareable(delta))
	return nil
}

func (k *talk) sources(flags map[string][]byte) jpconfig.Sources {
	a := k.app
	approved := a.approvedIn(k.target.Workspace.Root())
	if k.explains {
		// Nothing is sent, so that it can be told of any model.
		nothingSent := approved
		approved = func(c trust.Claim) bool { return c.Kind == trust.Provider || nothingSent(c) }
	}
	return jpconfig.Sources{
		User:      config.UserDir(a.getenv, a.getenv("HOME"), runtime.GOOS),
		Workspace: k.target.Workspace.Root(), Dir: a.directory(),
		UserWorkspace: k.target.Workspace.UserDir(), Environ: a.env,
		Approved: approved,
		Base:     k.target.BaseConfig(), Stream: k.target.Stream(),
		Options: jpOptions(a.Set), Flags: flags,
	}
}

// sticking is the change of the configuration by flags for tools and attachments. A tool that
// the configuration does not know has no place in it.
func (k *talk) sticking(c queryCmd) ([]byte, error) {
	tools := map[string]any{}
	for _, name := range k.config.ToolNames() {
		known, _, err := k.toolConfig(name)
		if err != nil {
			continue // such a tool is not offered
		}
		for _, s := range c.switches() {
			free := known.Enable.Toggle == "" || known.Enable.Toggle == tool.ToggleAny
			if s.Name == name || s.Name == "" && free {
				tools[name] = map[string]bool{"enable": s.On}
			}
		}
	}
	urls, err := k.arguments(c.Attach)
	if err != nil {
		return nil, err
	}
	for _, at := range k.config.Attachments() {
		urls = slices.DeleteFunc(urls, func(u string) bool { return u == at.Shown() })
	}
	conversation := map[string]any{}
	if len(tools) > 0 {
		conversation["tools"] = tools
	}
	if len(urls) > 0 {
		conversation["attachments"] = urls
	}
	if len(conversation) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"conversation": conversation})
}

// turn is what runs.
func (k *talk) turn(w query.Watcher) (*query.Turn, error) {
	base, err := events.ParseConfig(baseConfig(k.target.BaseConfig()), 0)
	if err != nil {
		return nil, fmt.Errorf("read the conversation's configuration: %w", err)
	}
	if k.target.Fresh {
		if base, err = events.ParseConfig(k.config.JSON(), 0); err != nil {
			return nil, err
		}
	}
	budget, err := k.budget()
	if err != nil {
		return nil, err
	}
	k.serve(budget.Most > 0)
	trim := k.trim()
	if trim != nil {
		trim.Current = k.current()
	}
	t := &query.Turn{
		Budget: budget, Cycles: k.settings.Settings().MaxRequests,
		Record: k.target.Record(), Model: k.model, Tools: k.tools, Now: k.app.now,
		Setup: k.setup, Base: base, Root: k.target.Workspace.Root(), Watch: w,
		Dedup: k.dedup(), Trim: trim,
		Session: func() string {
			if id := k.target.ID; id != 0 {
				return "jp:conversation:" + id.Digits()
			}
			return ""
		},
		Resume:   k.app.stdoutTerminal && !k.app.JSON,
		Continue: k.continues(), Asker: ask.NewToolAsker(k.prompter), Assistant: k.assistant,
	}
	return t, nil
}

func baseConfig(data []byte) []byte {
	if data == nil {
		return []byte("{}")
	}
	return data
}

// ask runs the turn and shows it. An interrupt asks what is wanted, or ends the turn where
// nobody can be asked.
func (k *talk) ask(ctx context.Context, p query.Prompt) error {
	show := k.app.terminal.NewAnswer(ctx, k.manner())
	turn, err := k.turn(show)
	if err != nil {
		return err
	}
	turn.Control = new(query.Control)
	release := k.app.interrupts.Take(k.newMenu(turn.Control).Pressed)
	defer release()
	started := k.app.now()
	title := k.makeTitle(ctx, p)
	answer, err := turn.Run(ctx, p)
	if err := errors.Join(show.End(answer), k.endTitle(title, err != nil), err); err != nil {
		return err
	}
	k.usage(answer, k.app.now().Sub(started))
	switch {
	case answer.Dropped:
		k.app.note("the answer was dropped, the question stays: 'git jp query -E' asks it again")
		return context.Canceled
	case answer.Ended:
		k.app.note("stopped, what was said is kept")
	}
	return nil
}

// manner is how the turn is shown.
func (k *talk) manner() ask.Manner {
	m := ask.Manner{Record: k.target.Record(), Calls: k.calls}
	m.Calls.Gate = k.approve
	m.Reasoning = k.stringOr(ask.ReasoningFull, "style", "reasoning", "display")
	if k.hideReasoning {
		m.Reasoning = ask.ReasoningHidden
	}
	return m
}

// newMenu reads what the configuration says about interrupts.
func (k *talk) newMenu(c *query.Control) *ask.Menu {
	m := &ask.Menu{
		Prompter: k.prompter, Control: c, Now: k.app.now, Cooldown: ask.DefaultCooldown,
		Preset: map[query.Phase]string{},
	}
	var seconds int
	if k.config.Decode(&seconds, "interrupt", "escalation_cooldown_secs") && seconds >= 0 {
		m.Cooldown = time.Duration(seconds) * time.Second
	}
	for phase, key := range map[query.Phase]string{
		query.PhaseAnswer: "streaming", query.PhaseTools: "tool_call",
	} {
		var action string
		if k.config.Decode(&action, "interrupt", key, "action") && action != "prompt" {
			m.Preset[phase] = action
		}
	}
	return m
}

// stringOr reads a setting that is text or a number.
func (k *talk) stringOr(fallback string, path ...string) string {
	var raw json.RawMessage
	if !k.config.Decode(&raw, path...) {
		return fallback
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// seconds is a duration for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
