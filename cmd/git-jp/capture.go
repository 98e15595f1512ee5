package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/sessions"
)

type captureCmd struct {
	Agents    []string `arg:"" optional:"" name:"agent" help:"The agents whose sessions are captured."`
	Uninstall bool     `help:"Take the hooks out again: of these agents, or of all."`
	Status    bool     `help:"Print which agents have the hooks, and what waits to be imported."`
	Sweep     bool     `help:"Import what grew and no hook told."`
	Exclude   []string `placeholder:"SESSION|PATH" help:"Never capture this session, or what runs below PATH, in this clone."`
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
at the user's level: each tells git jp when a session grew, and what was said is imported when the
agent's turn has ended. Nothing else in the settings changes; a file that does not parse is
refused, and --uninstall gives back the bytes of before. --ignore also has searches of agents that
read a file for that (.geminiignore, .ignore) pass over the conversations.

Sessions are imported in workspaces of clones in which an import was agreed to once, by
'git jp import'. A hook stops no agent and waits for nothing. --sweep imports what hooks missed,
of agents that have the hooks: agents delete sessions after some weeks.

With --mcp agents get git jp mcp among the servers of tools that they start, with which they find
and read conversations. Hooks are not touched then. Where another server is called git-jp there,
nothing is changed, unless --force replaces it. A file with several names (hard links) is not
changed: --dry-run prints what to write.`
}

func capturable() string {
	var names []string
	for _, a := range capture.Agents() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// captureRecord is one agent in `capture --json`.
type captureRecord struct {
	Agent     string `json:"agent"`
	Path      string `json:"path,omitempty"`
	Installed bool   `json:"installed"`
	Changed   bool   `json:"changed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Run installs hooks, takes them out, or does what they ask for.
func (c captureCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Hook != "":
		// The agent goes on whatever happens here: it reads the exit code and what is printed.
		_ = runCaptureHook(ctx, a, sessions.Agent(c.Hook))
		return nil
	case c.Sweep:
		return sweepSessions(ctx, a, c.Noted)
	case c.Noted:
		return importNoted(ctx, a)
	case len(c.Exclude) > 0:
		return c.exclude(ctx, a)
	case c.Uninstall, !c.Status && len(c.Agents) > 0:
		return c.change(ctx, a)
	}
	return c.status(ctx, a)
}

// agents are those that are named, or all.
func (c captureCmd) agents() ([]sessions.Agent, error) {
	if len(c.Agents) == 0 {
		return capture.Agents(), nil
	}
	var all []sessions.Agent
	for _, name := range c.Agents {
		agent := sessions.Agent(name)
		if !isCapturable(agent) {
			return nil, usagef("%q has no hooks that are known (%s)", name, capturable())
		}
		all = append(all, agent)
	}
	return all, nil
}

func isCapturable(agent sessions.Agent) bool { return slices.Contains(capture.Agents(), agent) }

// change puts hooks in or takes them out. All agents are planned before the first is changed; what
// can be taken out is, whatever the settings of others are.
func (c captureCmd) change(ctx context.Context, a *app) error {
	agents, err := c.agents()
	if err != nil {
		return err
	}
	changes, unreadable, err := c.plan(a, agents)
	if err != nil {
		return err
	}
	for _, err := range unreadable {
		a.warn("%v", err)
	}
	for _, change := range changes {
		if err := change.Possible(); err != nil && !c.DryRun {
			return fmt.Errorf("%s: %w; nothing was changed", change.Agent, err)
		}
	}
	for _, change := range changes {
		if !c.DryRun {
			if err := change.Apply(); err != nil {
				return fmt.Errorf("%s: %w", change.Agent, err)
			}
		}
		if err := c.tell(a, change); err != nil {
			return err
		}
	}
	if !c.Uninstall && !c.DryRun && !c.MCP {
		tellNotAgreed(ctx, a, agents[0])
	}
	if len(unreadable) > 0 {
		return report.ErrProblems
	}
	return nil
}

// tellNotAgreed says that hooks import nothing in this workspace as long as nobody agreed to it.
func tellNotAgreed(ctx context.Context, a *app, agent sessions.Agent) {
	if _, err := a.workspace(); err != nil {
		return // hooks are put in anywhere
	}
	if repo, err := a.repo(ctx); err == nil && !importer.Agreed(repo.CommonDir()) {
		a.note("in this clone hooks import nothing before 'git jp import %s' was agreed to", agent)
	}
}

// settings plans what is changed in those of an agent.
func (c captureCmd) settings() func(capture.Places, sessions.Agent) (capture.Change, error) {
	switch {
	case c.MCP && c.Uninstall:
		return capture.UninstallServer
	case c.MCP && c.Force:
		return capture.ReplaceServer
	case c.MCP:
		return capture.InstallServer
	case c.Uninstall:
		return capture.Uninstall
	default:
		return capture.Install
	}
}

