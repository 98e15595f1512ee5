package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// checkoutKey is the setting of a clone that says whether its working tree has blobs. It is in
// git's own configuration of the clone, which no commit can change.
const checkoutKey = "storage.checkout"

// The values of checkoutKey.
const (
	checkoutFull = "full"
	checkoutLazy = "lazy"
)

// elsewhereIn returns the source of blobs that the working tree of the workspace at root leaves
// out, nil if it has them.
func elsewhereIn(a *app, root string) workspace.Elsewhere {
	if !gitint.MayBeLazy(gitint.Options{Env: a.env}, root) {
		return nil
	}
	ctx := context.Background() // a few files are read
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	if lazy, err := repo.Lazy(ctx); err != nil || !lazy {
		return nil
	}
	store, ok := storeIn(repo, root)
	if !ok {
		return nil
	}
	keep := func() error { return spare.Keep(repo.GitDir(), repo.Root(), store) }
	_ = keep() // if it fails now it fails at the end, which reports it
	s := ondemand.New(repo, store)
	a.closers = append(a.closers, func() error {
		if err := keep(); err != nil {
			a.warn("%v", err)
		}
		warnAbsent(a, s)
		return nil
	})
	a.onDemand = append(a.onDemand, s)
	return s
}

// storeIn returns the store of the workspace at root as a slash path from the root of the working
// tree; false if it is outside.
func storeIn(repo *gitint.Repo, root string) (string, bool) {
	dir, err := realDir(root)
	below, outside := filepath.Rel(repo.Root(), filepath.Join(dir, workspace.DirName, blobs.Dir))
	return filepath.ToSlash(below), err == nil && outside == nil && filepath.IsLocal(below)
}

// fetching returns a function that reports on a terminal what is fetched, and decides whether to
// fetch.
func fetching(a *app) func(objects int, bytes int64) error {
	return func(n int, bytes int64) error {
		switch {
		case offline(a):
			return ondemand.ErrOffline
		case a.stderrTerminal || a.Verbose:
			a.note("fetching %s%s", render.Count(n, "object"), sized(bytes))
		}
		return nil
	}
}

// offline reports whether nothing may be fetched.
func offline(a *app) bool { return a.Offline || isTrue(a.getenv("GIT_NO_LAZY_FETCH")) }

// fetchFiles returns a function that fetches files of conversations from the remote that has
// promised them. Only the remote knows how large they are.
func fetchFiles(a *app, repo *gitint.Repo) func(context.Context, []gitint.OID) error {
	return func(ctx context.Context, ids []gitint.OID) error {
		if offline(a) {
			return fmt.Errorf("fetch %s: %w", render.Count(len(ids), "file"), ondemand.ErrOffline)
		}
		a.note("fetching %s of conversations", render.Count(len(ids), "file"))
		return repo.Bring(ctx, ids, 0)
	}
}

// sized returns a size in brackets, if it is known.
func sized(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return " (" + render.Bytes(bytes) + ")"
}

// isTrue reads a variable as git does.
func isTrue(value string) bool {
	if n, err := strconv.Atoi(value); err == nil {
		return n != 0
	}
	return value == "true" || value == "yes" || value == "on"
}

// warnAbsent reports in one line what could not be fetched.
func warnAbsent(a *app, s *ondemand.Source) {
	n, bytes, err := s.Absent()
	a.lacks = a.lacks || n > 0
	switch {
	case n == 1:
		a.warn("1 blob (%s) is missing locally: %v", render.Bytes(bytes), err)
	case n > 1:
		a.warn("%d blobs (%s) are missing locally: %v", n, render.Bytes(bytes), err)
	}
}

// setCheckout makes the clone's working tree leave blobs out, or have them again.
func setCheckout(ctx context.Context, a *app, value string) error {
	if value != checkoutLazy && value != checkoutFull {
		return usagef("set %s %q: expected %s or %s", checkoutKey, value,
			checkoutFull, checkoutLazy)
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	lazy, err := repo.Lazy(ctx)
	switch {
	case err != nil:
		return err
	case repo.Root() == "":
		return fmt.Errorf("set %s: %s has no working tree", checkoutKey, repo.GitDir())
	case lazy && value == checkoutLazy:
		a.note("%s is %s already", checkoutKey, value)
		return stage.Vacate(ctx, repo) // an interrupted command may have left files there
	case !lazy && value == checkoutFull:
		a.note("%s is %s already", checkoutKey, value)
		return nil
	case value == checkoutFull:
		return fillCheckout(ctx, repo)
	}
	switch own, err := stage.Unpublished(ctx, repo); {
	case err != nil:
		return err
	case len(own) > 0:
		return fmt.Errorf("set %s %s: leave out %s: %w", checkoutKey, checkoutLazy,
			render.Count(len(own), "blob"), stage.ErrUnpublished)
	}
	if err := repo.LeaveOut(ctx, stage.LeftOut); err != nil {
		return err
	}
	return stage.Vacate(ctx, repo)
}

// fillCheckout fetches all blobs that the working tree needs in one request, before anything
// changes, and then writes them there. Git leaves files alone that are there, so what it has not
// written completely, here or in an interrupted call, is removed.
func fillCheckout(ctx context.Context, repo *gitint.Repo) error {
	if err := ondemand.BringAll(ctx, repo); err != nil {
		return fmt.Errorf("set %s %s: %w", checkoutKey, checkoutFull, err)
	}
	if err := stage.Vacate(ctx, repo); err != nil {
		return err
	}
	if err := stage.RestoreSpares(repo); err != nil {
		return err
	}
	if err := repo.PutIn(ctx, stage.LeftOut); err != nil {
		return errors.Join(err, stage.Abandon(context.WithoutCancel(ctx), repo))
	}
	return spare.Drop(repo.GitDir())
}

// printCheckout prints the setting of this clone.
func printCheckout(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	lazy, err := repo.Lazy(ctx)
	if err != nil {
		return err
	}
	value := checkoutFull
	if lazy {
		value = checkoutLazy
	}
	if a.JSON {
		return a.printJSON(configure.Record{Key: checkoutKey, Value: value, Origin: "this clone"})
	}
	_, err = fmt.Fprintln(a.stdout, value)
	return err
}

// isNotHere reports whether content exists but is not on this machine: a command counts such
// content in one line at its end.
func isNotHere(a *app, err error) bool {
	if p, ok := errors.AsType[*blobs.PointerError](err); ok {
		if a.pointers == nil {
			a.pointers = make(map[blobs.Hash]bool)
		}
		a.pointers[p.Hash] = true
		return true
	}
	missing, ok := errors.AsType[*gitint.MissingObjectError](err)
	return isA[*blobs.NotHereError](err) || ok && missing.Promised
}

// warnPointers reports in one line how many blobs are with Git LFS.
func warnPointers(a *app) {
	if n := len(a.pointers); n > 0 {
		report.Warn(a.stderr, &blobs.PointersError{Count: n})
	}
}

// expectTurns announces that only these turns of a conversation are read, counted from 1.
func expectTurns(a *app, s *events.Stream, first, last int) {
	for _, source := range a.onDemand {
		source.Only(func(yield func(blobs.Ref) bool) {
			for at := range s.Contents() {
				shown := at.Turn+1 >= first && at.Turn < last && at.Content.IsRef()
				if shown && !yield(at.Content.Ref()) {
					return
				}
			}
		})
	}
}
