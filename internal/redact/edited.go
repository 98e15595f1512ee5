package redact

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// applied returns a conversation without what entries name, also where someone edited the text, so
// that it is in another place: other versions show it.
func (r *run) applied(
	ctx context.Context, c *workspace.Conversation, contents blobs.Reader,
) (secrets.Applied, error) {
	done, err := r.entries.Apply(c.ID, c.Stream, contents)
	if err != nil || len(r.entries[c.ID.Digits()]) == 0 {
		return done, err
	}
	others, err := r.versions(ctx, c.Entry)
	if err != nil {
		return done, err
	}
	moved := secrets.NewRedactions(others.Of(c.ID, done.Stream, contents))
	more, err := moved.Apply(c.ID, done.Stream, contents)
	return secrets.Applied{
		Stream: more.Stream, Replaced: slices.Concat(done.Replaced, more.Replaced),
		Store: slices.Concat(done.Store, more.Store),
	}, err
}

// versions returns the quarantined originals of a conversation, and what HEAD has of it.
func (r *run) versions(ctx context.Context, e workspace.Entry) (*secrets.Copies, error) {
	all := new(secrets.Copies)
	for _, kept := range r.Quarantine.CopiesOf(quarantine.Redacted, e.ID) {
		all.KnowVersion(r.entries, e.ID, kept.Stream, kept)
	}
	tree, err := gitint.OrNone(r.Repo.Tree(ctx, "HEAD"))
	if err != nil || tree == nil {
		return all, err
	}
	head := check.Git(r.Repo, tree)
	data, err := head.ReadFile(path.Join(path.Dir(r.Dir), e.Path, workspace.EventsFile))
	if err != nil {
		return all, nil //nolint:nilerr // it is new, or a check reports it
	}
	if s, err := events.Decode(data); err == nil {
		all.KnowVersion(r.entries, e.ID, s, r.contents(e))
	}
	return all, nil
}
