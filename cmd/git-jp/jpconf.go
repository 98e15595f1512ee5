package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/tool/process"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// jpConfig returns jp's configuration for the workspace, and for the user alone if there is none.
func (a *app) jpConfig() (*jpconfig.Config, error) {
	s, err := jpSources(a)
	if err != nil {
		return nil, err
	}
	return jpconfig.Load(s)
}

// host returns the part of the program that opening models, tools and attachments needs.
func (a *app) host() *prepare.Host {
	l := process.Launcher{Env: process.Minimal(a.env), Environ: a.env}
	if a.interrupts != nil {
		l.Groups = &a.interrupts.Groups
	}
	home := a.home()
	return &prepare.Host{
		Env: a.env, Getenv: a.getenv, Dir: a.directory(), UserDir: userDir(a),
		StateDir: workspace.Env{Getenv: a.getenv, Home: home}.StateDir(),
		Options:  jpOptions(a.Set), Version: a.version, Verbose: a.Verbose,
		Now: a.now, Random: a.random, Terminal: a.terminal, Starter: l,
		Repo: a.repo, Models: a.models, Short: a.short,
	}
}

// gateOf returns the gate that asks on the terminal about settings of other people.
func gateOf(a *app) (trust.Gate, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	return a.host().Gate(w.Root())
}

// jpSources returns the places of that configuration's layers.
func jpSources(a *app) (jpconfig.Sources, error) {
	w, err := a.workspace()
	if err != nil && !errors.Is(err, workspace.ErrNoWorkspace) {
		return jpconfig.Sources{}, err
	}
	return a.host().Sources(w, nil), nil
}

// modelsOf returns models for commands that ask no question.
func modelsOf(a *app, c *jpconfig.Config, g trust.Gate) prepare.Models {
	return prepare.Models{
		Host: a.host(), Network: a.openConfig.Settings().Network, Config: c, Gate: g,
	}
}

// jpOptions returns the -c options that do not assign to keys of ours, which jp's configuration
// does not know.
func jpOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), isOwn)
}

// ownOptions returns the -c options for our own settings. A command that does not read jp's
// configuration takes no others, so that a typo is reported.
func ownOptions(a *app) []string {
	if !a.readsJP {
		return a.Set
	}
	return slices.DeleteFunc(slices.Clone(a.Set), func(o string) bool { return !isOwn(o) })
}

// isOwn reports whether an option assigns to a key of ours.
func isOwn(option string) bool {
	key, _, assigns := strings.Cut(option, "=")
	return assigns && configure.IsOwn(strings.TrimRight(key, ":+"))
}

// readsJP reports whether a command reads jp's configuration.
func readsJP(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{"query", "attachment", "models", "setup", "trust"}, first)
}

// warnOfConfig prints which parts of the configuration were left out.
func warnOfConfig(a *app, c *jpconfig.Config) {
	for _, w := range c.Warnings() {
		a.warn("%v", w)
	}
}

// conversationOr loads the conversation with this name, or, without a name, the active one; nil
// when none is active.
func conversationOr(a *app, name string) (*workspace.Conversation, error) {
	if name == "" {
		w, err := a.workspace()
		if err != nil || activeID(a, w) == 0 {
			return nil, err
		}
	}
	e, err := a.findOr(name)
	if err != nil {
		return nil, err
	}
	return a.openWorkspace.Load(e)
}
