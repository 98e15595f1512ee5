package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/secrets"
)

// leakPolicy returns the user's decisions about secrets.
func (a *app) leakPolicy() leaks.Policy {
	return leaks.Policy{Approved: a.host().Approved, Env: a.env}
}

// leakOptions returns the options with the findings that the user approved as no secrets.
func (a *app) leakOptions(base string) leaks.Options { return a.leakPolicy().Options(base) }

// guardOptions is leakOptions for a commit: the user's own secrets stop it.
func (a *app) guardOptions(repo *gitint.Repo) leaks.Options {
	var dirs []string
	if repo.Root() != "" {
		dirs = append(dirs, repo.Root())
		if root, err := a.root(); err == nil && root != repo.Root() {
			dirs = append(dirs, root)
		}
	}
	o := a.leakPolicy().Guard(repo.Root(), dirs...)
	o.Memo = a.entries
	return o
}

// scanOptions is guardOptions with the limit of the workspace.
func (a *app) scanOptions(repo *gitint.Repo) (o leaks.Options, err error) {
	settings, err := a.settings()
	if err != nil {
		return o, err
	}
	o = a.guardOptions(repo)
	o.MaxBlobBytes = settings.Storage.MaxBlobBytes
	return o, nil
}

// allowSecret allows findings of the workspace that are no secrets.
func (a *app) allowSecret(ctx context.Context, fingerprints []string) error {
	t, err := a.tracked(ctx)
	if err != nil {
		return err
	}
	o, err := a.scanOptions(t.Repo)
	if err != nil {
		return err
	}
	var entries []secrets.Allowed
	for _, fp := range fingerprints {
		found, err := t.Find(ctx, o, fp)
		if err != nil {
			return fmt.Errorf("--allow-secret: %w", err)
		}
		entries = append(entries, found)
	}
	return a.commitAllowed(ctx, entries)
}

// commitAllowed writes and stages the entries of findings that are no secrets.
func (a *app) commitAllowed(ctx context.Context, entries []secrets.Allowed) error {
	t, err := a.tracked(ctx)
	if err != nil {
		return err
	}
	names, err := t.Allow(ctx, entries...)
	if err != nil {
		return fmt.Errorf("allow secret: %w", err)
	}
	for _, name := range names {
		a.note("staged %s", name)
	}
	return nil
}

// tracked returns the workspace in its repository.
func (a *app) tracked(ctx context.Context) (t redact.Tracked, err error) {
	if t.Workspace, err = a.workspace(); err != nil {
		return t, err
	}
	if t.Repo, err = a.repo(ctx); err != nil {
		return t, err
	}
	t.Dir, err = a.dirInRepo(t.Workspace, t.Repo)
	return t, err
}
