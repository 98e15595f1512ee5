package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/workspace"
)

type compactCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default."`
	Strategy     []string `placeholder:"NAME" help:"What to do, repeated from left to right: auto, strip-reasoning, dedup-tools, strip-tool-results, strip-attachments, prune-tools, trim-superseded, summarize or classify-tangents."`
	KeepLast     string   `placeholder:"N" xor:"to" help:"How many turns at the end are left alone, or, of an overlay, for how long: 5h."`
	KeepCalls    int      `placeholder:"N" help:"How many calls at the end are left alone, in place of turns: of one long turn, too."`
	InPlace      bool     `help:"Change the conversation instead of a fork of it."`
	DryRun       bool     `short:"n" help:"Show what would change, and change nothing."`
	Diff         bool     `help:"Show what a model would no longer see, in context, and change nothing."`
	NoActivate   bool     `help:"Do not make the fork the active conversation."`
	Budget       int64    `placeholder:"TOKENS" help:"auto stops when this size is reached."`
	Model        string   `short:"m" placeholder:"MODEL" help:"The model that summarizes and classifies."`
	Yes          bool     `short:"y" help:"Do not ask."`
	Pin          []string `sep:"none" placeholder:"TURN|CALL|FILE" help:"Leave a turn, the call with this id or what shows a file as it is from now on, repeated."`
	Unpin        []string `sep:"none" placeholder:"TURN|CALL|FILE" help:"Remove a pin."`

	overlayFlags

	Undo undoFlag `placeholder:"N|all" help:"Undo the last compaction, or as in --undo=2 the N-th of the overlay, or with --undo=all all of it."`
}

// overlayFlags concern rules, which remove nothing.
type overlayFlags struct {
	Overlay   bool      `help:"Keep all events, and add one that says what a model is not given: by the configured rules where no flag names one."`
	Rule      []string  `short:"k" name:"compact" sep:"none" placeholder:"SPEC" help:"A rule of the overlay, as jp has it: r, s and t joined by +, then :FROM..TO."`
	Reasoning bool      `short:"r" help:"Overlay: leave reasoning out."`
	Tools     toolsFlag `short:"t" placeholder:"WHAT" help:"Overlay: strip tool calls, or what --tools=strip-requests, --tools=strip-responses or --tools=omit say."`
	Summarize bool      `short:"s" help:"Overlay: a summary in place of the turns."`
	KeepFirst string    `placeholder:"N" xor:"from" help:"Overlay: how many turns at the start are left alone."`
	From      string    `placeholder:"TURN" xor:"from" help:"Overlay: from this turn, -N from the end, a duration, or last-compaction."`
	To        string    `placeholder:"TURN" xor:"to" help:"Overlay: up to this turn."`
	Turn      string    `placeholder:"N|A..B" xor:"range,from,to" help:"Overlay: these turns."`
	First     *int      `placeholder:"N" xor:"range,from,to" help:"Overlay: the first N turns."`
	Last      *int      `placeholder:"N" xor:"range,from,to" help:"Overlay: the last N turns."`
}

// Help says what is lost, and what can be restored.
func (compactCmd) Help() string {
	return `Makes a conversation smaller for models, in a fork of it unless --in-place is given. The
report shows what each strategy saves, in events, bytes and tokens, and when it pays.

auto removes reasoning, then calls that a later one repeats, then the bodies of results, then
definitions of tools that were never called; it summarizes only what is still larger
than --budget, or than the share of the model's window that
conversation.compaction.summarize_threshold names.

What --in-place removes is kept in the clone until it is cleaned up: --undo restores it.
An overlay removes nothing. --undo never removes a summary that an agent recorded, and what it
removes is kept, too.

--diff shows, as 'git diff' would, everything that a model would no longer be given, or in another
form, with its replacement and the strategy or rule that replaces it. It is always a dry run.`
}

// A toolsFlag is given without a value or with what stays of tool calls.
type toolsFlag struct{ Policy *events.ToolCallPolicy }

// IsBool makes the value optional.
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

// An undoFlag is given without a value, with the number of a compaction, or with "all".
type undoFlag struct {
	Given bool
	N     int // as compact.RemoveOverlay has it
}

// IsBool makes the value optional.
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

