package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// newReader opens what a query would open of a conversation, for those who do not ask: its
// configuration and the gate. Tools and models are opened when they are needed.
func (a *app) newReader(
	ctx context.Context, conv *workspace.Conversation,
) (_ *talk, err error) {
	k := &talk{app: a, ctx: ctx, target: &target{app: a, Target: query.Target{
		Workspace: a.openWorkspace,
		Create: &workspace.NewConversation{
			Details: conv.Details, Stream: conv.Stream, BaseConfig: conv.BaseConfig,
		},
	}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if k.settings, err = a.configAt(a.openWorkspace.Root()); err != nil {
		return nil, err
	}
	if err := k.openFiles(ctx); err != nil {
		return nil, err
	}
	if k.config, err = k.load(nil); err != nil {
		return nil, err
	}
	if k.setup, err = setupOf(k.config); err != nil && !isA[*trust.RefusedError](err) {
		return nil, err // a model that is not approved is not asked
	}
	k.reading = conv
	k.gate, err = a.askingGate()
	return k, err
}

// reading opens a conversation for f, which only looks at it.
func (a *app) reading(
	ctx context.Context, name string, f func(context.Context, *talk) error,
) error {
	conv, err := a.load(name)
	if err != nil {
		return err
	}
	r, err := a.newReader(ctx, conv)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, r), r.close())
}

// contents opens what the conversation refers to.
func (k *talk) contents() blobs.Reader { return k.app.openWorkspace.BlobsOf(k.reading.Entry) }

// compaction is what the settings say of compactions.
func (k *talk) compaction() compaction.Settings { return compaction.Settings{Config: k.settings} }

// dedup says what is sent as a reference: nothing where the provider shortens the prompt itself,
// since what is referred to could be gone then.
func (k *talk) dedup() dedup.Options {
	o := k.compaction().Dedup()
	o.Enabled = o.Enabled && !k.setup.Params.Services.Compacts()
	return o
}

// market is what is known of the prices of the conversation's model.
func (k *talk) market() compact.Market {
	return compaction.Market(k.setup.Model, k.setup.Cache.TTL)
}

// trim says when superseded results are left out of requests.
func (k *talk) trim() *query.Trim {
	if k.setup.Model == "" || k.setup.Model == builtin.ID {
		return nil // nothing is sent anywhere
	}
	return &query.Trim{
		Schedule: compact.Schedule(k.settings.Settings().Trim.Schedule), Market: k.market(),
		Window: k.compaction().Window(k.setup.Model, 0), Rules: k.compaction().Rules,
		Limits: k.compaction().Limits(),
		Offered: func() int64 {
			return k.compaction().Window(k.setup.Model, k.offeredWindow(k.ctx, k.setup.Model))
		},
	}
}

// listWait is how long a provider may take to say how large a model's window is.
const listWait = 2 * time.Second

