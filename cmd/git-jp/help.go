package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/commandline"
	"github.com/git-jp/git-jp/internal/report"
)

type helpCmd struct {
	textOnly

	Command []string `arg:"" optional:"" help:"The command to explain."`
	All     bool     `short:"a" help:"List all commands, as without a command."`
}

// Run prints the help of a command. It exists because git turns `git jp --help` into `man git-jp`,
// which fails if the page is not installed.
func (c helpCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.environment)...)
	if err != nil {
		return err
	}
	if c.All {
		c.Command = nil
	}
	words := commandline.DropNamespace(append(c.Command, "--help"))
	if err := known(parser.Model.Node, words[:len(words)-1]); err != nil {
		return err
	}
	_, err = parser.Parse(words)
	if w := new(unwrittenError); errors.As(err, &w) {
		return w
	}
	if err != nil {
		return &report.CommandError{
			Name: strings.Join(c.Command, " "), Guess: commandline.Guess(err.Error()),
		}
	}
	return nil
}

// known returns an error for a word after a command that takes it for an argument: the parser would
// explain the command without it. The words before that are for the parser, which has suggestions.
func known(node *kong.Node, words []string) error {
	for i, word := range words {
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool {
			return n.Name == word || slices.Contains(n.Aliases, word)
		})
		switch {
		case at >= 0:
			node = node.Children[at]
		case i == 0:
			return nil
		default:
			return &report.CommandError{Name: strings.Join(words, " ")}
		}
	}
	return nil
}
