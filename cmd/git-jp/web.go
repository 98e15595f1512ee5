package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
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
		s.History, s.Authors = h, h.Authors
	}
	if _, err := fmt.Fprintf(a.stdout, "http://%s/%s/\n", s.Host, s.Token); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l)
}

// history returns what knows the commits, nil where there is no repository.
func (c webCmd) history(ctx context.Context, a *app, source web.Source) *web.Repository {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	h := &web.Repository{
		Repo: repo, Source: source, Ref: c.Ref,
		Branch: func(ctx context.Context) (base, head gitint.OID, err error) {
			return reviewCmd{}.ends(ctx, repo)
		},
	}
	if repo.Bare() {
		h.Ref = cmp.Or(c.Ref, "HEAD")
	}
	if w, err := a.workspace(); err == nil && c.Ref == "" {
		dir, err := a.dirInRepo(w, repo)
		if err != nil {
			return nil
		}
		h.Dirs = func(context.Context) (string, []string, error) {
			return "HEAD", []string{dir}, nil
		}
		return h
	}
	h.Dirs = func(ctx context.Context) (string, []string, error) {
		tree, err := repo.Tree(ctx, h.Ref)
		if err != nil {
			return "", nil, err
		}
		dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
		return h.Ref, dirs, err
	}
	return h
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
	return web.Revision{Repo: repo, Ref: c.Ref}, nil
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