// offeredWindow is what its provider says of a model's window, 0 where it does not: then there is
// the table. Nobody is asked for an approval for it.
func (k *talk) offeredWindow(ctx context.Context, id string) int64 {
	if id == "" || id == builtin.ID || k.explains {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	m, err := k.app.modelOf(id, &talk{
		app: k.app, config: k.config, gate: trust.WithoutAsking(k.gate),
	}, llm.Retry{})
	if err != nil {
		return 0
	}
	d, ok := m.(llm.Describer)
	if !ok {
		return 0
	}
	info, err := d.Describe(ctx)
	if err != nil && k.app.Verbose {
		k.app.warn("the window of %s is that of the table: %v", id, err)
	}
	return int64(info.Window)
}

// compactOptions are the options of a run.
func (k *talk) compactOptions(ctx context.Context, c compactCmd) (compact.Options, error) {
	set := k.settings.Settings().Compaction
	kept, err := c.keptTurns(set.KeepLast)
	if err != nil {
		return compact.Options{}, err
	}
	known := k.compaction()
	o := compact.Options{
		Strategies: c.Strategy, KeepLast: kept, KeepCalls: c.KeepCalls,
		Now: k.app.now(), Contents: k.contents(),
		Dedup: known.Dedup(), Hint: known.Hint, Rules: known.Rules, Limits: known.Limits(),
		Subsumer: subsumer{k}, Budget: c.Budget,
		Window:    known.Window(k.setup.Model, k.offeredWindow(ctx, k.setup.Model)),
		Threshold: set.SummarizeThreshold, Market: k.market(), Raw: k.raw(ctx),
	}
	if len(o.Strategies) == 0 {
		o.Strategies = set.Strategy
	}
	for _, name := range o.Strategies {
		if !slices.Contains(compact.Names(), name) {
			return o, usagef("--strategy %q: expected one of %s", name,
				strings.Join(compact.Names(), ", "))
		}
	}
	if o.Base, err = events.ParseConfig(baseConfig(k.reading.BaseConfig), 0); err != nil {
		return o, fmt.Errorf("read the conversation's configuration: %w", err)
	}
	sent, _ := compact.LastSent(k.reading.Stream)
	sent.At = o.Now
	o.Cold = compact.IsCold(k.reading.Stream, sent, o.Market)
	if !c.DryRun {
		o.Confirm = k.app.confirmTangents(c.Yes)
	}
	if slices.Contains(o.Strategies, compact.PruneTools) || compaction.AsksModel(o.Strategies) {
		o.Offered = k.definitions(ctx)
	}
	return o, k.summarizer(ctx, c, &o)
}

// definitions says how large the definitions of the tools are that a query would offer. No
// program is started for it: of a tool of a server there is what the configuration says.
func (k *talk) definitions(ctx context.Context) map[string]int64 {
	if len(k.selected) == 0 && k.selectTools(queryCmd{}) != nil {
		return nil // what is wrong with them is told who asks
	}
	sizes := map[string]int64{}
	for _, c := range k.selected {
		if c.serves {
			continue // it is of use as long as the others are
		}
		def := c.config.Definition()
		if c.config.Source.Kind == tool.Builtin {
			item, err := c.item(ctx)
			if err != nil {
				continue
			}
			def = item.Tool.Definition()
		}
		sizes[def.Name] = int64(len(def.Name) + len(def.Brief()) + len(def.Schema))
	}
	return sizes
}

// summarizer sets who summarizes: the model that is configured for it, else the cheapest that
// is known of the conversation's provider, else its own. Without any it is done by rules.
func (k *talk) summarizer(ctx context.Context, c compactCmd, o *compact.Options) error {
	if !compaction.AsksModel(o.Strategies) {
		return nil
	}
	id, err := k.summaryModel(c)
	if err != nil || id == "" {
		return err
	}
	classifies := slices.Contains(o.Strategies, compact.ClassifyTangents)
	switch {
	case c.DryRun && !classifies:
		return nil // nobody pays for a summary that is thrown away
	case classifies && !c.DryRun && !c.Yes && !k.app.canAsk():
		return &unconfirmedError{what: "remove the turns that are found tangential"}
	}
	s := &query.Summarizer{
		Model: lateModel{id, func() (llm.Model, error) {
			return k.app.modelOf(id, k, k.app.retry(k.config))
		}},
		Window: int(k.compaction().Window(id, k.offeredWindow(ctx, id))), Kept: o.KeepLast,
		Live: k.live(ctx), Cheaper: k.cheaper(id, o),
	}
	o.Classifier = s
	if !c.DryRun {
		o.Summarizer = s
	}
	return nil
}

func (k *talk) summaryModel(c compactCmd) (string, error) {
	name := c.Model
	if name == "" {
		name = k.settings.Settings().Compaction.Model
	}
	if name != "" {
		id, err := k.config.ResolveModel(name)
		if err != nil {
			return "", usagef("--model %q: expected provider/name or a model's short name", name)
		}
		return id.String(), nil
	}
	if k.setup.Model == "" || k.setup.Model == builtin.ID {
		return "", nil
	}
	return compaction.Cheapest(k.setup.Model), nil
}

// live returns the request that would continue the conversation, for a summary that reads the
// cache.
func (k *talk) live(ctx context.Context) func(string) (llm.Model, *llm.Request, error) {
	return func(instruction string) (llm.Model, *llm.Request, error) {
		var err error
		if k.model == nil {
			if k.model, err = k.newModel(ctx); err != nil {
				return nil, nil, err
			}
		}
		if k.tools == nil {
			if err := k.openTools(ctx, queryCmd{}); err != nil {
				return nil, nil, err
			}
		}
		t, err := k.turn(nil)
		if err != nil {
			return nil, nil, err
		}
		r, _, err := t.Explain(query.Prompt{Request: &events.ChatRequest{Content: instruction}})
		return k.model, r, err
	}
}

// cheaper compares a request that reads the conversation from the cache with one that shows it
// to the summarizing model.
func (k *talk) cheaper(id string, o *compact.Options) func(bytes int) bool {
	other := compaction.Market(id, 0)
	return func(bytes int) bool {
		if !o.Market.Priced() || !other.Priced() || o.Cold {
			return false
		}
		_, known := compact.LastSent(k.reading.Stream)
		prompt := compaction.LastPrompt(k.reading.Stream)
		return known && float64(prompt)*o.Market.Read < float64(bytes)/2.7*other.Input
	}
}

// raw looks for events that a summary replaced: in the conversations that this one is a fork
// of, in what was kept when it was compacted, and in Git.
func (k *talk) raw(ctx context.Context) func(compact.Summary) ([]*events.Element, bool) {
	return func(s compact.Summary) ([]*events.Element, bool) {
		for _, stream := range k.earlier(ctx) {
			if elems, ok := s.Find(stream); ok {
				return elems, true
			}
		}
		return nil, false
	}
}

const (
	maxOrigins   = 16  // forks of forks
	maxRevisions = 200 // of one conversation
)

// earlier returns what the conversation was before, as far as it can still be found.
func (k *talk) earlier(ctx context.Context) []*events.Stream {
	if k.past != nil {
		return k.past
	}
	k.past = []*events.Stream{}
	conv := k.reading
	for range maxOrigins {
		for _, c := range k.app.copies(ctx, conv.ID) {
			k.past = append(k.past, c.Stream)
		}
		k.past = append(k.past, k.app.committed(ctx, conv)...)
		o := workspace.OriginOf(conv.Details)
		if o == nil {
			break
		}
		e, err := k.app.find(o.ID)
		if err != nil {
			break
		}
		if conv, err = k.app.openWorkspace.Load(e); err != nil {
			break
		}
		k.past = append(k.past, conv.Stream)
	}
	return k.past
}

// committed returns the versions of a conversation that Git has.
func (a *app) committed(ctx context.Context, conv *workspace.Conversation) []*events.Stream {
	repo, err := a.repo(ctx)
	if err != nil || conv.Local {
		return nil
	}
	below, err := filepath.Rel(repo.Root(), a.openWorkspace.Path(conv.Entry))
	if err != nil {
		return nil
	}
	file := filepath.ToSlash(filepath.Join(below, workspace.EventsFile))
	found, err := repo.Log(ctx, gitint.LogRequest{Paths: []string{file}, Count: maxRevisions})
	if err != nil {
		return nil
	}
	var all []*events.Stream
	for _, l := range found {
		tree, err := repo.Tree(ctx, l.OID.String())
		if err != nil {
			continue
		}
		data, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		if s, err := events.Decode(data); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// confirmTangents asks about turns that were found tangential.
func (a *app) confirmTangents(yes bool) func([]compact.Tangent) []compact.Tangent {
	return func(found []compact.Tangent) []compact.Tangent {
		var chosen []compact.Tangent
		for _, t := range found {
			what := fmt.Sprintf("turn %d, %q: %s",
				t.Turn, render.Clip(t.Title), render.Clip(t.Reason))
			if yes || a.confirm(what+"\nremove it?") {
				chosen = append(chosen, t)
			}
		}
		return chosen
	}
}

// overlaid adds compactions to a stream.
func (k *talk) overlaid(
	ctx context.Context, c compactCmd, s *events.Stream, policies []compact.Policy,
) (*events.Stream, []*events.Compaction, error) {
	c.Strategy = nil
	if slices.ContainsFunc(policies, func(p compact.Policy) bool { return p.Summarize }) {
		c.Strategy = []string{compact.Summarize}
	} else {
		c.Strategy = []string{compact.StripReasoning}
	}
	c.KeepLast = ""
	o, err := k.compactOptions(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if sum, ok := o.Summarizer.(*query.Summarizer); ok {
		sum.Live = nil // it would summarize other turns too
	}
	return compact.Overlay{Now: o.Now, Summarizer: o.Summarizer, Options: o}.Apply(ctx, s, policies)
}

// A subsumer asks local tools. One that may not be run has said nothing.
type subsumer struct{ talk *talk }

// Subsumes implements [compact.Subsumer].
func (s subsumer) Subsumes(
	ctx context.Context, name string, earlier, later jsontext.Value,
) (bool, error) {
	k := s.talk
	if k.silent[name] {
		return false, nil // one that does not answer is not waited for once more
	}
	c, t, err := k.toolConfig(name)
	if err != nil || c.Source.Kind != tool.Local {
		return false, nil //nolint:nilerr // it is no tool that could be asked
	}
	run := &command{talk: k, config: c, process: t.Command}
	opened, err := run.open(ctx)
	if err == nil {
		var yes bool
		if yes, err = opened.Subsumes(ctx, earlier, later); err == nil {
			return yes, nil
		}
	}
	if ctx.Err() != nil {
		return false, err
	}
	k.app.warn("%s is not asked what its calls subsume: %v", name, err)
	if k.silent == nil {
		k.silent = map[string]bool{}
	}
	k.silent[name] = true
	return false, nil
}
