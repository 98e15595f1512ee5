package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

type compactCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default."`
	Strategy     []string `placeholder:"NAME" help:"What to do, repeated from left to right: auto, strip-reasoning, dedup-tools, strip-tool-results, strip-attachments, prune-tools, trim-superseded, summarize or classify-tangents."`
	KeepLast     string   `placeholder:"N" help:"How many turns at the end are left alone, or, of an overlay, for how long: 5h."`
	KeepCalls    int      `placeholder:"N" help:"How many calls at the end are left alone, in place of turns: of one long turn, too."`
	InPlace      bool     `help:"Change the conversation instead of a fork of it."`
	DryRun       bool     `short:"n" help:"Show what would change, and change nothing."`
	Diff         bool     `help:"Show what a model would no longer see, in context, and change nothing."`
	NoActivate   bool     `help:"Do not make the fork the active conversation."`
	Budget       int64    `placeholder:"TOKENS" help:"auto stops when this size is reached."`
	Model        string   `short:"m" placeholder:"MODEL" help:"The model that summarizes and classifies."`
	Yes          bool     `short:"y" help:"Do not ask."`
	Pin          []string `sep:"none" placeholder:"TURN|CALL|FILE" help:"Leave a turn, the call with this id or what shows a file as it is from now on, repeated."`
	Unpin        []string `sep:"none" placeholder:"TURN|CALL|FILE" help:"Take a pin away."`

	overlayFlags

	Undo undoFlag `placeholder:"N|all" help:"Take back the last compaction, the N-th of the overlay, or all of it."`
}

// overlayFlags are about rules, which remove nothing.
type overlayFlags struct {
	Overlay   bool      `help:"Keep all events, and add one that says what a model is not given: by the configured rules where no flag names one."`
	Rule      []string  `short:"k" name:"compact" sep:"none" placeholder:"SPEC" help:"A rule of the overlay, as jp has it: r, s and t joined by +, then :FROM..TO."`
	Reasoning bool      `short:"r" help:"Overlay: leave reasoning out."`
	Tools     toolsFlag `short:"t" placeholder:"WHAT" help:"Overlay: strip, strip-requests, strip-responses or omit tool calls."`
	Summarize bool      `short:"s" help:"Overlay: a summary in place of the turns."`
	KeepFirst string    `placeholder:"N" help:"Overlay: how many turns at the start are left alone."`
	From      string    `placeholder:"TURN" help:"Overlay: from this turn, -N from the end, a duration, or last-compaction."`
	To        string    `placeholder:"TURN" help:"Overlay: up to this turn."`
	Turn      string    `placeholder:"N|A..B" help:"Overlay: these turns."`
	First     *int      `placeholder:"N" help:"Overlay: the first N turns."`
	Last      *int      `placeholder:"N" help:"Overlay: the last N turns."`
}

// Help says what is lost, and what can be brought back.
func (compactCmd) Help() string {
	return `Makes a conversation smaller for models, in a fork of it unless --in-place is given. The
report shows what each strategy saves, in events, bytes and tokens, and when it pays.

auto takes reasoning out, then calls that a later one repeats, then the bodies of results,
then definitions of tools that were never called; it summarizes only what is still larger
than --budget, or than the share of the model's window that
conversation.compaction.summarize_threshold names.

What --in-place removes is kept in the clone until it is cleaned up: --undo brings it back.
An overlay removes nothing.

--diff shows, as 'git diff' would, each thing that a model would be given otherwise or no more,
with what takes its place and the strategy or rule that does so. It is a dry run, whatever other
options say.`
}

// A toolsFlag is given alone or with what is left of tool calls.
type toolsFlag struct{ Policy *events.ToolCallPolicy }

// IsBool lets the flag stand alone.
func (toolsFlag) IsBool() bool { return true }

// Decode implements kong's mapping of flags.
func (f *toolsFlag) Decode(k *kong.DecodeContext) (err error) {
	word := ""
	if k.Scan.Peek().Type == kong.FlagValueToken {
		word = k.Scan.Pop().String()
	}
	f.Policy, err = compact.ParseTools(word)
	return err
}

