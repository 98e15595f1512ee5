package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/commandline"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/revisions"
)

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words of the command line; the last is being completed."`
}

// Run prints the words that can come last, one a line: commands, flags and their values, keys of
// settings, and ids of conversations.
func (c completeCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.environment)...)
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	words = commandline.Typed(words)
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	line := commandline.Read(parser.Model.Node, commandline.DropNamespace(words))
	if line.Dir != "" {
		a.Dir = dirFlag(line.Dir)
	}
	a.stderr, a.terminal.Err = io.Discard, io.Discard // a completion must not complain
	begun := last
	if strings.HasPrefix(last, "--") {
		_, begun, _ = strings.Cut(last, "=")
	}
	values := func(name string) ([]string, bool) { return valuesOf(a, name, begun) }
	for _, candidate := range line.Candidates(last, values) {
		if strings.HasPrefix(candidate, last) && !strings.ContainsFunc(candidate, obeyed) {
			fmt.Fprintln(a.stdout, candidate)
		}
	}
	return nil
}

// obeyed reports whether a shell may do more with a rune than keep it. Bash puts a completion on
// the command line unquoted, and others choose the names of branches and models.
func obeyed(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.N, unicode.M) &&
		!strings.ContainsRune("-_./:=+,@%^", r)
}

// valuesOf returns the possible values of a flag or an argument, including those of config.
func valuesOf(a *app, name, last string) ([]string, bool) {
	switch name {
	case "--config":
		return settingKeys("="), true
	case "--id", "conversation":
		return conversationIDs(a, last), true
	case "--model":
		return modelNames(a), true
	case "--strategy":
		return choicesOf("conversation.compaction.strategy"), true
	case "provider":
		return models.ProviderNames(), true
	case "agent":
		return strings.Split(capturable(), ", "), true
	case "agent|path|-":
		return strings.Split(agentNames(), ", "), true
	case "revision", "base":
		return revisionNames(a, last), true
	case "key", "config":
		return settingKeys(""), true
	}
	return nil, false
}

// modelNames returns the models that are known without a request, and short names.
func modelNames(a *app) []string {
	m, err := modelsHere(a)
	if err != nil {
		return nil
	}
	l, err := m.List(func(error) {})
	if err != nil {
		return nil
	}
	return l.Names()
}

// choicesOf returns the values that a setting can have.
func choicesOf(setting string) []string {
	for _, k := range config.Known() {
		if k.Name == setting {
			return k.Choices
		}
	}
	return nil
}

// revisionNames returns the names of branches, tags and HEAD, also as the end of a range.
func revisionNames(a *app, last string) []string {
	ctx := context.Background() // a user waits for it at a prompt
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	return revisions.Names(ctx, repo, last)
}

// settingKeys returns the keys that name one setting, each followed by end.
func settingKeys(end string) []string {
	keys := report.SettingKeys()
	for i := range keys {
		keys[i] += end
	}
	return keys
}

// conversationIDs returns the ids of all conversations, in the form that was begun, and nothing
// without a workspace: a completion must not complain.
func conversationIDs(a *app, last string) []string {
	w, err := a.workspace()
	if err != nil {
		return nil
	}
	return listing.IDs(w, strings.HasPrefix(last, "j"))
}
