package main

import (
	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/commandline"
)

type manCmd struct{ textOnly }

// Run prints the man page. It is written from the command line's own model, so that no flag is
// missing from it.
func (manCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.environment)...)
	if err != nil {
		return err
	}
	return commandline.WriteMan(a.stdout, parser.Model, groups, a.version)
}
