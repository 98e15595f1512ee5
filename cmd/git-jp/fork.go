package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

type forkCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation to fork; the active one by default."`
	Title        string   `placeholder:"TITLE" help:"Title of the fork; that of the source by default."`
	First        *int     `short:"f" placeholder:"N" help:"Keep the first N turns."`
	Last         *int     `short:"l" placeholder:"N" help:"Keep the last N turns."`
	From         string   `placeholder:"TIME" help:"Keep events from this time on."`
	Until        string   `placeholder:"TIME" help:"Keep events before this time."`
	NoTurns      bool     `short:"N" help:"Keep the configuration only."`
	Label        []string `sep:"none" placeholder:"KEY[=VALUE]" help:"Set a label on the fork; repeat for several."`
	Compact      specFlag `short:"k" placeholder:"SPEC" help:"Compact the fork: as configured, or as in --compact=dedup-tools+prune-tools by strategies, or as in --compact=t=omit:1..3 by a rule."`
	Activate     bool     `help:"Make the fork the active conversation."`
}

// Help explains what a fork keeps.
func (forkCmd) Help() string {
	return `The fork is a new conversation with the same configuration and the chosen turns. No
content is copied: it refers to the same blobs. Elements of unknown kinds and compactions
of the turns that remain are kept, which jp's own fork loses.

` + whenHelp
}

// Run forks a conversation.
func (c forkCmd) Run(ctx context.Context, a *app) error {
	options, err := c.options(a)
	if err != nil {
		return err
	}
	conv, err := a.load(c.Conversation)
	if err != nil {
		return err
	}
	details, err := c.details(a, conv, options)
	if err != nil {
		return err
	}
	stream := conv.Stream.Fork(options)
	query.Detach(stream)
	if stream, err = compactedFork(ctx, a, conv, stream, c.Compact); err != nil {
		return err
	}
	w := a.openWorkspace
	entry, err := w.Create(ctx, &workspace.NewConversation{
		Details: details, Stream: stream, BaseConfig: conv.BaseConfig, Local: conv.Local,
		AllowDangling: true, // the fork must not refuse faults of the source
	})
	if err != nil {
		return err
	}
	a.note("forked %s in %s", conv.ID, entry.Path)
	if a.JSON {
		err = a.printRecord(entry)
	} else {
		_, err = fmt.Fprintln(a.stdout, entry.ID)
	}
	if c.Activate { // last: what cannot be activated is a fork anyway
		err = errors.Join(err, activate(a, w, entry.ID))
	}
	return err
}

// compactedFork compacts a fork, if that is wanted.
func compactedFork(
	ctx context.Context, a *app, conv *workspace.Conversation, s *events.Stream, f specFlag,
) (*events.Stream, error) {
	if !f.given() {
		return s, nil
	}
	fork := *conv
	fork.Stream = s
	out, err := compacted(ctx, a, &fork, f)
	if err != nil {
		return nil, err
	}
	return out.Stream, nil
}

// options parses which turns are kept.
func (c forkCmd) options(a *app) (o events.ForkOptions, err error) {
	for _, n := range []*int{c.First, c.Last} {
		if n != nil && *n < 1 {
			return o, usagef("--first and --last: expected a positive number")
		}
	}
	if c.NoTurns && (c.First != nil || c.Last != nil || c.From != "" || c.Until != "") {
		return o, usagef("--no-turns cannot be used together with flags that choose turns")
	}
	o = events.ForkOptions{
		First: *cmp.Or(c.First, new(int)), Last: *cmp.Or(c.Last, new(int)), KeepNone: c.NoTurns,
	}
	if o.From, err = parseWhen(a, "from", c.From); err != nil {
		return o, err
	}
	if o.Until, err = parseWhen(a, "until", c.Until); err != nil {
		return o, err
	}
	if !o.From.IsZero() && !o.Until.IsZero() && !o.Until.After(o.From) {
		return o, usagef("--until: %s is not after --from %s", c.Until, c.From)
	}
	return o, nil
}

// details returns the metadata of the fork.
func (c forkCmd) details(
	a *app, conv *workspace.Conversation, o events.ForkOptions,
) (*events.Details, error) {
	d, err := workspace.ForkDetails(conv, o, a.now())
	if err != nil {
		return nil, err
	}
	if c.Title != "" {
		d.Title = &c.Title
	}
	labels, err := workspace.ParseLabels(c.Label)
	workspace.SetLabels(d, labels)
	return d, err
}

// activate makes a conversation the active one of this terminal.
func activate(a *app, w *workspace.Workspace, id events.ID) error {
	s, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
	if !ok {
		return errors.New("activate a conversation: nothing tells this terminal from others")
	}
	return w.Activate(s, id)
}
