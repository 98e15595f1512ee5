package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
	"github.com/git-jp/git-jp/internal/workspace"
)

type webCmd struct {
	Port string `default:"0" placeholder:"PORT" help:"The port; by default one that is free."`
	Ref  string `placeholder:"REF" help:"Show conversations as a commit has them; HEAD in a bare repository."`
}

// Help says who can read them.
func (webCmd) Help() string {
	return `Prints an address, and serves pages with all conversations there, archived ones too,
until it is interrupted. A page follows its conversation while it grows. Nothing is checked
out, and nothing is written.

Only this machine can open the address, and only who knows it: it has a random token.`
}

// Run serves until it is interrupted.
func (c webCmd) Run(ctx context.Context, a *app) error {
	source, err := c.source(ctx, a)
	if err != nil {
		return err
	}
	prices, err := a.models()
	if err != nil {
		return err
	}
	l, err := web.Listen(ctx, c.Port)
	if err != nil {
		return fmt.Errorf("serve on port %s: %w", c.Port, err)
	}
	s := &web.Server{
		Source: source, Token: a.token(), Host: l.Addr().String(),
		Title: "Conversations", Page: view.Document{Prices: prices},
		Now: a.now,
	}
	if h := c.history(ctx, a, source); h != nil {
		s.History, s.Authors = h, h.authors
	}
	if _, err := fmt.Fprintf(a.stdout, "http://%s/%s/\n", s.Host, s.Token); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l)
}

// history returns what knows the commits, nil where there is no repository.
func (c webCmd) history(ctx context.Context, a *app, source web.Source) *webHistory {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	h := &webHistory{repo: repo, source: source, ref: c.Ref}
	if repo.Bare() {
		h.ref = cmp.Or(c.Ref, "HEAD")
	}
	if w, err := a.workspace(); err == nil && c.Ref == "" {
		dir, err := a.dirInRepo(w, repo)
		if err != nil {
			return nil
		}
		h.dirs = func(context.Context) (string, []string, error) {
			return "HEAD", []string{dir}, nil
		}
		return h
	}
	h.dirs = func(ctx context.Context) (string, []string, error) {
		tree, err := repo.Tree(ctx, h.ref)
		if err != nil {
			return "", nil, err
		}
		dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
		return h.ref, dirs, err
	}
	return h
}

// authors returns who committed conversations first.
func (h webHistory) authors(ctx context.Context) (map[events.ID]string, error) {
	rev, dirs, err := h.dirs(ctx)
	if err != nil {
		return nil, err
	}
	added, err := revisions.Added(ctx, h.repo, rev, dirs...)
	names := make(map[events.ID]string, len(added))
	for id, commit := range added {
		names[id] = commit.Author
	}
	return names, err
}

func (c webCmd) source(ctx context.Context, a *app) (web.Source, error) {
	if c.Ref == "" {
		w, err := a.workspace()
		if err == nil {
			return liveWorkspace{a, w}, nil
		}
		repo, repoErr := a.repo(ctx)
		if repoErr != nil || !repo.Bare() {
			return nil, err
		}
		c.Ref = "HEAD"
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Resolve(ctx, c.Ref+"^{commit}"); err != nil {
		return nil, err
	}
	return revision{repo, c.Ref}, nil
}

// A liveWorkspace has the conversations of a workspace.
type liveWorkspace struct {
	a *app
	w *workspace.Workspace
}

// Entries implements [web.Source].
func (s liveWorkspace) Entries(context.Context) ([]web.Entry, error) {
	list, _, err := s.w.List(workspace.ListOptions{Archived: true})
	if err != nil {
		return nil, err
	}
	all := make([]web.Entry, 0, len(list))
	for _, e := range list {
		all = append(all, web.Entry{
			ID: e.ID, Version: func() string { return s.version(e) },
			Details: func() (*events.Details, error) { return s.w.LoadDetails(e) },
			Load:    siteCmd{}.loader(s.a, e),
		})
	}
	return all, nil
}

// version is made of what a save changes.
func (s liveWorkspace) version(e workspace.Entry) (v string) {
	for _, name := range []string{workspace.MetadataFile, workspace.EventsFile} {
		if info, err := os.Stat(filepath.Join(s.w.Path(e), name)); err == nil {
			v += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return v
}

// A revision has the conversations that a ref has at the time.
type revision struct {
	repo *gitint.Repo
	ref  string
}

// Entries implements [web.Source].
func (s revision) Entries(ctx context.Context) ([]web.Entry, error) {
	tree, err := s.repo.Tree(ctx, s.ref)
	if err != nil {
		return nil, err
	}
	dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
	if err != nil {
		return nil, err
	}
	var all []web.Entry
	for _, dir := range dirs {
		entries, _, err := workspace.Scan(tree, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		contents := blobs.FS(gitint.Sub(tree, dir+"/"+blobs.Dir), 0)
		for _, e := range entries {
			stream, _ := tree.OID(e.Path + "/" + workspace.EventsFile)
			details, _ := tree.OID(e.Path + "/" + workspace.MetadataFile)
			all = append(all, web.Entry{
				ID: e.ID, Version: func() string { return stream.String() + details.String() },
				Details: func() (*events.Details, error) { return workspace.ReadDetails(tree, e) },
				Load: func() (*workspace.Conversation, view.Conversation, error) {
					return fromTree(tree, e, contents)
				},
			})
		}
	}
	return all, nil
}

func fromTree(
	tree *gitint.Tree, e workspace.Entry, contents blobs.Reader,
) (*workspace.Conversation, view.Conversation, error) {
	conv, err := workspace.Read(tree, e)
	if err != nil {
		return nil, view.Conversation{}, err
	}
	return conv, view.Conversation{
		Conversation: render.Conversation{
			ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: contents,
			Base: conv.BaseConfig,
		},
		Facts: view.FactsOf(conv),
	}, nil
}
