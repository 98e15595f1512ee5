package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
)

// A webHistory is what commits of a repository did to conversations.
type webHistory struct {
	repo   *gitint.Repo
	source web.Source
	ref    string // "" for the working tree
	dirs   func(context.Context) (rev string, dirs []string, err error)
}

// errCut is for a commit with which the history that is here begins.
var errCut = errors.New("history is cut off there, so what it added is unknown")

// Commits implements [web.History].
func (h webHistory) Commits(ctx context.Context) (all []view.Commit, err error) {
	const most = 1000
	rev, dirs, err := h.dirs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := revisions.Changing(ctx, h.repo, most, rev, dirs...)
	for _, c := range found {
		at, _ := time.Parse(time.RFC3339, c.Date) // a time of a stranger: none is shown
		all = append(all, view.Commit{
			ID: c.OID.String(), Author: c.Author, Subject: c.Subject, At: at,
		})
	}
	return all, err
}

// Added implements [web.History].
func (h webHistory) Added(
	ctx context.Context, commit string,
) (title string, shown []view.Conversation, err error) {
	var base, head gitint.OID
	title = "Turns of this branch"
	if commit == "" {
		base, head, err = reviewCmd{}.ends(ctx, h.repo)
	} else {
		title = "Turns of commit " + commit
		if head, err = h.repo.Resolve(ctx, commit+"^{commit}"); err == nil {
			var cut bool
			if base, cut, err = h.repo.Parent(ctx, head); cut {
				title = "Turns as of commit " + commit + ": " + errCut.Error()
			}
		}
	}
	if err != nil {
		return title, nil, err
	}
	all, err := review.Between(ctx, h.repo, base, head, func(error) {})
	return title, reviewed(all), err
}

// reviewed are the turns that were added, to be shown.
func reviewed(all []review.Conversation) []view.Conversation {
	shown := make([]view.Conversation, len(all))
	for i, c := range all {
		shown[i] = view.Conversation{
			Conversation: render.Conversation{
				ID: c.ID, Title: c.Title(), Stream: c.Stream, Contents: c.Contents,
				Base: c.BaseConfig,
			},
			Facts: view.FactsOf(c.Conversation), Only: c.Has,
		}
	}
	return shown
}

// Lines implements [web.History].
func (h webHistory) Lines(ctx context.Context, file string) (all []view.Span, err error) {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return nil, fmt.Errorf("%s is not in the repository", file)
	}
	ignore := func(error) {} // the page of a conversation says why it cannot be read
	spans, err := blame.Of(ctx, h.repo, blame.Request{Rev: h.ref, Path: file},
		subjects(ctx, h.source, ignore), ignore)
	for _, span := range spans {
		shown := span.Shown()
		if shown.Commit.ID != "" {
			shown.Commit.Page = view.CommitPage(shown.Commit.ID)
		}
		all = append(all, shown)
	}
	return all, err
}

// File implements [web.History].
func (h webHistory) File(name string) string {
	if name = pathInRepo(h.repo, name); name == "" {
		return ""
	}
	return view.FilePage(name)
}

// pathInRepo returns where below the root a file is that a call names, "" for elsewhere. Agents
// name files by their absolute path, or from the root, which an import calls $WORKSPACE.
func pathInRepo(repo *gitint.Repo, name string) string {
	name = filepath.FromSlash(strings.TrimPrefix(name, "$WORKSPACE/"))
	if filepath.IsAbs(name) {
		below, err := filepath.Rel(repo.Root(), name)
		if err != nil || repo.Root() == "" {
			return ""
		}
		name = below
	}
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}
