package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/upkeep"
)

type gcWhyCmd struct {
	Content   string `arg:"" help:"A hash, its beginning, or the path of a blob."`
	UserLocal bool   `help:"Ask about the user-local store."`
}

// Help says what is shown.
func (gcWhyCmd) Help() string {
	return `Shows the way from a branch, an index or a worktree to the reference that keeps a
content, or the last one that did. It says nothing about age but whether the grace period keeps it.`
}

// Run explains.
func (c gcWhyCmd) Run(ctx context.Context, a *app) error {
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	err = upkeep.Why(ctx, &a.terminal.Printer, o, c.Content)
	if errors.Is(err, gc.ErrNoName) {
		return usagef("%q is %w", c.Content, err)
	}
	return err
}
