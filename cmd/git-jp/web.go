package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
)

type webCmd struct {
	textOnly

	Port uint16 `default:"0" placeholder:"PORT" help:"The port; by default one that is free."`
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
	source, err := sourceOf(ctx, a, c.Ref)
	if err != nil {
		return err
	}
	prices, err := a.models()
	if err != nil {
		return err
	}
	l, err := web.Listen(ctx, strconv.Itoa(int(c.Port)))
	if err != nil {
		return fmt.Errorf("serve on port %d: %w", c.Port, err)
	}
	s := &web.Server{
		Source: source, Token: a.token(), Host: l.Addr().String(),
		Title: "Conversations", Page: view.Document{Prices: prices},
		Now: a.now,
	}
	if h := historyOf(ctx, a, source, c.Ref); h != nil {
		s.History, s.Authors = h, h.Authors
	}
	if _, err := fmt.Fprintf(a.stdout, "http://%s/%s/\n", s.Host, s.Token); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l)
}

// historyOf returns the commits of a ref, or of the working tree; nil outside a repository.
func historyOf(ctx context.Context, a *app, source web.Source, ref string) *web.Repository {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	dir := ""
	if w, err := a.workspace(); err == nil && ref == "" {
		if dir, err = a.dirInRepo(w, repo); err != nil {
			return nil
		}
	}
	return web.NewRepository(repo, source, ref, dir)
}

// sourceOf returns the conversations of a ref, or of the workspace.
func sourceOf(ctx context.Context, a *app, ref string) (web.Source, error) {
	if ref == "" {
		w, err := a.workspace()
		if err == nil {
			return web.Live{Workspace: w}, nil
		}
		repo, repoErr := a.repo(ctx)
		if repoErr != nil || !repo.Bare() {
			return nil, err
		}
		ref = "HEAD"
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Resolve(ctx, ref+"^{commit}"); err != nil {
		return nil, fmt.Errorf("read conversations of a commit: %w", err)
	}
	return web.Revision{Repo: repo, Ref: ref}, nil
}
