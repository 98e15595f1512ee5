package jpconfig

import (
	"encoding/json"
	"slices"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/trust"
)

// An Editor has the settings of the editor.
type Editor struct {
	Command Process  // zero if not set
	Envs    []EnvVar // variables that may name an editor, in order
}

// Editor returns the editor's settings.
func (c *Config) Editor() Editor {
	var e Editor
	if raw, _, ok := c.Value("editor", "cmd"); ok {
		e.Command = c.process(raw, raw, "editor", "cmd")
	}
	s, ok := c.all.Setting("editor", "envs")
	if !ok {
		return e
	}
	var own []string
	if o, ok := c.own.Setting("editor", "envs"); ok {
		_ = exact.Unmarshal(o.Value(), &own) // another type has no names
	}
	for _, item := range s.Items() {
		var name string
		if exact.Unmarshal(item.Value(), &name) != nil {
			continue
		}
		v := EnvVar{trust.Own(name)}
		if !slices.Contains(own, name) {
			v.Guarded = trust.Foreign(name,
				c.claim(trust.EnvVar, item.Value(), "editor", "envs"))
		}
		e.Envs = append(e.Envs, v)
	}
	return e
}

// A Label is a rule of conversation.labels.
type Label struct {
	Name    string
	Command Process // zero if the value is literal
	JSON    []byte  // the rule, without the command
}

// Labels returns the rules in order.
func (c *Config) Labels() []Label {
	var all []Label
	for _, name := range c.names("conversation", "labels") {
		at := []string{"conversation", "labels", name}
		raw, _, _ := c.Value(at...)
		l := Label{Name: name, JSON: raw}
		if line := commandIn(raw); line != nil {
			l.JSON = c.without(at, "value", "cmd")
			l.Command = c.process(raw, line, at...)
		}
		all = append(all, l)
	}
	return all
}

// commandIn returns the command of a rule, nil for none: {cmd} or {value = {cmd}}.
func commandIn(raw []byte) []byte {
	var rule struct {
		Cmd   json.RawMessage `json:"cmd"`
		Value json.RawMessage `json:"value"`
	}
	if exact.Unmarshal(raw, &rule) != nil {
		return nil
	}
	var value struct {
		Cmd json.RawMessage `json:"cmd"`
	}
	_ = exact.Unmarshal(rule.Value, &value) // another type has no command
	if rule.Cmd != nil {
		return rule.Cmd
	}
	return value.Cmd
}

// A Plugin is an entry of plugins.command: a program that jp would run under that name.
type Plugin struct {
	Run trust.Guarded[string] // "ask", "unattended" or "deny"
}

// Plugins returns the plugins in order.
func (c *Config) Plugins() []Plugin {
	var all []Plugin
	for _, name := range c.names("plugins", "command") {
		at := []string{"plugins", "command", name}
		mode := c.text("plugins", "command", name, "run")
		p := Plugin{Run: trust.Own(mode)}
		if mode != "deny" && mode != "ask" {
			p.Run = guarded(c, trust.Process, mode, at...)
		}
		all = append(all, p)
	}
	return all
}
