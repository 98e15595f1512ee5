package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/setup"
	"github.com/git-jp/git-jp/internal/trust"
)

type setupCmd struct{ textOnly }

// Help says what is asked and what is written.
func (setupCmd) Help() string {
	return `Asks which provider and which model you want, sends the model one short question to see
that it answers, and writes both to your own configuration. Keys are read from the environment
and written nowhere. 'git jp config set' changes each of the values later.`
}

// errNobodyToSetUp reports that setup has no terminal to ask on.
var errNobodyToSetUp error = &situation{
	"set up a model: there is no terminal to ask on",
	"without questions: 'git jp config set assistant.model.id PROVIDER/NAME'",
}

// Run asks, tries, and writes.
func (setupCmd) Run(ctx context.Context, a *app) error {
	p := a.terminal.NewPrompter(ctx)
	if p == nil {
		return errNobodyToSetUp
	}
	if _, err := a.configAt(""); err != nil {
		return err
	}
	tty, err := p.Open(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(setup.Run(ctx, setup.Options{
		Terminal: tty, Getenv: a.getenv, Note: a.note,
		Models: func(provider string, keys map[string]string) (prepare.Models, error) {
			return modelsWith(a, provider, keys)
		},
		Set: func(key, value string) error { return setJPKey(a, key, value, jpconfig.User) },
	}), tty.Close())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// modelsWith returns models by the configuration, with keys of a provider on top.
func modelsWith(a *app, provider string, keys map[string]string) (all prepare.Models, err error) {
	sources, err := jpSources(a)
	if err != nil {
		return all, err
	}
	flag, err := json.Marshal(map[string]any{"providers": map[string]any{
		"llm": map[string]any{provider: keys},
	}})
	if err != nil {
		return all, err
	}
	if len(keys) > 0 {
		sources.Flags = map[string][]byte{"setup": flag}
	}
	conf, err := jpconfig.Load(sources)
	return modelsOf(a, conf, trust.Nobody{}), err
}
