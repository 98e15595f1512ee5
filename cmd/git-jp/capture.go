package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

type captureCmd struct {
	Agents    []string `arg:"" optional:"" name:"agent" help:"The agents whose sessions are captured."`
	Uninstall bool     `xor:"what" help:"Remove the hooks: of these agents, or of all."`
	Status    bool     `xor:"what" help:"Print which agents have the hooks, and what waits to be imported."`
	Sweep     bool     `xor:"what" help:"Import what the hooks missed."`
	Exclude   []string `xor:"what" placeholder:"SESSION|PATH" help:"Never capture this session, or what runs below PATH, in this clone."`
	Ignore    bool     `help:"Also keep .jp out of what these agents find when they search, by a file in the working tree."`
	MCP       bool     `name:"mcp" help:"Not hooks, but git jp mcp as a server that these agents start; with --uninstall too."`
	Force     bool     `help:"With --mcp, replace another server that is called git-jp."`
	DryRun    bool     `short:"n" help:"Print as a diff what would be changed."`
	Hook      string   `hidden:"" placeholder:"AGENT" help:"Do the work of an agent's hook."`
	Noted     bool     `hidden:"" help:"Import what hooks noted, and nothing while an agent is in a turn."`
}

// Help says what is changed, and when sessions are imported.
func (captureCmd) Help() string {
	return `Puts hooks into the settings of coding agents (` + capturable() + `),
at the user's level: each notifies git jp when a session grew, and the new part is imported when
the agent's turn has ended. Nothing else in the settings changes; a file that does not parse is
refused, and --uninstall restores the original bytes. --ignore also makes agents that read a file
for that (.geminiignore, .ignore) leave the conversations out of their searches; with --uninstall
it removes that line.

Sessions are imported in workspaces of clones in which an import was agreed to once, by
'git jp import'. A hook never blocks an agent. --sweep imports what hooks missed,
of agents that have the hooks: agents delete sessions after some weeks.

With --mcp, git jp mcp is added to the MCP servers of agents, with which they find and read
conversations. Hooks are not changed then. If another server has the name git-jp, nothing is
changed unless --force is given. A file with several hard links, or one that is a link, is not
changed: --dry-run prints what to write.`
}

func capturable() string {
	names := lists.Map(capture.Agents(), func(a sessions.Agent) string { return string(a) })
	return strings.Join(names, ", ")
}

// Run installs hooks, takes them out, or does what they ask for.
func (c captureCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Hook != "":
		// The agent must continue whatever happens here: it reads the exit code and the output.
		_ = c.note(ctx, a, sessions.Agent(c.Hook))
		return nil
	case c.Force && !c.MCP:
		return usagef("--force needs --mcp")
	case c.Ignore && !c.Uninstall && len(c.Agents) == 0:
		return usagef("--ignore needs the agents whose searches it is for")
	case (c.Sweep || len(c.Exclude) > 0) && (len(c.Agents) > 0 || c.MCP || c.Ignore || c.DryRun):
		return usagef("--sweep and --exclude take no agents and no other flags")
	case c.Sweep:
		return c.sweep(ctx, a)
	case c.Noted:
		return c.noted(ctx, a)
	case len(c.Exclude) > 0:
		return c.exclude(ctx, a)
	}
	agents, err := c.agents()
	switch {
	case err != nil:
		return err
	case c.Uninstall, !c.Status && len(c.Agents) > 0:
		return c.change(ctx, a, agents)
	}
	return c.status(ctx, a, agents)
}

// agents returns the agents that are named, or all.
func (c captureCmd) agents() ([]sessions.Agent, error) {
	if len(c.Agents) == 0 {
		return capture.Agents(), nil
	}
	var all []sessions.Agent
	for _, name := range c.Agents {
		agent := sessions.Agent(name)
		if !slices.Contains(capture.Agents(), agent) {
			return nil, usagef("%q has no known hooks (%s)", name, capturable())
		}
		all = append(all, agent)
	}
	return all, nil
}

func (c captureCmd) settings(a *app) intake.Settings {
	return intake.Settings{
		Printer: &a.terminal.Printer, Places: placesOf(a),
		Uninstall: c.Uninstall, MCP: c.MCP, Force: c.Force, DryRun: c.DryRun,
	}
}

