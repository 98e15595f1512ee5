package web

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/view"
)

// A Repository is the history of conversations in a repository: what its commits did to them.
type Repository struct {
	Repo   *gitint.Repo
	Source Source
	Ref    string // "" for the working tree
	// Dirs returns where conversations are, and as of which revision.
	Dirs func(context.Context) (rev string, dirs []string, err error)
	// Branch returns the commits between which the turns of this branch were added.
	Branch func(context.Context) (base, head gitint.OID, err error)
}

var (
	_ History = Repository{}
	_ Source  = Revision{}
)

// Commits implements [History].
func (h Repository) Commits(ctx context.Context) (all []view.Commit, err error) {
	const most = 1000
	rev, dirs, err := h.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := revisions.Changing(ctx, h.Repo, most, rev, dirs...)
	for _, c := range found {
		at, _ := time.Parse(time.RFC3339, c.Date) // a time of a stranger: none is shown
		all = append(all, view.Commit{
			ID: c.OID.String(), Author: c.Author, Subject: c.Subject, At: at,
		})
	}
	return all, err
}

// Added implements [History].
func (h Repository) Added(
	ctx context.Context, commit string,
) (title string, pages []view.Conversation, err error) {
	var base, head gitint.OID
	title = "Turns of this branch"
	if commit == "" {
		base, head, err = h.Branch(ctx)
	} else {
		title = "Turns of commit " + commit
		if head, err = h.Repo.Resolve(ctx, commit+"^{commit}"); err == nil {
			var cut bool
			if base, cut, err = h.Repo.Parent(ctx, head); cut {
				title = "Turns as of commit " + commit + ": " + review.ErrCut.Error()
			}
		}
	}
	if err != nil {
		return title, nil, err
	}
	// What does not come is missed where it is read.
	_ = review.Fetch(ctx, h.Repo, true, review.Range{Base: base, Head: head})
	all, err := review.Between(ctx, h.Repo, base, head, func(error) {})
	return title, Reviewed(all), err
}

// Reviewed are the turns that were added, to be shown.
func Reviewed(all []review.Conversation) []view.Conversation {
	pages := make([]view.Conversation, len(all))
	for i, c := range all {
		pages[i] = shown(c.Conversation, c.Contents)
		pages[i].Only = c.Has
	}
	return pages
}

// Lines implements [History].
func (h Repository) Lines(ctx context.Context, file string) (all []view.Span, err error) {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return nil, fmt.Errorf("%s is not in the repository", file)
	}
	ignore := func(error) {} // the page of a conversation says why it cannot be read
	spans, err := blame.Of(ctx, h.Repo, blame.Request{Rev: h.Ref, Path: file},
		Subjects(ctx, h.Source, ignore), ignore)
	for _, span := range spans {
		shown := span.Shown()
		if shown.Commit.ID != "" {
			shown.Commit.Page = view.CommitPage(shown.Commit.ID)
		}
		all = append(all, shown)
	}
	return all, err
}

// File implements [History].
func (h Repository) File(name string) string {
	if name = PathInRepo(h.Repo, name); name == "" {
		return ""
	}
	return view.FilePage(name)
}

// PathInRepo returns where below the root a file is that a call names, "" for elsewhere. Agents
// name files by their absolute path, or from the root, which an import calls $WORKSPACE.
func PathInRepo(repo *gitint.Repo, name string) string {
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

// Authors returns who committed conversations first.
func (h Repository) Authors(ctx context.Context) (map[events.ID]string, error) {
	rev, dirs, err := h.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	added, err := revisions.Added(ctx, h.Repo, rev, dirs...)
	names := make(map[events.ID]string, len(added))
	for id, commit := range added {
		names[id] = commit.Author
	}
	return names, err
}