// An undoFlag is given alone, with the number of a compaction, or with "all".
type undoFlag struct {
	Given bool
	N     int // as compact.RemoveOverlay has it
}

// IsBool lets the flag stand alone.
func (undoFlag) IsBool() bool { return true }

// Decode implements kong's mapping of flags.
func (f *undoFlag) Decode(k *kong.DecodeContext) error {
	f.Given, f.N = true, -1
	if k.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	word := k.Scan.Pop().String()
	if word == "all" {
		f.N = 0
		return nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return errors.New("expected the number of a compaction, or all")
	}
	f.N = n
	return nil
}

// overlays reports whether the overlay is meant.
func (c compactCmd) overlays() bool {
	return c.Overlay || len(c.Rule) > 0 || c.Reasoning || c.Tools.Policy != nil || c.Summarize ||
		c.KeepFirst != "" || c.From != "" || c.To != "" || c.Turn != "" || c.First != nil ||
		c.Last != nil
}

func (c compactCmd) valid() error {
	strategic := len(c.Strategy) > 0 || c.InPlace || c.NoActivate || c.Budget != 0 ||
		c.KeepCalls != 0
	switch {
	case c.overlays() && strategic:
		return usagef("an overlay has rules and no strategies, and is always in place")
	case c.Undo.Given && (c.overlays() || strategic || c.pins()):
		return usagef("--undo stands alone")
	case c.pins() && (c.overlays() || strategic):
		return usagef("--pin and --unpin stand without strategies and rules")
	case c.Diff && (c.Undo.Given || c.pins()):
		return usagef("--diff is of strategies and rules")
	case c.InPlace && c.NoActivate:
		return usagef("--in-place and --no-activate cannot be used together")
	case c.Budget < 0 || c.KeepCalls < 0:
		return usagef("--budget and --keep-calls: expected a positive number")
	case c.KeepCalls > 0 && c.KeepLast != "":
		return usagef("--keep-last and --keep-calls cannot be used together")
	}
	return nil
}

// Run compacts a conversation.
func (c compactCmd) Run(ctx context.Context, a *app) (err error) {
	if err := c.valid(); err != nil {
		return err
	}
	c.DryRun = c.DryRun || c.Diff
	conv, err := a.load(c.Conversation)
	if err != nil {
		return err
	}
	switch {
	case c.Undo.Given:
		return c.undo(ctx, a, conv)
	case c.pins():
		return c.pin(ctx, a, conv)
	case c.overlays():
		return c.overlay(ctx, a, conv)
	}
	_, err = c.strategies(ctx, a, conv)
	return err
}

// A compactedRecord is what `compact --json` prints.
type compactedRecord struct {
	ID      string         `json:"id"`     // of what was written, or would be compacted
	Source  string         `json:"source"` //
	DryRun  bool           `json:"dry_run"`
	InPlace bool           `json:"in_place"`
	Copy    string         `json:"copy"` // where what was removed is kept
	Report  compact.Report `json:"report"`
}

// strategies runs the pipeline and writes what came of it. It returns the conversation to go
// on with.
func (c compactCmd) strategies(
	ctx context.Context, a *app, conv *workspace.Conversation,
) (id events.ID, err error) {
	r, err := openCompaction(ctx, a, conv)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	kept, err := keptTurns(c.KeepLast)
	if err != nil {
		return 0, err
	}
	o, err := r.Options(ctx, c.request(a, kept))
	if err != nil {
		return 0, err
	}
	inPlace := c.InPlace || !a.openConfig.Settings().Compaction.Fork
	out, err := compact.Run(ctx, conv.Stream, o)
	if err != nil {
		return 0, err
	}
	if c.Diff {
		return conv.ID, c.tellChanges(ctx, a, r, out)
	}
	record := compactedRecord{
		ID: conv.ID.String(), Source: conv.ID.String(), DryRun: c.DryRun, InPlace: inPlace,
		Report: out.Report,
	}
	id = conv.ID
	switch {
	case c.DryRun:
	case !out.Report.Changed():
	case inPlace:
		if record.Copy, err = replace(ctx, a, conv, out, c.Yes); err != nil {
			return 0, err
		}
	default:
		if id, err = writeFork(ctx, a, conv, out.Stream, !c.NoActivate); err != nil {
			return 0, err
		}
		record.ID = id.String()
	}
	return id, tellCompacted(a, record)
}

