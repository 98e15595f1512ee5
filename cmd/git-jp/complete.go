package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words of the command line; the last is being completed."`
}

// Run prints the words that can stand last, one a line: commands, flags and their
// values, keys of settings, and ids of conversations.
func (c completeCmd) Run(a *app) error {
	parser, err := kong.New(&cli{}, kongOptions(a.environment)...)
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
	line := readLine(parser.Model.Node, dropNamespace(words))
	if line.dir != "" {
		a.Dir = line.dir
	}
	a.stderr = io.Discard // a completion must not complain
	for _, candidate := range line.candidates(a, last) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(a.stdout, candidate)
		}
	}
	return nil
}

// A commandLine is what the words before the last one mean.
type commandLine struct {
	root  *kong.Node
	node  *kong.Node
	flags []*kong.Flag
	value *kong.Flag // the flag whose value comes last, nil for none
	dir   string     // of -C
	given int        // arguments before the last word
}

// readLine walks the command line's model along the words but the last.
func readLine(root *kong.Node, words []string) commandLine {
	l := commandLine{root: root, node: root, flags: slices.Clone(root.Flags)}
	for _, word := range words[:len(words)-1] {
		switch child := childNamed(l.node, word); {
		case l.value != nil:
			if l.value.Name == "directory" {
				l.dir = word
			}
			l.value = nil
		case strings.HasPrefix(word, "-"):
			l.value = l.takesValue(word)
		case child != nil:
			l.node = child
			l.flags = append(l.flags, child.Flags...)
		default:
			l.given++
		}
	}
	return l
}

// takesValue returns the flag of this spelling if its value is the next word.
func (l commandLine) takesValue(word string) *kong.Flag {
	for _, f := range l.flags {
		short := f.Short != 0 && word == "-"+string(f.Short)
		if (short || word == "--"+f.Name) && !f.IsBool() && !f.IsCounter() {
			return f
		}
	}
	return nil
}

// candidates returns what can stand last, whatever is there of it already.
func (l commandLine) candidates(a *app, last string) []string {
	if l.value != nil {
		return valueCandidates(a, l.value, last)
	}
	if strings.HasPrefix(last, "-") {
		return flagCandidates(l.flags)
	}
	if l.node.Name == "help" {
		return l.helpCandidates()
	}
	var out []string
	if l.given == 0 {
		out = visible(l.node)
	}
	return append(out, l.argumentCandidates(a, last)...)
}

// valueCandidates returns what can be the value of a flag.
func valueCandidates(a *app, f *kong.Flag, last string) []string {
	switch {
	case f.Enum != "":
		return f.EnumSlice()
	case f.Name == "config":
		return settingKeys("=")
	case f.Name == "id":
		return conversationIDs(a, last)
	case f.Name == "model":
		return modelNames(a)
	case f.Name == "strategy":
		return choicesOf("conversation.compaction.strategy")
	}
	return nil
}

// modelNames returns the models that are known without asking anybody, and short names.
func modelNames(a *app) (names []string) {
	m, err := modelsHere(a)
	if err != nil {
		return nil
	}
	l, err := m.List(func(error) {})
	if err != nil {
		return nil
	}
	var ids []string
	for _, m := range l.Known() {
		names, ids = append(names, m.Aliases...), append(ids, m.ID)
	}
	slices.Sort(names)
	return append(names, ids...)
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
func revisionNames(a *app, last string) (names []string) {
	ctx := context.Background() // somebody waits for it at a prompt
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	refs, err := repo.Refs(ctx)
	if err != nil {
		return nil
	}
	from, _, ranged := strings.Cut(last, "..")
	before := ""
	if ranged {
		before = from + ".."
	}
	names = append(names, before+"HEAD")
	for _, ref := range refs {
		for _, kind := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
			if name, ok := strings.CutPrefix(ref.Name, kind); ok {
				names = append(names, before+name)
			}
		}
	}
	return names
}

func flagCandidates(flags []*kong.Flag) (out []string) {
	for _, f := range flags {
		if !f.Hidden {
			out = append(out, "--"+f.Name)
		}
	}
	return out
}

// visible returns the names of the subcommands of a node.
func visible(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// helpCandidates completes the command that help is asked for. Its words were taken
// for arguments, and only the first level is worth a list.
func (l commandLine) helpCandidates() []string {
	if l.given > 0 {
		return nil
	}
	return visible(l.root)
}

// argumentCandidates returns what can stand as the command's next argument.
func (l commandLine) argumentCandidates(a *app, last string) []string {
	for i, p := range l.node.Positional {
		switch {
		case i < l.given && !p.IsCumulative():
			continue
		case p.Enum != "":
			return p.EnumSlice()
		case p.Name == "conversation":
			return conversationIDs(a, last)
		case p.Name == "revision", p.Name == "base":
			return revisionNames(a, last)
		case p.Name == "key":
			return settingKeys("")
		case i == l.given:
			return nil
		}
	}
	if l.node.Name == "config" {
		return settingKeys("")
	}
	return nil
}

// settingKeys returns the keys that name one setting, each with what stands behind it.
func settingKeys(end string) []string {
	keys := report.SettingKeys()
	for i := range keys {
		keys[i] += end
	}
	return keys
}

// conversationIDs returns the ids of all conversations, in the form that was begun, and
// nothing where there is no workspace: a completion must not complain.
func conversationIDs(a *app, last string) []string {
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
		if strings.HasPrefix(last, "j") {
			ids = append(ids, e.ID.String())
		} else {
			ids = append(ids, e.ID.Digits())
		}
	}
	return ids
}
