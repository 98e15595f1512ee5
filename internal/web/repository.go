package web

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/update"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Repository is the history of conversations in a repository: what its commits changed in them.
type Repository struct {
	Repo   *gitint.Repo
	Source Source
	Ref    string // "" for the working tree
	// Dirs returns the directories of conversations, and the revision.
	Dirs func(context.Context) (rev string, dirs []string, err error)
}

var (
	_ History = Repository{}
	_ Source  = Revision{}
)

// NewRepository returns the history of the conversations of a source, which reads the directory .jp
// of the working tree, or a ref if dir is empty.
func NewRepository(repo *gitint.Repo, source Source, ref, dir string) *Repository {
	h := &Repository{Repo: repo, Source: source, Ref: ref}
	if repo.Bare() {
		h.Ref = cmp.Or(ref, "HEAD")
	}
	h.Dirs = func(ctx context.Context) (string, []string, error) {
		if dir != "" {
			return "HEAD", []string{dir}, nil
		}
		tree, err := repo.Tree(ctx, h.Ref)
		if err != nil {
			return "", nil, err
		}
		dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
		return h.Ref, dirs, err
	}
	return h
}

// errNoCommit says that the ref, such as HEAD of a new repository, has no commit.
var errNoCommit = errors.New("there is no commit yet")

// isBegun returns an error if there is no commit to show.
func (h Repository) isBegun(ctx context.Context) error {
	_, err := h.Repo.Resolve(ctx, cmp.Or(h.Ref, "HEAD"))
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return errNoCommit
	}
	return err
}

// Commits implements [History].
func (h Repository) Commits(ctx context.Context) (all []view.Commit, err error) {
	const most = 1000
	if err := h.isBegun(ctx); err != nil {
		return nil, err
	}
	rev, dirs, err := h.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := revisions.Changing(ctx, h.Repo, most, rev, dirs...)
	for _, c := range found {
		at, _ := time.Parse(time.RFC3339, c.Date) // if it does not parse: no time is shown
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
	if err := h.isBegun(ctx); err != nil {
		return title, nil, err
	}
	if commit == "" {
		base, head, err = update.Ends(ctx, h.Repo, "")
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
	// Content that does not arrive is reported where it is read.
	_ = review.Fetch(ctx, h.Repo, true, review.Range{Base: base, Head: head})
	all, err := review.Between(ctx, h.Repo, base, head, func(error) {})
	return title, Reviewed(all), err
}

// Reviewed returns pages of the turns that were added.
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
		return nil, &fs.PathError{Op: "blame", Path: file, Err: fs.ErrNotExist}
	}
	if err := h.isBegun(ctx); err != nil {
		return nil, err
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
	if name = blame.PathNamed(h.Repo, name); name == "" {
		return ""
	}
	return view.FilePage(name)
}

// Authors returns the people who first committed conversations.
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