// writeFork writes a fork, and makes it the active conversation where one can be.
func writeFork(
	ctx context.Context, a *app, conv *workspace.Conversation, s *events.Stream, activated bool,
) (events.ID, error) {
	s = s.Fork(events.ForkOptions{}) // a call that is open here is answered nowhere else
	details, err := workspace.ForkDetails(conv, events.ForkOptions{}, a.now())
	if err != nil {
		return 0, err
	}
	w := a.openWorkspace
	entry, err := w.Create(ctx, &workspace.NewConversation{
		Details: details, Stream: s, BaseConfig: conv.BaseConfig, Local: conv.Local,
		AllowDangling: true, // the source's own faults are not the fork's to refuse
	})
	if err != nil {
		return 0, err
	}
	a.note("compacted %s into %s, in %s", conv.ID, entry.ID, entry.Path)
	session, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
	if !activated || !ok {
		return entry.ID, nil
	}
	return entry.ID, w.Activate(session, entry.ID)
}

// replace changes the conversation. What it was is kept first.
func replace(
	ctx context.Context, a *app, conv *workspace.Conversation, out *compact.Result, yes bool,
) (dir string, err error) {
	what := fmt.Sprintf("compact %s in place", conv.ID)
	if !yes {
		err := a.terminal.Agree(what, fmt.Sprintf(
			"%s? %d events go, %d become shorter; a copy is kept.",
			what, out.Report.EventsRemoved, changes(out.Report)))
		if err != nil {
			return "", err
		}
	}
	w := a.openWorkspace
	all := a.host().Quarantines(ctx, w.Root(), a.openConfig.Settings().GC.Grace)
	if len(all) == 0 {
		return "", errors.New("keep a copy: there is no place for it")
	}
	kept, err := writerOf(a, conv).Replace(ctx, all[0], out.Stream, a.now())
	if err != nil {
		return "", err
	}
	a.note("compacted %s; what it was is kept in %s until %s", conv.ID, a.short(kept.Dir()),
		kept.Until.Local().Format(time.DateOnly))
	return kept.Dir(), nil
}

// writerOf saves what becomes of a conversation.
func writerOf(a *app, conv *workspace.Conversation) compaction.Writer {
	return compaction.Writer{Workspace: a.openWorkspace, Conversation: conv}
}

func changes(r compact.Report) (n int) {
	for _, s := range r.Steps {
		n += s.Changed
	}
	return n
}

func (c compactCmd) pins() bool { return len(c.Pin)+len(c.Unpin) > 0 }

// errNoPlace is the error of a pin that is of nothing.
var errNoPlace = errors.New("no turn, call or file of it has that name")

// pin sets pins and takes them away.
func (c compactCmd) pin(ctx context.Context, a *app, conv *workspace.Conversation) error {
	s := conv.Stream
	for _, step := range []struct {
		verb  string
		names []string
		do    func(*events.Stream, string) (*events.Stream, int)
	}{{"pin", c.Pin, compact.Pin}, {"unpin", c.Unpin, compact.Unpin}} {
		for _, name := range step.names {
			held, n := step.do(s, name)
			if n == 0 {
				return fmt.Errorf("%s %q in %s: %w", step.verb, name, conv.ID, errNoPlace)
			}
			s = held
			a.note("%sned %s in %s", step.verb, name, render.Count(n, "place"))
		}
	}
	if c.DryRun {
		return nil
	}
	return rewrite(ctx, a, conv, s)
}

