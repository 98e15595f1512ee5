package ask

import (
	"cmp"
	"context"
)

// Programs finds the user's editor and pager as git does.
type Programs struct {
	Getenv func(string) string
	// Config returns a value of git's configuration, if set.
	Config func(ctx context.Context, key string) (string, bool)
}

// Editor returns jp's editor, or git's, "" for none.
func (p Programs) Editor(ctx context.Context) string {
	if e := cmp.Or(p.Getenv("JP_EDITOR"), p.Getenv("GIT_EDITOR")); e != "" {
		return e
	}
	if e, ok := p.Config(ctx, "core.editor"); ok {
		return e
	}
	return cmp.Or(p.Getenv("VISUAL"), p.Getenv("EDITOR"))
}

// Pager returns the command of the pager, by default less.
func (p Programs) Pager(ctx context.Context) string {
	if pager := p.Getenv("GIT_PAGER"); pager != "" {
		return pager
	}
	if pager, ok := p.Config(ctx, "core.pager"); ok {
		return pager
	}
	return cmp.Or(p.Getenv("PAGER"), "less")
}
