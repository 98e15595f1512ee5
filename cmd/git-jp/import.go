package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

type importCmd struct {
	From     []string `arg:"" optional:"" name:"agent|path|-" help:"Agents, or files and directories with sessions; - for envelopes on standard input."`
	All      bool     `help:"Import the sessions of all agents."`
	Since    string   `placeholder:"TIME" help:"Only sessions that grew since TIME."`
	Session  []string `placeholder:"ID" help:"Only the session with this id of the agent, or beginning with it."`
	Foreign  bool     `help:"Also sessions that ran outside of this working tree."`
	DryRun   bool     `short:"n" help:"Print what is new and has grown, and change nothing."`
	Hold     bool     `xor:"held" help:"Make new conversations in user-local storage, not in the workspace."`
	Accept   bool     `xor:"held" help:"Move held conversations into the workspace."`
	Reimport bool     `help:"Import again what has not grown, by today's importer and rules."`
	Again    bool     `help:"Import again what was removed."`
	Yes      bool     `short:"y" help:"Do not ask."`

	RedactOwn   bool     `help:"Leave out the values of your environment and of files .env that stop an import."`
	AllowSecret []string `placeholder:"FINGERPRINT" help:"Keep this finding, which --dry-run lists: it is not a secret."`
}

// Help explains where sessions come from and where they go.
func (importCmd) Help() string {
	return `Makes conversations of the sessions of coding agents: ` + agentNames() + `.
Without arguments it lists what could be imported and imports nothing.

An imported conversation is in the archive (git jp ls --agents). Everybody who imports the session
gets the same id. Importing again adds what is new; what anyone added or changed here stays.
Sessions that ran outside of this working tree are left out unless --foreign is given. The
directory of the working tree becomes $WORKSPACE and the home directory $HOME. Secrets that rules
find are left out; docs/secrets.md lists the rules. --dry-run lists each of them with its
fingerprint. --allow-secret records that one of them is not a secret and keeps it; with --reimport
also in a session that was imported before. Your own secrets, from your environment and .env
files, stop an import: --redact-own leaves them out of this one. Another user who does not have
them imports the session with them.

With - it reads conversations in the form that git jp export --format=envelopes writes: all of
them unchanged, or none if an id is taken. A user-local one stays user-local.

The first import in a clone shows what would be imported and asks; without a terminal, --yes is
required. ` + whenHelp
}

func agentNames() string {
	names := lists.Map(importer.Dialects(), func(d sessions.Dialect) string {
		return string(d.Agent())
	})
	return strings.Join(names, ", ")
}

// Run imports sessions, or lists them.
func (c importCmd) Run(ctx context.Context, a *app) error {
	a.garbage.seldom()
	w, err := a.workspace()
	if err != nil {
		return err
	}
	in, err := openIntake(ctx, a, w)
	if err != nil {
		return err
	}
	in.Hold, in.Again, in.Fresh, in.Dry = c.Hold, c.Again, c.Reimport, c.DryRun
	in.LeaveOwn = c.RedactOwn
	if slices.Contains(c.From, "-") {
		if len(c.From) > 1 || c.All || c.Accept || c.Since != "" || len(c.Session) > 0 {
			return usagef("- cannot be combined with other arguments, or flags that select " +
				"sessions: it reads envelopes from standard input")
		}
		return in.Receive(ctx, a.input(ctx))
	}
	sel, err := c.selection(a, w)
	if err != nil {
		return err
	}
	if c.Accept {
		return in.Accept(ctx)
	}
	list := len(c.From) == 0 && !c.All && len(c.Session) == 0
	if err := c.refuse(list); err != nil {
		return err
	}
	found, foreign := importer.Find(ctx, placesOf(a), sel)
	if list {
		return in.List(found, foreign)
	}
	if len(found)+len(foreign) == 0 && len(c.Session) > 0 && c.Since == "" {
		return fmt.Errorf("no session has the id %s, or one that begins so",
			strings.Join(c.Session, " or "))
	}
	if !c.DryRun {
		if err := in.Agree(ctx, found, c.Yes); err != nil {
			return err
		}
	}
	if err := c.allow(ctx, a, in, found); err != nil {
		return err
	}
	return in.Run(ctx, found, foreign)
}

// refuse returns an error for flags that a list of sessions, or a dry run, does not have.
func (c importCmd) refuse(list bool) error {
	if list && len(c.AllowSecret) > 0 || c.DryRun && len(c.AllowSecret) > 0 {
		return usagef("--allow-secret needs an agent, a path or --session, and no --dry-run")
	}
	if list && (c.Hold || c.Reimport || c.Again || c.RedactOwn) {
		return usagef("name what to import, or give --all or --session: " +
			"without that, sessions are only listed")
	}
	return nil
}

// allow writes entries for the secrets that the user allows in what is imported.
func (c importCmd) allow(
	ctx context.Context, a *app, in intake.Intake, found []importer.Found,
) error {
	if len(c.AllowSecret) == 0 {
		return nil
	}
	entries, err := in.Allow(ctx, found, c.AllowSecret)
	if err != nil {
		return err
	}
	return a.commitAllowed(ctx, entries)
}

// openIntake returns the intake for importing sessions into a workspace.
func openIntake(ctx context.Context, a *app, w *workspace.Workspace) (intake.Intake, error) {
	d := intake.Destination{
		Workspace: w, Home: a.home(), Off: a.leakPolicy().Off(w.Root()),
		Restored: restored(ctx, a, w), Warn: a.warn,
	}
	if repo, err := a.repo(ctx); err == nil {
		d.Own = a.guardOptions(repo).Own
	}
	im, err := intake.NewImporter(d)
	return intake.Intake{Importer: im, Terminal: a.terminal, Repo: a.repo}, err
}

func placesOf(a *app) sessions.Places {
	return sessions.Places{Home: a.home(), Getenv: a.getenv}
}

func (c importCmd) selection(a *app, w *workspace.Workspace) (sel importer.Selection, err error) {
	sel = importer.Selection{IDs: c.Session, Foreign: c.Foreign, Root: w.Root()}
	if sel.Since, err = parseWhen(a, "since", c.Since); err != nil {
		return sel, err
	}
	for _, from := range c.From {
		agent := sessions.Agent(from)
		if slices.Contains(sessions.Agents, agent) {
			sel.Agents = append(sel.Agents, agent)
			continue
		}
		path := a.path(from)
		if _, err := os.Lstat(path); err != nil {
			return sel, usagef("%q is neither an agent (%s) nor a file", from, agentNames())
		}
		sel.Paths = append(sel.Paths, path)
	}
	return sel, nil
}