// undo takes back the last compaction: one of the overlay, or else what was removed.
func (c compactCmd) undo(ctx context.Context, a *app, conv *workspace.Conversation) error {
	out, gone, err := compact.RemoveOverlay(conv.Stream, c.Undo.N)
	returned := 0
	if none := errors.Is(err, compact.ErrNoOverlay); none && c.Undo.N <= 0 || c.Undo.N == 0 {
		if none {
			out = conv.Stream
		}
		if out, returned = dedup.Returned(out); returned > 0 {
			err = nil
		} else if none {
			return c.restore(ctx, a, conv)
		}
	}
	if err != nil {
		return fmt.Errorf("undo the compaction of %s: %w", conv.ID, err)
	}
	if returned > 0 && c.DryRun {
		a.note("would give back %s that went to make room", render.Count(returned, "result"))
	} else if returned > 0 {
		a.note("gave back %s that went to make room", render.Count(returned, "result"))
	}
	for _, g := range gone {
		what := listing.NewCompactionRecord(g).String()
		if c.DryRun {
			a.note("would remove the compaction of %s", what)
		} else {
			a.note("removed the compaction of %s", what)
		}
	}
	if c.DryRun {
		return nil
	}
	return rewrite(ctx, a, conv, out)
}

// rewrite saves another stream of a conversation that nobody changed meanwhile.
func rewrite(ctx context.Context, a *app, conv *workspace.Conversation, s *events.Stream) error {
	if err := writerOf(a, conv).Rewrite(ctx, s); err != nil {
		return err
	}
	return a.printRecord(conv.Entry)
}

// restore brings back what the last compaction in place removed.
func (c compactCmd) restore(ctx context.Context, a *app, conv *workspace.Conversation) error {
	for _, kept := range a.host().Copies(ctx, a.openWorkspace.Root(), conv.ID) {
		was, ok := kept.Restored(conv.Stream)
		if !ok {
			continue
		}
		if c.DryRun {
			a.note("would bring back %s as it was at %s", conv.ID, a.terminal.Moment(kept.At))
			return nil
		}
		if err := restoreCopy(ctx, a, conv, kept, was); err != nil {
			return err
		}
		return a.printRecord(conv.Entry)
	}
	return fmt.Errorf("undo the compaction of %s: %w", conv.ID, quarantine.ErrNone)
}

// restoreCopy makes a conversation what it was.
func restoreCopy(
	ctx context.Context, a *app, conv *workspace.Conversation, kept quarantine.Copy,
	was *events.Stream,
) error {
	err := writerOf(a, conv).Restore(ctx, kept, was)
	if err == nil {
		a.note("brought back %s as it was at %s", conv.ID, a.terminal.Moment(kept.At))
	}
	return err
}

