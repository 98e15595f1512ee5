package main

import "github.com/git-jp/git-jp/internal/workspace"

// sharesIn returns a function that reports whether the workspace at root may have user-local data
// that belongs to another root, or to an unknown one.
func sharesIn(a *app, root string) func(dir, jp string) bool {
	return func(dir, jp string) bool { return a.host().Shares(root, dir, jp) }
}

// adoptLocal lets a workspace have the user-local conversations that have its id and may belong to
// another, if the user says so.
func adoptLocal(a *app, w *workspace.Workspace) error { return a.host().AdoptLocal(w) }
