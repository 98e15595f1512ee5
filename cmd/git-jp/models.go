package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
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
	if a.JSON {
		for _, r := range records {
			if err := a.printJSON(r); err != nil {
				return err
			}
		}
		return nil
	}
	return printModels(a, records)
}

func printModels(a *app, records []prepare.KnownModel) error {
	table := render.NewTable(a.output(),
		render.Column{}, render.Column{Head: "MODEL"},
		render.Column{Head: "WINDOW", Align: render.AlignRight},
		render.Column{Head: "IN", Align: render.AlignRight},
		render.Column{Head: "OUT", Align: render.AlignRight},
		render.Column{Head: "AS OF"}, render.Column{Head: "KEY"},
		render.Column{Head: "ALIASES", Shrink: true})
	for _, r := range records {
		mark, in, out, asOf := "", "", "", ""
		if r.Chosen {
			mark = "*"
		}
		if r.Price != nil {
			in, out = dollars(r.Price.Input), dollars(r.Price.Output)
			asOf = r.Price.AsOf
		}
		table.Row(mark, r.ID, tokens(r.Window), in, out, asOf, keyText(r),
			strings.Join(r.Aliases, " "))
	}
	return table.Write(a.stdout)
}

func keyText(r prepare.KnownModel) string {
	switch {
	case r.Local:
		return "none needed"
	case r.KeyEnv == "":
		return ""
	case r.KeyPresent:
		return r.KeyEnv + " is set"
	default:
		return r.KeyEnv + " is not set"
	}
}

func tokens(n int) string {
	if n == 0 {
		return "?"
	}
	return render.Number(int64(n))
}

func dollars(usd float64) string { return fmt.Sprintf("%.2f", usd) }

// modelsHere is what makes models here. There need not be a workspace.
func modelsHere(a *app) (prepare.Models, error) {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return prepare.Models{}, err
	}
	if a.openConfig == nil { // outside of a workspace there is the user's
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
