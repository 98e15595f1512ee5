package ask

import (
	"cmp"
	"context"
	"strings"
)

// Programs finds the user's editor and pager as git does.
type Programs struct {
	// Lookup returns the value of an environment variable, and whether it is set.
	Lookup func(string) (string, bool)
	// Config returns a value of git's configuration, if set.
	Config func(ctx context.Context, key string) (string, bool)
}

// Editor returns jp's editor, or git's, "" for none.
func (p Programs) Editor(ctx context.Context) string {
	if e := cmp.Or(p.getenv("JP_EDITOR"), p.getenv("GIT_EDITOR")); e != "" {
		return e
	}
	if e, ok := p.Config(ctx, "core.editor"); ok {
		return e
	}
	return cmp.Or(p.getenv("VISUAL"), p.getenv("EDITOR"))
}

func (p Programs) getenv(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Pager returns the command of the pager, by default less. One that is set and empty is none.
// pager.jp may also say whether there is one: git obeys that before it starts the program, but not
// if it names cat.
func (p Programs) Pager(ctx context.Context) string {
	if pager, ok := p.Lookup("GIT_PAGER"); ok {
		return pager
	}
	switch pager, ok := p.Config(ctx, "pager.jp"); strings.ToLower(pager) {
	case "true", "yes", "on", "1":
	case "false", "no", "off", "0":
		return ""
	default:
		if ok {
			return pager
		}
	}
	if pager, ok := p.Config(ctx, "core.pager"); ok {
		return pager
	}
	if pager, ok := p.Lookup("PAGER"); ok {
		return pager
	}
	return "less"
}
