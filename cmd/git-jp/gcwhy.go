package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/render"
)

type gcWhyCmd struct {
	Content   string `arg:"" help:"A hash, its beginning, or the path of a blob."`
	UserLocal bool   `help:"Ask about the user-local store."`
}

// Help says what is told.
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
	h, err := gc.Named(o, c.Content)
	if errors.Is(err, gc.ErrNoName) {
		return usagef("%q is %w", c.Content, err)
	}
	if err != nil {
		return err
	}
	w, err := gc.Explain(ctx, o, h)
	if err != nil {
		return err
	}
	reasons := w.Reasons()
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range reasons {
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	out := a.output()
	for line := range strings.Lines(gc.DescribeReasons(reasons)) {
		if _, err := fmt.Fprintln(a.stdout, out.Line(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
