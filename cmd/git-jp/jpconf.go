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
	s, err := a.jpSources(conv)
	if err != nil {
		return nil, err
	}
	return jpconfig.Load(s)
}

// jpSources says where the layers of that configuration are.
func (a *app) jpSources(conv *workspace.Conversation) (jpconfig.Sources, error) {
	s := jpconfig.Sources{
		User:    config.UserDir(a.getenv, a.getenv("HOME"), runtime.GOOS),
		Environ: a.env, Options: jpOptions(a.Set),
	}
	switch w, err := a.workspace(); {
	case err == nil:
		s.Workspace, s.Dir, s.UserWorkspace = w.Root(), a.directory(), w.UserDir()
		s.Approved = a.approvedIn(w.Root())
	case !errors.Is(err, workspace.ErrNoWorkspace):
		return s, err
	}
	if conv != nil {
		s.Base, s.Stream = conv.BaseConfig, conv.Stream
	}
	return s, nil
}

// jpOptions returns the -c options that are not about keys of ours, which jp's
// configuration does not know.
func jpOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), isOwn)
}

// ownOptions returns the -c options that are for the settings of our own. A command that does
// not read jp's configuration takes no others, so that a slip of the pen is told.
func (a *app) ownOptions() []string {
	if !a.readsJP {
		return a.Set
	}
	return slices.DeleteFunc(slices.Clone(a.Set), func(o string) bool { return !isOwn(o) })
}

// isOwn reports whether an option assigns to a key of ours.
func isOwn(option string) bool {
	key, _, assigns := strings.Cut(option, "=")
	words := strings.Split(strings.TrimRight(key, ":+"), ".")
	return assigns && slices.ContainsFunc(config.Known(), func(k config.Key) bool {
		return slices.EqualFunc(strings.Split(k.Name, "."), words, func(known, word string) bool {
			return known == word || known == "<name>"
		})
	})
}

// readsJP reports whether a command reads jp's configuration.
func readsJP(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{"query", "attachment", "models", "setup", "trust"}, first)
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

// askingGate asks on the terminal about what others wrote. Where approvals cannot be kept,
// nothing of it is let through, and what is the user's own still works.
func (a *app) askingGate() (trust.Gate, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	gate, err := a.trustGate(w)
	if errors.Is(err, trust.ErrInside) {
		return trust.Nobody{}, nil
	}
	return gate, err
}

// approvedGate lets through what is approved, and asks nobody: for those who only look.
func (a *app) approvedGate() (trust.Gate, error) {
	gate, err := a.askingGate()
	if err != nil {
		return nil, err
	}
	return trust.WithoutAsking(gate), nil
}

// plural counts things whose name has a plain plural.
func plural(n int, thing string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