// overlays reports whether any flag asks for the overlay.
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
		return usagef("--undo cannot be combined with strategies, rules or pins")
	case c.pins() && (c.overlays() || strategic):
		return usagef("--pin and --unpin cannot be combined with strategies and rules")
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
	conv, err := a.load(c.Conversation)
	if err != nil {
		return err
	}
	j, err := compactionOf(a, conv)
	if err != nil {
		return err
	}
	j.DryRun, j.Diff, j.Yes = c.DryRun || c.Diff, c.Diff, c.Yes
	if c.NoActivate {
		j.Activate = nil
	}
	var changed bool
	switch {
	case c.Undo.Given:
		changed, err = j.Undo(ctx, c.Undo.N)
	case c.pins():
		changed, err = j.Pin(ctx, c.Pin, c.Unpin)
	case c.overlays():
		var rules compactor.Rules
		if rules, err = c.rules(a); err == nil {
			changed, err = j.Overlay(ctx, rules)
		}
	default:
		return c.strategies(ctx, j)
	}
	if err != nil || !changed {
		return err
	}
	return a.printRecord(conv.Entry)
}

func (c compactCmd) strategies(ctx context.Context, j compactor.Job) error {
	kept, err := keptTurns(c.KeepLast)
	if err != nil {
		return err
	}
	j.InPlace = c.InPlace
	return j.Strategies(ctx, prepare.Request{
		Strategies: c.Strategy, KeepLast: kept, KeepCalls: c.KeepCalls, Budget: c.Budget,
		Model: c.Model,
	})
}

// compactionOf returns the job that compacts a conversation into forks that become the active one.
func compactionOf(a *app, conv *workspace.Conversation) (compactor.Job, error) {
	settings, err := a.configAt(a.openWorkspace.Root())
	return compactor.Job{
		Host: a.host(), Config: settings, Workspace: a.openWorkspace, Conversation: conv,
		Activate: activateIfKnown(a, a.openWorkspace), Paged: a.paged,
	}, err
}

func (c compactCmd) pins() bool { return len(c.Pin)+len(c.Unpin) > 0 }

// rules returns the rules of the overlay that flags name, and the turns that rules without a range
// apply to.
func (c compactCmd) rules(a *app) (compactor.Rules, error) {
	r := compactor.Rules{Model: c.Model}
	for _, spec := range c.Rule {
		p, err := compact.ParsePolicy(spec)
		if err != nil {
			return r, usagef("--compact: %w", err)
		}
		r.Policies = append(r.Policies, p)
	}
	if c.Reasoning || c.Tools.Policy != nil || c.Summarize {
		p := compact.DefaultPolicy()
		p.Reasoning, p.Tools, p.Summarize = c.Reasoning, c.Tools.Policy, c.Summarize
		r.Policies = append(r.Policies, p)
	}
	unbounded := func(p compact.Policy) bool { return !p.Ranged }
	if len(r.Policies) > 0 && !slices.ContainsFunc(r.Policies, unbounded) {
		return r, nil
	}
	return r, c.turns(a, &r)
}

// turns reads the turns that flags name.
func (c compactCmd) turns(a *app, r *compactor.Rules) error {
	var from, to events.Bound
	var err error
	switch {
	case c.Turn != "" || c.First != nil || c.Last != nil:
		from, to, err = turnBounds(c.Turn, c.First, c.Last)
		r.From, r.To = &from, &to
		return err
	case c.From != "" || c.To != "":
		if from, err = bound(a, "from", c.From); err != nil {
			return err
		}
		to, err = bound(a, "to", c.To)
		r.From, r.To = &from, &to
		return err
	}
	if c.KeepFirst != "" {
		n, err := strconv.Atoi(c.KeepFirst)
		if err != nil || n < 0 {
			return usagef("--keep-first %q: expected a number of turns", c.KeepFirst)
		}
		from, _ = compact.Spared(n, 0)
		r.From = &from
	}
	if c.KeepLast != "" {
		to, err = spared(a, c.KeepLast)
		r.To = &to
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

// spared parses how many turns at the end are left alone, or how long ago they began.
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

// keptTurns parses --keep-last for strategies, nil for the configured number.
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

// reading opens a conversation for f, which only reads it.
func reading(
	ctx context.Context, a *app, name string,
	f func(context.Context, *app, *prepare.Compaction) error,
) error {
	conv, err := a.load(name)
	if err != nil {
		return err
	}
	settings, err := a.configAt(a.openWorkspace.Root())
	if err != nil {
		return err
	}
	r, err := prepare.OpenCompaction(ctx, a.host(), settings, a.openWorkspace, conv)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, a, r), r.Close())
}
