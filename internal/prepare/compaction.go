package prepare

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// A Compaction is a conversation to measure or compact, with everything that a question to it would
// need. Tools and models are opened on demand.
type Compaction struct {
	*Query

	Conversation *workspace.Conversation

	past   []*events.Stream // earlier versions; nil before the search
	silent map[string]bool  // tools that are no longer asked what their calls subsume
}

// OpenCompaction opens everything that a compaction of a conversation needs. The caller closes it.
func OpenCompaction(
	ctx context.Context, h *Host, settings *config.Config, w *workspace.Workspace,
	conv *workspace.Conversation,
) (_ *Compaction, err error) {
	t := &query.Target{Workspace: w, Create: &workspace.NewConversation{
		Details: conv.Details, Stream: conv.Stream, BaseConfig: conv.BaseConfig,
	}}
	q, err := newQuery(ctx, h, settings, t)
	defer func() {
		if err != nil {
			err = errors.Join(err, q.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	q.tools.quiet = true
	if q.gate, err = h.Gate(w.Root()); err != nil {
		return nil, err
	}
	if err := q.load(nil); err != nil {
		return nil, err
	}
	q.setup, err = setupOf(q.Config)
	if _, refused := errors.AsType[*trust.RefusedError](err); err != nil && !refused {
		return nil, err // a model that is not approved is not asked
	}
	q.connect(ctx)
	return &Compaction{Query: q, Conversation: conv}, nil
}

// ModelID returns the model that would continue the conversation, "" for none.
func (k *Compaction) ModelID() string { return k.setup.Model }

// Settings returns the settings for compactions.
func (k *Compaction) Settings() compaction.Settings { return k.known() }

// Contents returns a reader of the conversation's blobs.
func (k *Compaction) Contents() blobs.Reader {
	return k.target.Workspace.BlobsOf(k.Conversation.Entry)
}

// Dedup returns the options of deduplication for a question.
func (k *Compaction) Dedup() dedup.Options { return k.dedup() }

// A Request has the user's options of a compaction, beside the configuration.
type Request struct {
	Strategies []string // in order; none for the configured ones
	KeepLast   *int     // turns; nil for the setting
	KeepCalls  int
	Budget     int64
	Model      string // for summaries and classification, "" for the setting
	DryRun     bool
	// Confirm selects the tangential turns to remove; nil removes none.
	Confirm func([]compact.Tangent) []compact.Tangent
	// Unconfirmed is the error if turns could be removed and no user can be asked, else nil.
	Unconfirmed error
}

// Options returns the options of a run.
func (k *Compaction) Options(ctx context.Context, c Request) (_ compact.Options, err error) {
	set := k.settings.Settings().Compaction
	kept := set.KeepLast
	if c.KeepLast != nil {
		kept = *c.KeepLast
	}
	known := k.known()
	o := compact.Options{
		Strategies: c.Strategies, KeepLast: kept, KeepCalls: c.KeepCalls,
		Now: k.host.Now(), Contents: k.Contents(),
		Dedup: known.Dedup(), Hint: known.Hint, Rules: known.Rules, Limits: known.Limits(),
		Subsumer: subsumer{k}, Budget: c.Budget,
		Window:    known.Window(k.table, k.setup.Model, k.offeredWindow(ctx, k.setup.Model)),
		Threshold: set.SummarizeThreshold, Most: set.SummarizeTokens, Market: k.market(),
		Raw: k.raw(ctx), Offered: k.Definitions(ctx), System: k.setup.SystemBytes(),
	}
	if len(o.Strategies) == 0 {
		o.Strategies = set.Strategy
	}
	for _, name := range o.Strategies {
		if !slices.Contains(compact.Names(), name) {
			return o, askedf("--strategy %q: expected one of %s", name,
				strings.Join(compact.Names(), ", "))
		}
	}
	if o.Base, err = parseBase(k.Conversation.BaseConfig); err != nil {
		return o, err
	}
	sent, _ := compact.LastSent(k.Conversation.Stream)
	sent.At = o.Now
	o.Cold = compact.IsCold(k.Conversation.Stream, sent, o.Market)
	if !c.DryRun {
		o.Confirm = c.Confirm
	}
	return o, k.summarizer(ctx, c, &o)
}

// Definitions returns the sizes of the definitions of the tools that a query would offer. It starts
// no program: for a tool of a server, only the configured part counts.
func (k *Compaction) Definitions(ctx context.Context) map[string]int64 {
	if len(k.tools.selected) == 0 && k.tools.choose(nil) != nil {
		return nil // a query reports what is wrong with them
	}
	sizes := map[string]int64{}
	for _, c := range k.tools.selected {
		if c.serves {
			continue // offered as long as other tools are
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

// summarizer sets the model that summarizes: the configured one, else the cheapest known one of the
// conversation's provider, else the conversation's own. Without a model, rules summarize.
func (k *Compaction) summarizer(ctx context.Context, c Request, o *compact.Options) error {
	if !compaction.AsksModel(o.Strategies) {
		return nil
	}
	id, err := k.SummaryModel(c.Model)
	if err != nil || id == "" {
		return err
	}
	classifies := slices.Contains(o.Strategies, compact.ClassifyTangents)
	switch {
	case c.DryRun && !classifies:
		return nil // a summary that is thrown away should cost nothing
	case classifies && !c.DryRun && c.Unconfirmed != nil:
		return c.Unconfirmed
	}
	s := &query.Summarizer{
		Model: lateModel{id, func() (llm.Model, error) {
			return k.models().New(id, k.models().Retry())
		}},
		Window: int(k.known().Window(k.table, id, k.offeredWindow(ctx, id))), Kept: o.KeepLast,
		Live: k.live(ctx), Cheaper: k.cheaper(id, o),
	}
	o.Classifier = s
	if !c.DryRun {
		o.Summarizer = s
	}
	return nil
}

// SummaryModel returns the model that summarizes, "" if rules do. The user may name one.
func (k *Compaction) SummaryModel(name string) (string, error) {
	if name == "" {
		name = k.settings.Settings().Compaction.Model
	}
	if name != "" {
		id, err := k.Config.ResolveModel(name)
		if err != nil {
			return "", askedf("--model %q: expected provider/name or a model's short name", name)
		}
		return id.String(), nil
	}
	if !sends(k.setup) {
		return "", nil
	}
	return compaction.Cheapest(k.table, k.setup.Model), nil
}

// live returns the request that would continue the conversation, so that a summary can use the
// provider's cache.
func (k *Compaction) live(ctx context.Context) func(string) (llm.Model, *llm.Request, error) {
	return func(instruction string) (llm.Model, *llm.Request, error) {
		var err error
		if k.Model == nil {
			if k.Model, err = k.newModel(ctx); err != nil {
				return nil, nil, err
			}
		}
		if k.tools.executor == nil {
			if err := k.tools.open(ctx, nil, ""); err != nil {
				return nil, nil, err
			}
		}
		t, err := k.Turn(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		r, _, err := t.Explain(query.Prompt{Request: &events.ChatRequest{Content: instruction}})
		return k.Model, r, err
	}
}

// cheaper compares the cost of a request that reads the conversation from the cache with one that
// sends it to the summarizing model.
func (k *Compaction) cheaper(id string, o *compact.Options) func(bytes int) bool {
	other := compaction.Market(k.table, id, llm.CachePolicy{})
	return func(bytes int) bool {
		if !o.Market.Priced() || !other.Priced() || o.Cold {
			return false
		}
		_, known := compact.LastSent(k.Conversation.Stream)
		prompt := compaction.LastPrompt(k.Conversation.Stream)
		return known && float64(prompt)*o.Market.Read < float64(bytes)/2.7*other.Input
	}
}

// raw returns a function that finds the events that a summary replaced: in the conversations that
// this one was forked from, in copies from before compactions, and in git.
func (k *Compaction) raw(ctx context.Context) func(compact.Summary) ([]*events.Element, bool) {
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

// earlier returns earlier versions of the conversation, as far as they can be found.
func (k *Compaction) earlier(ctx context.Context) []*events.Stream {
	if k.past != nil {
		return k.past
	}
	k.past = []*events.Stream{}
	conv, w := k.Conversation, k.target.Workspace
	for range maxOrigins {
		for _, c := range k.host.Copies(ctx, w.Root(), conv.ID) {
			k.past = append(k.past, c.Stream)
		}
		k.past = append(k.past, k.committed(ctx, conv)...)
		o := workspace.OriginOf(conv.Details)
		if o == nil {
			break
		}
		e, err := w.Find(o.ID, workspace.FindOptions{
			ListOptions: workspace.ListOptions{Archived: true, Local: true},
		})
		if err != nil {
			break
		}
		if conv, err = w.Load(e); err != nil {
			break
		}
		k.past = append(k.past, conv.Stream)
	}
	return k.past
}

// committed returns the versions of a conversation in git.
func (k *Compaction) committed(ctx context.Context, conv *workspace.Conversation) []*events.Stream {
	repo, err := k.host.Repo(ctx)
	if err != nil || conv.Local {
		return nil
	}
	below, err := filepath.Rel(repo.Root(), k.target.Workspace.Path(conv.Entry))
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

// Overlaid adds compactions to a stream.
func (k *Compaction) Overlaid(
	ctx context.Context, c Request, s *events.Stream, policies []compact.Policy,
) (*events.Stream, []*events.Compaction, error) {
	if slices.ContainsFunc(policies, func(p compact.Policy) bool { return p.Summarize }) {
		c.Strategies = []string{compact.Summarize}
	} else {
		c.Strategies = []string{compact.StripReasoning}
	}
	c.KeepLast = nil
	o, err := k.Options(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if sum, ok := o.Summarizer.(*query.Summarizer); ok {
		sum.Live = nil // it would summarize other turns too
	}
	return compact.Overlay{Now: o.Now, Summarizer: o.Summarizer, Options: o}.Apply(ctx, s, policies)
}

// A subsumer asks local tools. A tool that may not be run gives no answer.
type subsumer struct{ compaction *Compaction }

// Subsumes implements [compact.Subsumer].
func (s subsumer) Subsumes(
	ctx context.Context, name string, earlier, later jsontext.Value,
) (bool, error) {
	k := s.compaction
	if k.silent[name] {
		return false, nil // a tool that did not answer once is not asked again
	}
	c, t, err := k.tools.toolConfig(name)
	if err != nil || c.Source.Kind != tool.Local {
		return false, nil //nolint:nilerr // it is no tool that could be asked
	}
	run := &command{tools: k.tools, config: c, process: t.Command}
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
	k.host.warn("%s is not asked what its calls subsume: %v", name, err)
	if k.silent == nil {
		k.silent = map[string]bool{}
	}
	k.silent[name] = true
	return false, nil
}
