package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

type redactCmd struct {
	Finding []string `arg:"" optional:"" help:"Fingerprints, as 'git jp check --secrets' shows them."`
	Text    bool     `xor:"what" help:"Read the text to take out from standard input."`
	Result  string   `xor:"what" placeholder:"HASH" help:"Take out the content with this SHA-256."`
	Apply   bool     `xor:"what" help:"Take out again what was redacted before."`
	Undo    []string `xor:"what" placeholder:"CONVERSATION" sep:"none" help:"Bring back what was redacted last."`
}

// Help says what happens to the secret and what does not.
func (redactCmd) Help() string {
	return `Takes a secret out of all conversations of the workspace that have it, in the stream and
in content, and puts [redacted:<rule>] in its place. Reasoning with a signature over it goes, and
reasoning that only a provider can read and that followed it in its turn. An entry below
.jp/secrets/redacted, which is staged with the conversations, keeps it out: 'git jp stage', the
merge driver and 'git jp import' apply it to what an older branch or another machine brings.

The original lies in <git-common-dir>/jp/trash for the grace period of the collector; --undo
brings it back. Commits that have the secret are counted, and how to take it out of them is
said: that rewrites history. A secret that was pushed has to be revoked, whatever is rewritten.

    git jp check --secrets
    git jp redact 0123456789abcdef0123456789abcdef
    git jp redact --text < secret.txt`
}

// redactRecord is what redact did, in JSON.
type redactRecord struct {
	Conversations []string `json:"conversations"`
	Entries       []string `json:"entries"`
	Replaced      int      `json:"replaced"`
	Dropped       int      `json:"dropped"`
	Removed       []string `json:"removed"`
	Kept          []string `json:"kept"`
	Commits       []string `json:"commits"`
	// Left are files that have it still, Unread is how many contents could not be looked into.
	Left   []string `json:"left,omitempty"`
	Unread int      `json:"unread,omitempty"`
}

// Run redacts.
func (c redactCmd) Run(ctx context.Context, a *app) error {
	if len(c.Finding) == 0 && !c.Text && c.Result == "" && !c.Apply && len(c.Undo) == 0 {
		return usagef("name a finding, or give --text, --result, --apply or --undo")
	}
	if len(c.Finding) > 0 && (c.Text || c.Result != "" || c.Apply || len(c.Undo) > 0) {
		return usagef("name findings, or give a flag, not both")
	}
	r, err := newRedaction(ctx, a)
	if err != nil {
		return err
	}
	if len(c.Undo) > 0 {
		return r.undo(ctx, c.Undo)
	}
	targets, err := c.targets(ctx, r)
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	for _, t := range targets {
		res, err := r.Redact(ctx, t)
		if err == nil {
			err = r.finish(ctx, t, res)
		}
		if err != nil {
			return fmt.Errorf("redact: %w", err)
		}
	}
	return nil
}

// A redaction takes secrets out of conversations and their content out of the index.
type redaction struct {
	redact.Tracked
	*app
}

func newRedaction(ctx context.Context, a *app) (redaction, error) {
	o, err := repairer(ctx, a)
	if err != nil {
		return redaction{}, err
	}
	if o.Repo == nil {
		return redaction{}, fmt.Errorf("redact: %w", gitint.ErrNotRepository)
	}
	r := redact.Redactor{
		Workspace: o.Workspace, Quarantine: repair.Quarantine(o.Sources, o.Keep, nil), Now: a.now,
	}
	if store, ok := storeIn(o.Repo, o.Workspace.Root()); ok {
		r.Forget = func(h blobs.Hash) error { return spare.Forget(o.Repo.GitDir(), store, h) }
	}
	dir, err := a.dirInRepo(o.Workspace, o.Repo)
	return redaction{redact.Tracked{Redactor: r, Repo: o.Repo, Dir: dir}, a}, err
}

// ruleText and ruleResult are the rules of what a person names.
const (
	ruleText   = "text"
	ruleResult = "result"
)

// minText is how long a text is at least that is taken out wherever it is.
const minText = 6

// targets are what is to go; one without a value stands for what entries say already.
func (c redactCmd) targets(ctx context.Context, r redaction) ([]redact.Target, error) {
	switch {
	case c.Apply:
		return []redact.Target{{}}, nil
	case c.Text:
		text, err := io.ReadAll(io.LimitReader(r.stdin, secrets.MaxFile))
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		if len(text) < minText {
			return nil, fmt.Errorf("the text has %d bytes, fewer than %d", len(text), minText)
		}
		return []redact.Target{{Rule: ruleText, Value: text}}, nil
	case c.Result != "":
		h, err := blobs.ParseHash(c.Result)
		return []redact.Target{{Rule: ruleResult, Whole: h}}, err
	}
	var targets []redact.Target
	for _, fp := range c.Finding {
		found, err := r.findSecret(ctx, r.Repo, r.Workspace, fp)
		if err != nil {
			return nil, err
		}
		value, err := r.Value(redact.Rules(r.Workspace, r.guardOptions(r.Repo)), found)
		if err != nil {
			return nil, err
		}
		targets = append(targets, redact.Target{Rule: found.Rule, Value: value})
	}
	return targets, nil
}

// finish stages what was redacted and says what is left to do. The error is report.ErrProblems
// where something has the target still, or cannot be looked into.
func (r redaction) finish(ctx context.Context, t redact.Target, res *redact.Result) error {
	for _, err := range res.Skipped {
		r.warn("not redacted: %v", err)
	}
	if len(res.Conversations) > 0 {
		return r.tell(ctx, t, res)
	}
	return r.tellNothing(ctx, t, res)
}