// change installs hooks or removes them.
func (c captureCmd) change(ctx context.Context, a *app, agents []sessions.Agent) error {
	s := c.settings(a)
	if c.Ignore {
		w, err := a.workspace()
		if err != nil {
			return err
		}
		s.Root = w.Root()
	}
	unreadable, err := s.Change(agents)
	if err != nil {
		return err
	}
	if !c.Uninstall && !c.DryRun && !c.MCP {
		noteNotAgreed(ctx, a, agents[0])
	}
	if unreadable {
		return report.ErrProblems
	}
	return nil
}

// noteNotAgreed says that hooks import nothing in this workspace until someone agrees to it.
func noteNotAgreed(ctx context.Context, a *app, agent sessions.Agent) {
	if _, err := a.workspace(); err != nil {
		return // hooks are installed anywhere
	}
	if repo, err := a.repo(ctx); err == nil && intake.Agreed(repo) != nil {
		a.note("in this clone hooks import nothing before 'git jp import %s' was agreed to", agent)
	}
}

// status prints the agents, and how many sessions wait in this clone, if there is one.
func (c captureCmd) status(ctx context.Context, a *app, agents []sessions.Agent) error {
	if err := c.settings(a).Status(agents); err != nil || a.JSON {
		return err
	}
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	in, err := openCaptured(ctx, a, false)
	if err != nil {
		in = importer.Captured{Store: capture.StoreIn(repo.CommonDir())}
	}
	return intake.NoteWaiting(ctx, &a.terminal.Printer, in)
}

// exclude excludes sessions of this clone from import.
func (c captureCmd) exclude(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	var all []string
	for _, w := range c.Exclude {
		if strings.ContainsRune(w, filepath.Separator) || w == "." || w == ".." {
			w = a.path(w)
		}
		all = append(all, w)
	}
	return capture.StoreIn(repo.CommonDir()).Exclude(all...)
}

// note does the work of an agent's hook: it notes that a session grew.
func (captureCmd) note(ctx context.Context, a *app, agent sessions.Agent) error {
	if !slices.Contains(capture.Agents(), agent) {
		return fmt.Errorf("%q is not captured", agent)
	}
	return capture.ReadEvents(ctx, a.stdin, func(event capture.Event) error {
		a.Dir = dirFlag(event.Dir)
		root, err := workspace.Find(a.directory())
		if err != nil {
			return err
		}
		repo, err := a.repo(ctx)
		if err != nil {
			return err
		}
		return intake.Note(repo, root, agent, event, a.env)
	})
}

// sweep imports what grew in sessions of the captured agents.
func (c captureCmd) sweep(ctx context.Context, a *app) error {
	agents := intake.Enabled(placesOf(a))
	if len(agents) == 0 {
		return errors.New("no agent is captured; 'git jp capture AGENT' installs the hooks")
	}
	in, err := openCaptured(ctx, a, c.Noted)
	if err != nil {
		return err
	}
	err = intake.Sweep(ctx, in, agents)
	if c.Noted && !in.Waits() {
		// Nobody waits for this one, and in some clones no question is ever asked.
		collectDue(a, in.Workspace)(ctx)
	}
	return err
}

// noted imports the sessions that hooks noted in this workspace, unless an agent is in a turn. That
// agent's last hook calls noted again.
func (captureCmd) noted(ctx context.Context, a *app) error {
	in, err := openCaptured(ctx, a, true)
	if err != nil {
		return err
	}
	return in.Noted(ctx)
}

// openCaptured opens the destination of captured sessions, in a clone where the user agreed to
// capturing.
func openCaptured(ctx context.Context, a *app, gentle bool) (c importer.Captured, err error) {
	repo, err := a.repo(ctx)
	if err == nil {
		err = intake.Agreed(repo)
	}
	if err != nil {
		return c, err
	}
	w, err := a.workspace()
	if err != nil {
		return c, err
	}
	in, err := openIntake(ctx, a, w)
	if err != nil {
		return c, err
	}
	return in.Captured(repo, placesOf(a), gentle), nil
}
