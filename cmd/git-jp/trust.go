package main

import (
	"context"

	"github.com/git-jp/git-jp/internal/approval"
	"github.com/git-jp/git-jp/internal/report"
)

type trustCmd struct {
	Key     []string `arg:"" optional:"" help:"Settings, or what they begin with; all by default."`
	ID      string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation that is looked at, too; the active one by default."`
	Approve []string `sep:"none" xor:"do" placeholder:"APPROVAL" help:"Approve what has this id in the list, without a question."`
	List    bool     `xor:"do" help:"List what is approved in this workspace, and what was declined for good."`
	Revoke  bool     `xor:"do" help:"Revoke approvals and forget what was declined, all without a setting."`
}

// Help explains what needs an approval.
func (trustCmd) Help() string {
	return `Committed files and conversations may have been written by other people. Nothing in them
starts a process, chooses a host, reads an environment variable or leaves the workspace until you
approve it. This command asks about what is not approved yet, with one question for settings that
want the same: yes, no, each separately, or, once all of it was shown, all that is left. What you
typed yourself, with -c or --attach, is approved. An approval holds for the exact value in this
workspace, and is kept in your own data directory. When the value changes, it is asked about
again.

Tools that start one program are one question, which says what they are given, which text of the
model reaches a shell, and which files of the repository they run. Such a file is approved in its
present version: when it changes, you are asked again and shown the difference, unless you
committed the change in this clone. The question says what it does not cover: what these files
run in turn, and names that a line puts together. If you decline a mere setting, that is
remembered for its value.

Questions are asked on the terminal, wherever output goes. Without one, or with --json, what
is not approved is listed and the exit code is 1; --approve takes the ids of that list.`
}

// Run asks, lists or revokes.
func (c trustCmd) Run(ctx context.Context, a *app) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	d, err := approval.Open(a.host(), w, c.Key)
	switch {
	case err != nil:
		return err
	case c.List:
		return d.List()
	case c.Revoke:
		return d.Revoke()
	}
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return err
	}
	claims, err := d.Claims(ctx, a.openConfig.Claims(), conv)
	if err != nil {
		return err
	}
	if len(c.Approve) > 0 {
		claims, err = d.Approve(claims, c.Approve)
	}
	approved := true
	switch {
	case err != nil:
	case a.JSON:
		approved, err = d.Records(claims)
	case len(c.Approve) == 0:
		approved, err = d.Settle(ctx, claims)
	}
	if err == nil && !approved {
		err = report.ErrProblems
	}
	return err
}
