package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/workspace"
)

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words of the command line; the last is being completed."`
}

// Run prints the words that can stand last, one a line: commands, flags, and ids
// of conversations where a command takes one.
func (c completeCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.world)...)
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	for _, candidate := range candidates(a, parser.Model.Node, words[:len(words)-1], last) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(a.stdout, candidate)
		}
	}
	return nil
}

// candidates walks the command line's model along the words that are complete.
func candidates(a *app, node *kong.Node, words []string, last string) []string {
	flags := node.Flags
	for _, word := range dropNamespace(append(words, ""))[:] {
		if child := childNamed(node, word); child != nil {
			node = child
			flags = append(flags, child.Flags...)
		}
	}
	var out []string
	if strings.HasPrefix(last, "-") {
		for _, f := range flags {
			if !f.Hidden {
				out = append(out, "--"+f.Name)
			}
		}
		return out
	}
	for _, child := range node.Children {
		if !child.Hidden {
			out = append(out, child.Name)
		}
	}
	return append(out, argumentCandidates(a, node)...)
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name && name != "" {
			return child
		}
		for _, alias := range child.Aliases {
			if alias == name {
				return child
			}
		}
	}
	return nil
}

// argumentCandidates returns what can stand as the command's next argument.
func argumentCandidates(a *app, node *kong.Node) []string {
	for _, p := range node.Positional {
		switch {
		case p.Enum != "":
			return p.EnumSlice()
		case p.Name == "conversation":
			return conversationIDs(a)
		}
	}
	return nil
}

// conversationIDs returns the ids of all conversations, in both forms, and nothing
// where there is no workspace: a completion must not complain.
func conversationIDs(a *app) []string {
	w, err := a.workspace()
	if err != nil {
		return nil
	}
	entries, _, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID.Digits(), e.ID.String())
	}
	return ids
}