// plan returns what happens to the settings of agents, and then to files of the working tree, and
// the settings that nothing can be taken out of.
func (c captureCmd) plan(
	a *app, agents []sessions.Agent,
) (changes []capture.Change, unreadable []error, err error) {
	change, ignore, root := c.settings(), capture.Ignore, ""
	if c.Uninstall {
		ignore = capture.Unignore
	}
	if c.Ignore {
		w, err := a.workspace()
		if err != nil {
			return nil, nil, err
		}
		root = w.Root()
	}
	for _, agent := range agents {
		change, err := change(placesOf(a), agent)
		switch {
		case err != nil && c.Uninstall:
			unreadable = append(unreadable, fmt.Errorf("%s: %w", agent, err))
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", agent, err)
		default:
			changes = append(changes, change)
		}
	}
	for _, agent := range agents {
		if !c.Ignore {
			break
		}
		change, err := ignore(root, agent)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", agent, err)
		}
		same := func(other capture.Change) bool { return other.Path == change.Path }
		if change.Path != "" && !slices.ContainsFunc(changes, same) {
			changes = append(changes, change)
		}
	}
	return changes, unreadable, nil
}

// tell prints what was changed, or what would be.
func (c captureCmd) tell(a *app, ch capture.Change) error {
	if a.JSON {
		return a.printJSON(captureRecord{
			Agent: string(ch.Agent), Path: ch.Path, Installed: !c.Uninstall,
			Changed: ch.Changes() && !c.DryRun,
		})
	}
	if c.DryRun {
		text := udiff.Unified(ch.Path, ch.Path, string(ch.Before), string(ch.After))
		_, err := fmt.Fprint(a.stdout, a.output().Text(text))
		return err
	}
	word := "unchanged"
	switch {
	case ch.Changes() && c.Uninstall:
		word = "removed"
	case ch.Changes():
		word = "installed"
	}
	if _, err := fmt.Fprintf(a.stdout, "%-9s  %s  %s\n", word, ch.Agent, ch.Path); err != nil {
		return err
	}
	if ch.Trust != "" && ch.Changes() && !c.Uninstall {
		a.note("%s", ch.Trust)
	}
	return nil
}

// status prints the agents, and what waits in this clone.
func (c captureCmd) status(ctx context.Context, a *app) error {
	agents, err := c.agents()
	if err != nil {
		return err
	}
	head := "HOOKS"
	if c.MCP {
		head = "MCP"
	}
	table := render.NewTable(a.output(), render.Column{Head: "AGENT"},
		render.Column{Head: head}, render.Column{Head: "FILE", Shrink: true})
	for _, agent := range agents {
		change, err := c.settings()(placesOf(a), agent)
		r := captureRecord{
			Agent: string(agent), Path: change.Path, Installed: err == nil && !change.Changes(),
		}
		word := "no"
		switch {
		case errors.Is(err, capture.ErrOther):
			r.Error, word = err.Error(), "other"
		case err != nil:
			r.Error, word = err.Error(), "unreadable"
		case r.Installed:
			word = "installed"
		}
		if a.JSON {
			if err := a.printJSON(r); err != nil {
				return err
			}
			continue
		}
		table.Row(string(agent), word, change.Path)
	}
	if a.JSON {
		return nil
	}
	if err := table.Write(a.stdout); err != nil {
		return err
	}
	return tellNoted(ctx, a)
}

// tellNoted says how many sessions wait in this clone, where there is one.
func tellNoted(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	notes, err := capture.StoreIn(repo.CommonDir()).Notes()
	if err == nil && len(notes) > 0 {
		a.note("%s noted here and not imported yet (git jp capture --sweep)",
			render.Count(len(notes), "session"))
	}
	return err
}

// exclude leaves sessions of this clone out.
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

// enabled are the agents whose hooks are in.
func enabled(a *app) (all []sessions.Agent) {
	for _, agent := range capture.Agents() {
		if ok, err := capture.Installed(placesOf(a), agent); err == nil && ok {
			all = append(all, agent)
		}
	}
	return all
}

// sweepSessions imports what grew of the agents that are captured.
func sweepSessions(ctx context.Context, a *app, gentle bool) error {
	agents := enabled(a)
	if len(agents) == 0 {
		return errors.New("no agent is captured; 'git jp capture AGENT' puts the hooks in")
	}
	in, err := openCaptured(ctx, a, gentle)
	if err != nil {
		return err
	}
	failed, err := in.Sweep(ctx, agents)
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("sweep: %s could not be read", render.Count(failed, "session"))
	}
	return nil
}
