package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// jpConfig returns jp's configuration as it holds for a conversation, for the workspace
// alone when conv is nil, and for the user alone where there is no workspace.
func (a *app) jpConfig(conv *workspace.Conversation) (*jpconfig.Config, error) {
	s := jpconfig.Sources{
		User:    config.UserDir(a.getenv, a.getenv("HOME"), runtime.GOOS),
		Environ: a.env, Options: jpOptions(a.Set),
	}
	switch w, err := a.workspace(); {
	case err == nil:
		s.Workspace, s.Dir, s.UserWorkspace = w.Root(), a.directory(), w.UserDir()
	case !errors.Is(err, workspace.ErrNoWorkspace):
		return nil, err
	}
	if conv != nil {
		s.Base, s.Stream = conv.BaseConfig, conv.Stream
	}
	return jpconfig.Load(s)
}

// jpOptions returns the -c options that are not about keys of ours, which jp's
// configuration does not know.
func jpOptions(options []string) []string {
	own := map[string]bool{}
	for _, k := range config.Known() {
		own[k.Name] = true
	}
	var out []string
	for _, o := range options {
		if key, _, _ := strings.Cut(o, "="); !own[key] {
			out = append(out, o)
		}
	}
	return out
}

// warnOf tells what of the configuration was left out.
func (a *app) warnOf(c *jpconfig.Config) {
	for _, w := range c.Warnings() {
		a.warn("%v", w)
	}
}

// conversationOr loads the conversation of this name, or, without a name, the active one;
// nil when none is active.
func (a *app) conversationOr(name string) (*workspace.Conversation, error) {
	if name == "" {
		w, err := a.workspace()
		if err != nil || a.activeID(w) == 0 {
			return nil, err
		}
	}
	e, err := a.findOr(name)
	if err != nil {
		return nil, err
	}
	return a.openWorkspace.Load(e)
}

// ownOptions returns the -c options that may be about keys of ours: assignments. Files, their
// names and JSON are jp's.
func ownOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), func(o string) bool {
		return !strings.Contains(o, "=") || strings.HasPrefix(o, "@") || strings.HasPrefix(o, "{")
	})
}

// askingGate asks on the terminal about what others wrote. Where approvals cannot be kept,
// nothing of it is let through, and what is the user's own still works.
func (a *app) askingGate() (trust.Gate, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	gate, err := a.trustGate(w)
	if errors.Is(err, trust.ErrInside) {
		return nobody{}, nil
	}
	return gate, err
}

// approvedGate lets through what is approved, and asks nobody: for those who only look.
func (a *app) approvedGate() (trust.Gate, error) {
	gate, err := a.askingGate()
	if err != nil {
		return nil, err
	}
	return approvedOnly(gate), nil
}

// plural counts things whose name has a plain plural.
func plural(n int, thing string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
