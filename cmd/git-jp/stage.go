package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/staging"
	"github.com/git-jp/git-jp/internal/workspace"
)

type stageCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations to stage, ids of deleted ones too; the active one by default."`
	All          bool     `short:"a" xor:"what" help:"Every conversation."`
	Changed      bool     `xor:"what" help:"Every conversation that differs from the index."`
	DryRun       bool     `short:"n" help:"Print what would be staged."`
	Strict       bool     `help:"Refuse conversations whose last turn is incomplete, too."`
}

// Help says what is staged and when nothing is.
func (stageCmd) Help() string {
	return `Puts a conversation's files and all content they refer to into the index, in one step,
completely or not at all, also where an ignore rule or a sparse checkout leaves them out;
a conversation that was renamed, archived or deleted leaves its old place. If content is
missing, damaged or too large, nothing is staged and the turn and the call are named.

Undo with 'git jp unstage'.`
}

// Run stages conversations.
func (c stageCmd) Run(ctx context.Context, a *app) error {
	req, err := stageRequest(ctx, a, c.Conversation, c.All, c.Changed)
	if err != nil {
		return err
	}
	if err := audit.RefuseNested(ctx, req.Repo, a.openWorkspace); err != nil {
		return err
	}
	req.Strict = c.Strict
	if !c.DryRun {
		if req.Drop, err = redactAgain(ctx, a, req.IDs); err != nil {
			return err
		}
	}
	stager := staging.Stage{Printer: &a.terminal.Printer, DryRun: c.DryRun}
	plan, err := stager.Run(ctx, req)
	if refused, ok := errors.AsType[*stage.RefusedError](err); ok {
		return a.refuseStage(ctx, req.Repo, refused.Report.Findings)
	}
	if err != nil {
		return err
	}
	if err := stager.Print(plan); err != nil {
		return err
	}
	a.warnFindings(plan.Report.Findings)
	return nil
}

func isConflict(f check.Finding) bool { return f.State == check.Conflicted }

// A refusedError reports that nothing was done, after the reasons were printed.
type refusedError struct {
	text     string
	conflict bool // a person has to resolve one
}

func (e *refusedError) Error() string { return e.text }

// Undecided reports whether a person has to resolve a conflict.
func (e *refusedError) Undecided() bool { return e.conflict }

// refuseStage prints why nothing was staged.
func (a *app) refuseStage(ctx context.Context, repo *gitint.Repo, findings []check.Finding) error {
	newAdviser(a, repo).Advise(ctx, findings)
	if err := a.printFindings(findings); err != nil {
		return err
	}
	return &refusedError{
		text: "nothing was staged", conflict: slices.ContainsFunc(findings, isConflict),
	}
}

// orEmpty returns [] for nil, which JSON would print as null.
func orEmpty(s []string) []string { return append([]string{}, s...) }

// stageRequest parses the arguments of a command that stages or unstages.
func stageRequest(
	ctx context.Context, a *app, names []string, all, changed bool,
) (stage.Request, error) {
	req := stage.Request{Select: stage.Named}
	switch {
	case all:
		req.Select = stage.All
	case changed:
		req.Select = stage.Changed
	}
	if len(names) > 0 && (all || changed) {
		return req, usagef("name conversations, or select them by a flag, not both")
	}
	if len(names) == 0 && !all && !changed {
		names = []string{"."}
	}
	w, err := a.workspace()
	if err != nil {
		return req, err
	}
	if req.Repo, err = a.repo(ctx); err != nil {
		return req, err
	}
	if req.Dir, err = a.dirInRepo(w, req.Repo); err != nil {
		return req, err
	}
	settings, err := a.settings()
	if err != nil {
		return req, err
	}
	req.MaxBlobBytes = settings.Storage.MaxBlobBytes
	req.Cache = a.refsCache(req.Repo)
	req.Locked = staging.Locked(w)
	req.Secrets = a.guardOptions(req.Repo)
	req.IDs, err = a.stageIDs(names)
	return req, err
}

// stageIDs returns the ids that names mean. A complete id needs no directory: it may belong to a
// deleted conversation that has to be removed from the index.
func (a *app) stageIDs(names []string) ([]events.ID, error) {
	var ids []events.ID
	for _, name := range names {
		id, err := stageID(a, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func stageID(a *app, name string) (id events.ID, err error) {
	e, err := a.find(name)
	if _, ok := errors.AsType[*workspace.NotFoundError](err); ok {
		if id, perr := events.ParseID(name); perr == nil {
			return id, nil
		}
	}
	if err == nil && e.Local {
		err = fmt.Errorf("stage %s: it is user-local, so Git does not see it", e.ID)
	}
	return e.ID, err
}

// dirInRepo returns the workspace's .jp as a slash path from the root of the working tree.
func (a *app) dirInRepo(w *workspace.Workspace, repo *gitint.Repo) (string, error) {
	switch {
	case a.committedIn != "":
		return a.committedIn, nil
	case repo.Root() == "":
		return "", &situation{
			fmt.Sprintf("%s: the repository has no working tree here", repo.GitDir()),
			"'-C <dir>' goes to a working tree",
		}
	}
	dir, err := realDir(w.Dir())
	if err != nil {
		return "", err
	}
	root, err := realDir(repo.Root())
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the workspace %s is not in the repository %s", dir, root)
	}
	return filepath.ToSlash(rel), nil
}

// refsCache returns the repository's cache of references.
func (a *app) refsCache(repo *gitint.Repo) *refs.Cache {
	c := refs.Open(path.Join(filepath.ToSlash(repo.Dir()), "cache"))
	a.closers = append(a.closers, func() error {
		_ = c.Close() // a lost entry costs only time
		return nil
	})
	return c
}

type unstageCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations to unstage; the active one by default."`
	All          bool     `short:"a" help:"Every conversation."`
}

// Help says what is restored.
func (unstageCmd) Help() string {
	return `Restores a conversation in the index to HEAD's version, and removes the content that
only the staged version needs. The working tree is not touched.`
}

// Run unstages conversations.
func (c unstageCmd) Run(ctx context.Context, a *app) error {
	req, err := stageRequest(ctx, a, c.Conversation, c.All, false)
	if err != nil {
		return err
	}
	paths, err := stage.Unstage(ctx, req)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(struct {
			Paths []string `json:"paths"`
		}{orEmpty(paths)})
	}
	if len(paths) == 0 {
		a.note("nothing to unstage")
		return nil
	}
	_, err = fmt.Fprintf(a.stdout, "unstaged %s\n", render.Count(len(paths), "path"))
	return err
}
