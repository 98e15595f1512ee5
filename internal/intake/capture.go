package intake

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A CaptureRecord is one agent in JSON.
type CaptureRecord struct {
	Agent     string `json:"agent"`
	Path      string `json:"path,omitempty"`
	Installed bool   `json:"installed"`
	Outdated  bool   `json:"outdated,omitempty"`
	Changed   bool   `json:"changed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Settings changes the settings of agents, and prints what was changed or would be.
type Settings struct {
	Printer *render.Printer
	Places  capture.Places

	Uninstall bool
	MCP       bool // the server in place of the hooks
	Force     bool // replaces another server with that name
	DryRun    bool
	// Root is the root of the working tree in which a file tells agents to skip conversations in
	// searches. If it is empty, no such file is written.
	Root string
}

// change returns the function that plans the change for an agent.
func (s Settings) change() func(capture.Places, sessions.Agent) (capture.Change, error) {
	switch {
	case s.MCP && s.Uninstall:
		return capture.UninstallServer
	case s.MCP && s.Force:
		return capture.ReplaceServer
	case s.MCP:
		return capture.InstallServer
	case s.Uninstall:
		return capture.Uninstall
	default:
		return capture.Install
	}
}

// Change changes the settings of agents. All of them are planned before the first is changed. An
// uninstallation continues past settings that are unreadable, and reports whether there are any.
func (s Settings) Change(agents []sessions.Agent) (unreadable bool, err error) {
	changes, faults, err := s.plan(agents)
	if err != nil {
		return false, err
	}
	for _, err := range faults {
		s.Printer.Warn("%v", err)
	}
	for _, c := range changes {
		if err := c.Possible(); err != nil && !s.DryRun {
			return false, fmt.Errorf("%s: %w; nothing was changed", c.Agent, err)
		}
	}
	for _, c := range changes {
		if !s.DryRun {
			if err := c.Apply(); err != nil {
				return false, fmt.Errorf("%s: %w", c.Agent, err)
			}
		}
		if err := s.print(c); err != nil {
			return false, err
		}
	}
	return len(faults) > 0, nil
}

// plan returns the changes of the settings of agents, and then of files of the working tree, and
// the errors of settings from which nothing can be removed.
func (s Settings) plan(
	agents []sessions.Agent,
) (changes []capture.Change, unreadable []error, err error) {
	change, ignore := s.change(), capture.Ignore
	if s.Uninstall {
		ignore = capture.Unignore
	}
	for _, agent := range agents {
		c, err := change(s.Places, agent)
		switch {
		case err != nil && s.Uninstall:
			unreadable = append(unreadable, fmt.Errorf("%s: %w", agent, err))
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", agent, err)
		default:
			changes = append(changes, c)
		}
	}
	if s.Root == "" {
		return changes, unreadable, nil
	}
	for _, agent := range agents {
		c, err := ignore(s.Root, agent)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", agent, err)
		}
		same := func(other capture.Change) bool { return other.Path == c.Path }
		if c.Path != "" && !slices.ContainsFunc(changes, same) {
			changes = append(changes, c)
		}
	}
	return changes, unreadable, nil
}

// print prints the change that was made, or that would be.
func (s Settings) print(c capture.Change) error {
	p := s.Printer
	if p.JSON {
		return p.Records(CaptureRecord{
			Agent: string(c.Agent), Path: c.Path, Installed: !s.Uninstall,
			Changed: c.Changes() && !s.DryRun,
		})
	}
	if s.DryRun {
		text := udiff.Unified(c.Path, c.Path, string(c.Before), string(c.After))
		_, err := fmt.Fprint(p.Out, p.Output.Text(text))
		return err
	}
	word := "unchanged"
	switch {
	case c.Changes() && s.Uninstall:
		word = "removed"
	case c.Changes():
		word = "installed"
	}
	if err := p.Line(fmt.Sprintf("%-9s  %-11s  %s", word, c.Agent, c.Path)); err != nil {
		return err
	}
	if c.Trust != "" && c.Changes() && !s.Uninstall {
		p.Note("%s", c.Trust)
	}
	return nil
}

// Status prints which agents have the hooks, or the server.
func (s Settings) Status(agents []sessions.Agent) error {
	p, head := s.Printer, "HOOKS"
	if s.MCP {
		head = "MCP"
	}
	table := render.NewTable(p.Output, render.Column{Head: "AGENT"},
		render.Column{Head: head}, render.Column{Head: "FILE"})
	for _, agent := range agents {
		change, err := s.change()(s.Places, agent)
		r := CaptureRecord{
			Agent: string(agent), Path: change.Path, Installed: err == nil && !change.Changes(),
		}
		word := s.word(agent, r.Installed)
		switch {
		case errors.Is(err, capture.ErrOther):
			r.Error, word = err.Error(), "other"
		case err != nil:
			r.Error, word = err.Error(), "unreadable"
		}
		r.Outdated = word == outdated
		if p.JSON {
			if err := p.Records(r); err != nil {
				return err
			}
			continue
		}
		table.Row(string(agent), word, change.Path)
	}
	if p.JSON {
		return nil
	}
	return table.Write(p.Out)
}

// outdated is the word for hooks of another version.
const outdated = "outdated"

// OldHooks returns the agents whose hooks are those of another version, and the files with them.
func OldHooks(places sessions.Places) map[string]string {
	all := map[string]string{}
	for _, agent := range capture.Agents() {
		if file := capture.Old(places, agent); file != "" {
			all[string(agent)] = file
		}
	}
	return all
}

// word says whether an agent whose settings are readable has what it should have.
func (s Settings) word(agent sessions.Agent, installed bool) string {
	if installed {
		return "installed"
	}
	if !s.MCP && capture.Old(s.Places, agent) != "" {
		return outdated
	}
	return "no"
}
