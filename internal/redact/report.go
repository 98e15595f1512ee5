package redact

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Session redacts interactively: it stages the changes, and prints them and the remaining work.
type Session struct {
	Tracked

	Printer *render.Printer
	// Restage stages the current state of conversations.
	Restage func(ctx context.Context, ids []events.ID) error
}

// A Record is the result as JSON.
type Record struct {
	Conversations []string `json:"conversations"`
	Entries       []string `json:"entries"`
	Replaced      int      `json:"replaced"`
	Dropped       int      `json:"dropped"`
	Removed       []string `json:"removed"`
	Kept          []string `json:"kept"`
	Commits       []string `json:"commits"`
	// Left lists files that still have the target, and Unread counts blobs that could not be read.
	Left   []string `json:"left,omitempty"`
	Unread int      `json:"unread,omitempty"`
}

// Take removes targets one after the other. It reports whether no file still has them, as far as
// all could be read, and stops after the first that is left.
func (s Session) Take(ctx context.Context, targets []Target) (gone bool, err error) {
	for _, t := range targets {
		res, err := s.Redact(ctx, t)
		if err == nil {
			gone, err = s.finish(ctx, t, res)
		}
		if err != nil || !gone {
			return gone, err
		}
	}
	return true, nil
}

// Again applies the entries of the workspace to conversations before they are staged.
func (s Session) Again(ctx context.Context, ids []events.ID) error {
	res, err := s.Apply(ctx, ids...)
	if err != nil {
		return fmt.Errorf("redact again: %w", err)
	}
	for _, id := range res.Conversations {
		s.Printer.Note("redacted %s again; 'git jp redact --undo %s' brings it back", id, id)
	}
	if len(res.Removed) == 0 {
		return nil
	}
	res.Entries, res.Conversations = nil, nil
	return s.stage(ctx, res)
}

// HasEntries reports whether the workspace has entries of redactions.
func HasEntries(w *workspace.Workspace) bool {
	names, err := fs.ReadDir(regular.Dir(w.Dir()), secrets.RedactedDir)
	return err == nil && len(names) > 0
}

// Restore restores the original of a conversation.
func (s Session) Restore(ctx context.Context, id events.ID) error {
	names, err := s.Undo(ctx, id)
	if err != nil {
		return err
	}
	s.Printer.Note("brought back %s as it was, with %s gone; nothing else is staged", id,
		render.Count(len(names), "entry"))
	return nil
}

// stage stages the redacted files.
func (s Session) stage(ctx context.Context, res *Result) error {
	ids, err := s.Stage(ctx, res)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.Restage(ctx, ids)
}

// finish stages the redacted files and prints the remaining work.
func (s Session) finish(ctx context.Context, t Target, res *Result) (gone bool, err error) {
	for _, err := range res.Skipped {
		s.Printer.Warn("not redacted: %v", err)
	}
	var commits []string
	if len(res.Conversations) > 0 {
		if commits, err = s.Commits(ctx, res); err != nil {
			return false, err
		}
		if err := s.stage(ctx, res); err != nil {
			return false, err
		}
	}
	left, err := s.StillThere(ctx, t)
	if err != nil {
		return false, err
	}
	if len(res.Conversations) > 0 {
		err = s.print(res, commits, left)
		return s.complete(left), err
	}
	if !s.complete(left) || len(res.Skipped) > 0 {
		return false, nil
	}
	s.Printer.Note("nothing to redact")
	return true, nil
}

// complete prints which files still have the target, and reports whether none does.
func (s Session) complete(left *Left) bool {
	for _, p := range left.Places {
		if p.Tree == check.IndexName {
			s.Printer.Warn("the index still has it in %s: the working tree has another or none",
				p.Path)
			continue
		}
		s.Printer.Warn("%s still has it: it has to be taken out there by hand", p.Path)
	}
	if left.Unread > 0 {
		s.Printer.Warn("%s could not be read, and may have it: 'git jp check --content' names them",
			render.Count(left.Unread, "content"))
	}
	return len(left.Places) == 0 && left.Unread == 0
}

// print prints the changes.
func (s Session) print(res *Result, commits []string, left *Left) error {
	p := s.Printer
	if p.JSON {
		return p.Records(newRecord(res, commits, left))
	}
	text := fmt.Sprintf("redacted %s in %s", render.Count(res.Replaced, "text"),
		render.Count(len(res.Conversations), "conversation"))
	if res.Dropped > 0 {
		text += fmt.Sprintf(", and dropped %d with signed or encrypted reasoning", res.Dropped)
	}
	if _, err := fmt.Fprintln(p.Out, text); err != nil {
		return err
	}
	for _, id := range res.Conversations {
		p.Note("the original of %s is quarantined: 'git jp redact --undo %s' brings it back",
			id, id)
	}
	s.history(res, commits)
	return nil
}

func newRecord(res *Result, commits []string, left *Left) Record {
	list := func(s []string) []string { return append([]string{}, s...) }
	r := Record{
		Entries: list(res.Entries), Replaced: res.Replaced, Dropped: res.Dropped,
		Kept: list(res.Kept), Commits: list(commits),
		Conversations: []string{}, Removed: []string{}, Unread: left.Unread,
	}
	for _, p := range left.Places {
		r.Left = append(r.Left, p.Path)
	}
	for _, id := range res.Conversations {
		r.Conversations = append(r.Conversations, id.String())
	}
	for _, h := range res.Removed {
		r.Removed = append(r.Removed, h.String())
	}
	return r
}

// history prints what redacting does not reach.
func (s Session) history(res *Result, commits []string) {
	p := s.Printer
	if len(commits) > 0 {
		const short = 12
		p.Warn("%s changed these files before and can have it, the latest is %s",
			render.Count(len(commits), "commit"), commits[len(commits)-1][:short])
		if len(res.Removed) > 0 {
			name := workspace.BlobPath(s.Dir, res.Removed[0])
			p.Note("'git filter-repo --invert-paths --path %s' takes content out of history", name)
		}
		p.Note("'git filter-repo --replace-text FILE', with the secret in FILE, takes text out")
	}
	p.Note("a secret that was pushed or shared has to be revoked where it was issued")
}
