package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

type modelsCmd struct {
	Provider string `arg:"" optional:"" help:"Ask this provider what it has."`
}

// Help says where the list comes from.
func (modelsCmd) Help() string {
	return `Lists the models that something is known of, and the short names of the configuration,
without asking anybody; with a provider, those that it says it has.

WINDOW is in tokens. Prices are US dollars for a million tokens, as they were on the day
beside them; --json has the source, and what cached tokens cost. KEY is the environment
variable of the provider's key and whether it is set, never what it holds. The model that
is used without --model is marked with *.`
}

// Run lists models.
func (c modelsCmd) Run(ctx context.Context, a *app) error {
	m, err := modelsHere(a)
	if err != nil {
		return err
	}
	l, err := m.List(func(err error) { a.warn("%v", err) })
	if err != nil {
		return err
	}
	warnOfConfig(a, m.Config)
	records := l.Known()
	if c.Provider != "" {
		records, err = l.Ask(ctx, c.Provider)
	}
	if err != nil {
		return err
	}
	return prepare.PrintModels(&a.terminal.Printer, records)
}

// modelsHere returns the models here. There need not be a workspace.
func modelsHere(a *app) (prepare.Models, error) {
	conf, err := a.jpConfig()
	if err != nil {
		return prepare.Models{}, err
	}
	if a.openConfig == nil { // outside a workspace the user's configuration is read
		if _, err := a.configAt(""); err != nil {
			return prepare.Models{}, err
		}
	}
	gate, err := gateOf(a)
	if errors.Is(err, workspace.ErrNoWorkspace) {
		gate, err = trust.Nobody{}, nil
	}
	return modelsOf(a, conf, gate), err
}