// tellNothing says that no conversation was changed.
func (r redaction) tellNothing(ctx context.Context, t redact.Target, res *redact.Result) error {
	left, err := r.StillThere(ctx, t)
	if err != nil {
		return err
	}
	if err := r.tellLeft(left); err != nil {
		return err
	}
	if len(res.Skipped) > 0 {
		return report.ErrProblems
	}
	r.note("nothing to redact")
	return nil
}

// tellLeft says where what was to go is still.
func (r redaction) tellLeft(left *redact.Left) error {
	for _, p := range left.Places {
		if p.Tree == check.IndexName {
			r.warn("the index still has it in %s: the working tree has another or none",
				p.Path)
			continue
		}
		r.warn("%s still has it: it has to be taken out there by hand", p.Path)
	}
	if left.Unread > 0 {
		r.warn("%s could not be read, and may have it: 'git jp check --content' names them",
			render.Count(left.Unread, "content"))
	}
	if len(left.Places) > 0 || left.Unread > 0 {
		return report.ErrProblems
	}
	return nil
}

// tell stages what was redacted and says what was done.
func (r redaction) tell(ctx context.Context, t redact.Target, res *redact.Result) error {
	commits, err := r.Commits(ctx, res)
	if err != nil {
		return err
	}
	if err := r.stage(ctx, res); err != nil {
		return err
	}
	left, err := r.StillThere(ctx, t)
	if err != nil {
		return err
	}
	if r.JSON {
		record := redactRecord{
			Entries: orEmpty(res.Entries), Replaced: res.Replaced, Dropped: res.Dropped,
			Kept: orEmpty(res.Kept), Commits: orEmpty(commits),
			Conversations: []string{}, Removed: []string{}, Unread: left.Unread,
		}
		for _, p := range left.Places {
			record.Left = append(record.Left, p.Path)
		}
		for _, id := range res.Conversations {
			record.Conversations = append(record.Conversations, id.String())
		}
		for _, h := range res.Removed {
			record.Removed = append(record.Removed, h.String())
		}
		return errors.Join(r.printJSON(record), r.tellLeft(left))
	}
	text := fmt.Sprintf("redacted %s in %s", render.Count(res.Replaced, "text"),
		render.Count(len(res.Conversations), "conversation"))
	if res.Dropped > 0 {
		text += fmt.Sprintf(", and dropped %d with signed or encrypted reasoning", res.Dropped)
	}
	if _, err := fmt.Fprintln(r.stdout, text); err != nil {
		return err
	}
	for _, id := range res.Conversations {
		r.note("the original of %s is quarantined: 'git jp redact --undo %s' brings it back",
			id, id)
	}
	r.tellHistory(res, commits)
	return r.tellLeft(left)
}

// tellHistory says what redacting does not reach.
func (r redaction) tellHistory(res *redact.Result, commits []string) {
	if len(commits) > 0 {
		const short = 12
		r.warn("%s changed these files before and can have it, the latest is %s",
			render.Count(len(commits), "commit"), commits[len(commits)-1][:short])
		if len(res.Removed) > 0 {
			name := workspace.BlobPath(r.Dir, res.Removed[0])
			r.note("'git filter-repo --invert-paths --path %s' takes content out of history", name)
		}
		r.note("'git filter-repo --replace-text FILE', with the secret in FILE, takes text out")
	}
	r.note("a secret that was pushed or shared has to be revoked where it was issued")
}

// stage puts what was redacted into the index.
func (r redaction) stage(ctx context.Context, res *redact.Result) error {
	ids, err := r.Stage(ctx, res)
	if err != nil || len(ids) == 0 {
		return err
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	req, err := stageRequest(ctx, r.app, names, false, false)
	if err != nil {
		return err
	}
	_, err = stage.Run(ctx, req)
	if refused, ok := errors.AsType[*stage.RefusedError](err); ok {
		return r.refuseStage(ctx, r.Repo, refused.Report.Findings)
	}
	return err
}

// undo brings conversations back.
func (r redaction) undo(ctx context.Context, conversations []string) error {
	for _, name := range conversations {
		e, err := r.find(name)
		if err != nil {
			return err
		}
		names, err := r.Undo(ctx, e.ID)
		if err != nil {
			return err
		}
		r.note("brought back %s as it was, with %s gone; nothing else is staged", e.ID,
			render.Count(len(names), "entry"))
	}
	return nil
}

// redactAgain applies the entries of the workspace before something is staged.
func redactAgain(ctx context.Context, a *app, ids []events.ID) error {
	w := a.openWorkspace
	names, err := fs.ReadDir(regular.Dir(w.Dir()), secrets.RedactedDir)
	if err != nil || len(names) == 0 {
		return nil //nolint:nilerr // there are none
	}
	r, err := newRedaction(ctx, a)
	if err != nil {
		return err
	}
	res, err := r.Apply(ctx, ids...)
	if err != nil {
		return fmt.Errorf("redact again: %w", err)
	}
	for _, id := range res.Conversations {
		a.note("redacted %s again; 'git jp redact --undo %s' brings it back", id, id)
	}
	if len(res.Removed) == 0 {
		return nil
	}
	res.Entries, res.Conversations = nil, nil
	return r.stage(ctx, res)
}