// overlay adds compactions that remove nothing.
func (c compactCmd) overlay(ctx context.Context, a *app, conv *workspace.Conversation) (err error) {
	r, err := openCompaction(ctx, a, conv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	policies, err := c.policies(a, r)
	if err != nil {
		return err
	}
	if c.DryRun && !c.Diff { // a summary is not asked for to be thrown away
		for i := range policies {
			policies[i].Summarize, policies[i].Reasoning = false, policies[i].Reasoning ||
				policies[i].Summarize
		}
	}
	out, made, err := r.Overlaid(ctx, c.request(a, nil), conv.Stream, policies)
	if err != nil {
		return err
	}
	if len(made) == 0 {
		a.note("nothing to compact")
		return nil
	}
	if c.Diff {
		return c.showChanges(ctx, a, r, overlayStages(out, made), nil)
	}
	for _, m := range made {
		what := "compacted"
		if c.DryRun {
			what = "would compact"
		}
		a.note("%s %s", what, listing.NewCompactionRecord(m))
	}
	if c.DryRun {
		return nil
	}
	return rewrite(ctx, a, conv, out)
}

// policies returns the rules of the overlay: those of the flags, else those that are
// configured.
func (c compactCmd) policies(a *app, r *prepare.Compaction) ([]compact.Policy, error) {
	var all []compact.Policy
	own := c.Reasoning || c.Tools.Policy != nil || c.Summarize
	if !own && len(c.Rule) == 0 {
		all = compaction.Policies(r.Config)
	}
	for _, spec := range c.Rule {
		p, err := compact.ParsePolicy(spec)
		if err != nil {
			return nil, usagef("--compact: %w", err)
		}
		all = append(all, p)
	}
	if own {
		p := compact.DefaultPolicy()
		p.Reasoning, p.Tools, p.Summarize = c.Reasoning, c.Tools.Policy, c.Summarize
		all = append(all, p)
	}
	for i := range all {
		if err := c.turns(a, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// turns gives a policy the turns that flags name.
func (c compactCmd) turns(a *app, p *compact.Policy) (err error) {
	switch {
	case p.Ranged:
		return nil
	case c.Turn != "" || c.First != nil || c.Last != nil:
		p.From, p.To, err = turnBounds(c.Turn, c.First, c.Last)
		return err
	case c.From != "" || c.To != "":
		if p.From, err = bound(a, "from", c.From); err != nil {
			return err
		}
		p.To, err = bound(a, "to", c.To)
		return err
	}
	if c.KeepFirst != "" {
		n, err := strconv.Atoi(c.KeepFirst)
		if err != nil || n < 0 {
			return usagef("--keep-first %q: expected a number of turns", c.KeepFirst)
		}
		p.From, _ = compact.Spared(n, 0)
	}
	if c.KeepLast != "" {
		p.To, err = spared(a, c.KeepLast)
	}
	return err
}

// bound reads one end of a range: a turn, or a time ago.
func bound(a *app, flag, text string) (events.Bound, error) {
	if text == "" {
		return events.Bound{}, nil
	}
	if b, err := events.ParseBound(text); err == nil {
		return b, nil
	}
	at, err := parseWhen(a, flag, text)
	if err != nil {
		return events.Bound{}, usagef("--%s %q: expected a turn, a duration or last-compaction",
			flag, text)
	}
	return events.AtTime(at), nil
}

// spared reads how many turns at the end are left alone, or how long ago they began.
func spared(a *app, text string) (events.Bound, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		_, to := compact.Spared(0, n)
		return to, nil
	}
	at, err := parseWhen(a, "keep-last", text)
	if err != nil {
		return events.Bound{}, usagef("--keep-last %q: expected a number of turns or a duration",
			text)
	}
	return events.AtTime(at), nil
}

// keptTurns reads --keep-last for strategies, nil for what is configured.
func keptTurns(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return nil, usagef("--keep-last %q: expected a number of turns", text)
	}
	return &n, nil
}

// request is what the flags want of a compaction that leaves the last turns alone.
func (c compactCmd) request(a *app, kept *int) prepare.Request {
	return compactRequest(a, prepare.Request{
		Strategies: c.Strategy, KeepLast: kept, KeepCalls: c.KeepCalls, Budget: c.Budget,
		Model: c.Model, DryRun: c.DryRun,
	}, c.Yes)
}

// compactRequest adds to what is wanted of a compaction how turns are confirmed that would go.
func compactRequest(a *app, r prepare.Request, yes bool) prepare.Request {
	r.Confirm = func(found []compact.Tangent) (chosen []compact.Tangent) {
		for _, t := range found {
			what := fmt.Sprintf("turn %d, %q: %s",
				t.Turn, render.Clip(t.Title), render.Clip(t.Reason))
			if yes || a.terminal.Confirm(what+"\nremove it?") {
				chosen = append(chosen, t)
			}
		}
		return chosen
	}
	if !yes && a.terminal.In == nil {
		r.Unconfirmed = &ask.UnconfirmedError{What: "remove the turns that are found tangential"}
	}
	return r
}

// openCompaction opens what a compaction of a conversation needs.
func openCompaction(
	ctx context.Context, a *app, conv *workspace.Conversation,
) (*prepare.Compaction, error) {
	settings, err := a.configAt(a.openWorkspace.Root())
	if err != nil {
		return nil, err
	}
	return prepare.OpenCompaction(ctx, a.host(), settings, a.openWorkspace, conv)
}

// reading opens a conversation for f, which only looks at it.
func reading(
	ctx context.Context, a *app, name string,
	f func(context.Context, *app, *prepare.Compaction) error,
) error {
	conv, err := a.load(name)
	if err != nil {
		return err
	}
	r, err := openCompaction(ctx, a, conv)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, a, r), r.Close())
}
