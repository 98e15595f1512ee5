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

// jpConfig returns jp's configuration as it holds for a conversation, for the workspace
// alone when conv is nil, and for the user alone where there is no workspace.
func (a *app) jpConfig(conv *workspace.Conversation) (*jpconfig.Config, error) {
	s, err := jpSources(a, conv)
	if err != nil {
		return nil, err
	}
	return jpconfig.Load(s)
}

// host is what the program gives to those who open models, tools and attachments.
func (a *app) host() *prepare.Host {
	l := process.Launcher{Env: process.Minimal(a.env), Environ: a.env}
	if a.interrupts != nil {
		l.Groups = &a.interrupts.Groups
	}
	home := a.getenv("HOME")
	return &prepare.Host{
		Env: a.env, Getenv: a.getenv, Dir: a.directory(), UserDir: userDir(a),
		StateDir: workspace.Env{Getenv: a.getenv, Home: home}.StateDir(),
		Options:  jpOptions(a.Set), Version: a.version, Verbose: a.Verbose,
		Now: a.now, Random: a.random, Terminal: a.terminal, Starter: l,
		Repo: a.repo, Models: a.models, Short: a.short,
	}
}

// gateOf asks on the terminal about what others wrote.
func gateOf(a *app) (trust.Gate, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	return a.host().Gate(w.Root())
}

// jpSources says where the layers of that configuration are.
func jpSources(a *app, conv *workspace.Conversation) (jpconfig.Sources, error) {
	w, err := a.workspace()
	if err != nil && !errors.Is(err, workspace.ErrNoWorkspace) {
		return jpconfig.Sources{}, err
	}
	return a.host().Sources(w, conv), nil
}

// modelsOf makes models for those who ask no question.
func modelsOf(a *app, c *jpconfig.Config, g trust.Gate) prepare.Models {
	return prepare.Models{
		Host: a.host(), Network: a.openConfig.Settings().Network, Config: c, Gate: g,
	}
}

// jpOptions returns the -c options that are not about keys of ours, which jp's
// configuration does not know.
func jpOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), isOwn)
}

// ownOptions returns the -c options that are for the settings of our own. A command that does
// not read jp's configuration takes no others, so that a slip of the pen is told.
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

// warnOfConfig tells what of the configuration was left out.
func warnOfConfig(a *app, c *jpconfig.Config) {
	for _, w := range c.Warnings() {
		a.warn("%v", w)
	}
}

// conversationOr loads the conversation of this name, or, without a name, the active one;
// nil when none is active.
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
