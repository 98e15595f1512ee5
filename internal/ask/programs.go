package ask

import (
	"cmp"
	"context"
)

// Programs are the user's, found as git finds them.
type Programs struct {
	Getenv func(string) string
	// Config returns a value of git's configuration, if there is one.
	Config func(ctx context.Context, key string) (string, bool)
}

// Editor is jp's editor, or git's, "" for none.
func (p Programs) Editor(ctx context.Context) string {
	if e := cmp.Or(p.Getenv("JP_EDITOR"), p.Getenv("GIT_EDITOR")); e != "" {
		return e
	}
	if e, ok := p.Config(ctx, "core.editor"); ok {
		return e
	}
	return cmp.Or(p.Getenv("VISUAL"), p.Getenv("EDITOR"))
}

// Pager is the command that shows what is long, less where nobody says.
func (p Programs) Pager(ctx context.Context) string {
	if pager := p.Getenv("GIT_PAGER"); pager != "" {
		return pager
	}
	if pager, ok := p.Config(ctx, "core.pager"); ok {
		return pager
	}
	return cmp.Or(p.Getenv("PAGER"), "less")
}
