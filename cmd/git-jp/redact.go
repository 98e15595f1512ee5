package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/stage"
)

type redactCmd struct {
	Finding []string `arg:"" optional:"" help:"Fingerprints, as 'git jp check --secrets' shows them."`
	Text    bool     `xor:"what" help:"Read the text to remove from standard input."`
	Result  string   `xor:"what" placeholder:"HASH" help:"Remove the content with this SHA-256."`
	Apply   bool     `xor:"what" help:"Remove again what was redacted before."`
	Undo    []string `xor:"what" placeholder:"CONVERSATION" sep:"none" help:"Restore what was redacted last."`
}

// Help says what happens to the secret and what does not.
func (redactCmd) Help() string {
	return `Replaces a secret by [redacted:<rule>] in all conversations of the workspace that have
it, in the stream and in content. Reasoning that is signed over it is removed, and so is
reasoning that only a provider can read and that followed it in its turn. An entry below
.jp/secrets/redacted, which is staged with the conversations, keeps it out: 'git jp stage', the
merge driver and 'git jp import' apply it to what an older branch or another machine brings.

The original is in <git-common-dir>/jp/trash for the grace period of the collector; --undo
restores it. Commits that have the secret are counted, and a command that removes it from them
is printed: it rewrites history. A secret that was pushed has to be revoked in any case.

    git jp check --secrets
    git jp redact 0123456789abcdef0123456789abcdef
    git jp redact --text < secret.txt`
}

// Run redacts secrets.
func (c redactCmd) Run(ctx context.Context, a *app) error {
	flagged := c.Text || c.Result != "" || c.Apply || len(c.Undo) > 0
	switch {
	case len(c.Finding) == 0 && !flagged:
		return usagef("name a finding, or give --text, --result, --apply or --undo")
	case len(c.Finding) > 0 && flagged:
		return usagef("name findings, or give a flag, not both")
	}
	s, err := newRedaction(ctx, a)
	if err != nil {
		return err
	}
	if len(c.Undo) > 0 {
		return undoRedaction(ctx, a, s, c.Undo)
	}
	targets, err := c.targets(ctx, a, s.Tracked)
	gone := false
	if err == nil {
		gone, err = s.Take(ctx, targets)
	} else if errors.Is(err, redact.ErrNoFinding) {
		// An earlier run of this command may have been stopped after it had redacted everything.
		if did, resumed := s.Resume(ctx); did || resumed != nil {
			gone, err = true, resumed
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("redact: %w", err)
	case !gone:
		return report.ErrProblems
	}
	return nil
}

// newRedaction opens what is needed to remove secrets from conversations, and their content from
// the index.
func newRedaction(ctx context.Context, a *app) (s redact.Session, err error) {
	o, err := repairer(ctx, a)
	if err != nil {
		return s, err
	}
	if o.Repo == nil {
		return s, fmt.Errorf("redact: %w", gitint.ErrNotRepository)
	}
	r := redact.Redactor{
		Workspace: o.Workspace, Quarantine: repair.Quarantine(o.Sources, o.Keep, nil), Now: a.now,
		PID: a.pid, Memo: a.entries, Elsewhere: o.Reader(ctx),
	}
	if store, ok := storeIn(o.Repo, o.Workspace.Root()); ok {
		r.Forget = func(h blobs.Hash) error { return spare.Forget(o.Repo.GitDir(), store, h) }
	}
	dir, err := a.dirInRepo(o.Workspace, o.Repo)
	return redact.Session{
		Tracked: redact.Tracked{Redactor: r, Repo: o.Repo, Dir: dir},
		Printer: &a.terminal.Printer,
		Short:   a.short,
		Restage: func(
			ctx context.Context, ids []events.ID, gone []blobs.Hash,
		) ([]string, error) {
			return restage(ctx, a, ids, gone)
		},
	}, err
}

// targets returns what to redact; a target without a value means the text that entries name
// already.
func (c redactCmd) targets(
	ctx context.Context, a *app, t redact.Tracked,
) (targets []redact.Target, err error) {
	targets = make([]redact.Target, max(1, len(c.Finding)))
	switch {
	case c.Text:
		targets[0], err = redact.Text(a.input(ctx))
	case c.Result != "":
		if targets[0], err = redact.Content(c.Result); err != nil {
			err = fmt.Errorf("--result: %w", err)
		}
	}
	for i, fp := range c.Finding {
		o, err := a.scanOptions(t.Repo)
		if err != nil {
			return nil, err
		}
		if targets[i], err = t.Finding(ctx, o, fp); err != nil {
			return nil, err
		}
	}
	return targets, err
}

// restage puts the current state of conversations, and all files beside conversations, into the
// index. The same change removes the blobs in gone from it.
func restage(
	ctx context.Context, a *app, ids []events.ID, gone []blobs.Hash,
) ([]string, error) {
	req, err := stageRequest(ctx, a, nil, true, false)
	if err != nil {
		return nil, err
	}
	req.Select, req.IDs, req.Beside, req.Drop = stage.Named, ids, true, gone
	res, err := stage.Run(ctx, req)
	if refused, ok := errors.AsType[*stage.RefusedError](err); ok {
		return nil, a.refuseStage(ctx, req.Repo, refused.Report.Findings)
	}
	return append(res.Added, res.Removed...), err
}

// undoRedaction restores conversations.
func undoRedaction(ctx context.Context, a *app, s redact.Session, names []string) error {
	for _, name := range names {
		e, err := a.find(name)
		if err != nil {
			return err
		}
		if err := s.Restore(ctx, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// redactAgain applies the workspace's redaction entries before conversations are staged, and
// returns the blobs to remove from the index in the same change.
func redactAgain(ctx context.Context, a *app, ids []events.ID) ([]blobs.Hash, error) {
	if !redact.HasEntries(a.openWorkspace) {
		return nil, nil
	}
	s, err := newRedaction(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.Again(ctx, ids)
}
