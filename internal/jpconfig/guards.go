package jpconfig

import (
	"slices"

	"github.com/git-jp/git-jp/internal/trust"
)

// A Command is a command line in jp's format: text that is split into words, or a table with
// program, args and shell. It is stored as JSON.
type Command []byte

// A Process is a command that can only be read through a gate.
type Process struct{ trust.Guarded[Command] }

// IsZero reports whether no command was declared.
func (p Process) IsZero() bool {
	if _, foreign := p.Claim(); foreign {
		return false
	}
	c, err := p.Open(nil)
	return err == nil && c == nil
}

// A Host is an address that can only be read through a gate.
type Host struct{ trust.Guarded[string] }

// An EnvVar is the name of an environment variable to read. It can only be read through a gate.
type EnvVar struct{ trust.Guarded[string] }

// A Path is a path outside the workspace. It can only be read through a gate.
type Path struct{ trust.Guarded[string] }

// Claims returns the claims of all foreign settings that need an approval, in the order of the
// keys.
func (c *Config) Claims() []trust.Claim {
	var all []trust.Claim
	add := func(claim trust.Claim, foreign bool) {
		// The command of a tool and its formatter have one claim.
		if foreign && (len(all) == 0 || all[len(all)-1] != claim) {
			all = append(all, claim)
		}
	}
	for _, a := range c.Attachments() {
		add(a.URL.Claim())
	}
	for _, name := range c.ToolNames() {
		t := c.Tool(name)
		add(t.Command.Claim())
		add(t.Formatter.Claim())
		add(t.Unattended.Claim())
		for _, p := range t.Outside {
			add(p.Claim())
		}
	}
	for _, l := range c.Labels() {
		add(l.Command.Claim())
	}
	add(c.Editor().Command.Claim())
	for _, v := range c.Editor().Envs {
		add(v.Claim())
	}
	for _, name := range c.ProviderNames() {
		p := c.Provider(name)
		add(p.BaseURL.Claim())
		for _, v := range p.variables() {
			add(v.Claim())
		}
	}
	for _, name := range c.ServerNames() {
		s := c.Server(name)
		add(s.Command.Claim())
		add(s.URL.Claim())
	}
	for _, p := range c.Plugins() {
		add(p.Run.Claim())
	}
	return slices.Concat(all, c.settings, c.replaces)
}

// Held returns the claims of foreign settings that do not count until they are approved. It leaves
// out foreign text that would replace the user's, since that is added instead.
func (c *Config) Held() []trust.Claim { return slices.Clone(c.waiting) }
