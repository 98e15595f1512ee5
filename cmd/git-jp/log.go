package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/workspace"
)

type logCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation, which may follow the revisions; the active one by default. A deleted one is named by its id in full."`
	Revision     []string `arg:"" optional:"" help:"Where to begin, and where to end: a revision or a range."`
	All          bool     `help:"Look at all branches and tags."`
	Count        *int     `short:"n" name:"max-count" placeholder:"N" help:"Show the newest N commits only."`
}

// Help says what is shown.
func (logCmd) Help() string {
	return `Lists the commits that changed a conversation, wherever its directory was at the time,
and what they did to it. 'git log -p' shows the text of the changes.`
}

// Run lists the commits that changed a conversation.
func (c logCmd) Run(ctx context.Context, a *app) error {
	if c.Count != nil && *c.Count < 1 {
		return usagef("--max-count %d: expected a positive number", *c.Count)
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return err
	}
	id, revs, err := subject(ctx, a, repo, c.Conversation, c.Revision)
	if err != nil {
		return err
	}
	all, err := revisions.Of(ctx, repo, revisions.Request{
		Dir: dir, ID: id, Revs: revs, All: c.All, Count: *cmp.Or(c.Count, new(int)),
	})
	if err != nil {
		return err
	}
	switch {
	case len(all) > 0:
	case len(revs) > 0:
		a.note("no commit of %s changed %s", strings.Join(revs, " "), id)
	default:
		a.note("no commit has %s", id)
	}
	return a.pagedPrinter(ctx, func(p *render.Printer) error { return revisions.Print(p, all) })
}

// subject returns the conversation and the revisions of a command line. A conversation is named as
// git's commands name paths: it may come last, and where revisions alone are given it is the active
// one.
func subject(
	ctx context.Context, a *app, repo *gitint.Repo, name string, revs []string,
) (events.ID, []string, error) {
	id, err := stageID(a, cmp.Or(name, "."))
	if isMissing := new(workspace.NotFoundError); name == "" || !errors.As(err, &isMissing) {
		return id, revs, err
	}
	words := append([]string{name}, revs...)
	if n := len(revs); n > 0 {
		if id, err := stageID(a, words[n]); err == nil {
			return id, words[:n], nil
		}
	}
	if isRevision(ctx, repo, name) {
		id, err = stageID(a, ".")
	}
	return id, words, err
}

// isRevision reports whether a word is a revision or a range.
func isRevision(ctx context.Context, repo *gitint.Repo, word string) bool {
	word = strings.TrimSuffix(strings.TrimPrefix(word, "^"), "^@")
	ends, ok := gitint.ParseRange(word)
	if !ok {
		ends.From = word
	}
	for _, rev := range []string{ends.From, ends.To} {
		if _, err := repo.Resolve(ctx, cmp.Or(rev, "HEAD")); err != nil {
			return false
		}
	}
	return true
}
