package main

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/commandline"
)

type completionCmd struct {
	textOnly

	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help explains how to install a script.
func (completionCmd) Help() string {
	return `The script makes both 'git-jp' and, through git's own completion, 'git jp' complete
commands, flags and conversations.

    git jp completion bash > ~/.local/share/bash-completion/completions/git-jp

    git jp completion zsh > "${fpath[1]}/_git-jp"

    git jp completion fish > ~/.config/fish/conf.d/git-jp.fish`
}

// Run prints the script.
func (c completionCmd) Run(a *app) error {
	_, err := fmt.Fprint(a.stdout, commandline.Script(c.Shell))
	return err
}
