package main

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/commandline"
	"github.com/git-jp/git-jp/internal/report"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// guessed returns the parser's suggestion for an unknown word, "" without one.
func guessed(err error) string {
	_, guess, _ := strings.Cut(err.Error(), ", ")
	return guess
}

// Run prints the help of a command. It exists because git turns `git jp --help` into `man git-jp`,
// which fails if the page is not installed.
func (c helpCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.environment)...)
	if err != nil {
		return err
	}
	_, err = parser.Parse(commandline.DropNamespace(append(c.Command, "--help")))
	if w := new(unwrittenError); errors.As(err, &w) {
		return w
	}
	if err != nil {
		return &report.CommandError{Name: strings.Join(c.Command, " "), Guess: guessed(err)}
	}
	return nil
}
