package main

import (
	"fmt"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/workspace"
)

type pathCmd struct {
	textOnly

	Conversation []string `arg:"" optional:"" help:"Conversations; the active one by default."`
	Events       bool     `short:"e" xor:"file" help:"Print the path of events.json."`
	Metadata     bool     `short:"m" xor:"file" help:"Print the path of metadata.json."`
	BaseConfig   bool     `short:"b" xor:"file" help:"Print the path of base_config.json."`
	Null         bool     `short:"z" help:"End paths with NUL."`
}

// Help says which directory is meant.
func (pathCmd) Help() string {
	return `Prints the path of a conversation: its directory, or one of its files. It is the
one that is read when there is a user-local copy too. 'git jp show --files' prints all that it
needs.`
}

// Run prints absolute paths, one a line.
func (c pathCmd) Run(a *app) error {
	return forEach(a, c.Conversation, func(e workspace.Entry) error {
		name := filepath.Join(a.openWorkspace.Path(e), c.filename())
		if c.Null {
			_, err := fmt.Fprint(a.stdout, name+"\x00")
			return err
		}
		_, err := fmt.Fprintln(a.stdout, a.output().Text(name))
		return err
	})
}

func (c pathCmd) filename() string {
	switch {
	case c.Events:
		return workspace.EventsFile
	case c.Metadata:
		return workspace.MetadataFile
	case c.BaseConfig:
		return workspace.BaseConfigFile
	default:
		return ""
	}
}
