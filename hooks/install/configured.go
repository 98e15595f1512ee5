package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
)

// A configured hook is what the configuration says about one of our hooks.
type configured struct {
	set     bool // event and command are ours, this or an older text
	version int
	local   bool     // in the repository's own configuration
	changed string   // the value that is not ours, "" without one
	off     string   // the key that turns it off, "" without one
	scope   string   // where that key is set
	by      string   // the key of a user's command that calls our hook, "" without one
	others  []string // the keys of the hooks that git runs beside it
}

// settings are the values of all our keys: git reads them together as fast as one.
type settings map[string][]gitint.Setting

func readSettings(ctx context.Context, repo Repo) (settings, error) {
	all, err := repo.ConfigMatching(ctx,
		`^(hook\.|(merge|diff)\.jp-|core\.(sharedrepository|hookspath)$)`)
	if err != nil {
		return nil, fmt.Errorf("inspect hooks and drivers: %w", err)
	}
	return all, nil
}

// shared reports whether git lets the group write what it creates in the repository.
func (all settings) shared() bool {
	values := all[gitint.SharedKey]
	return len(values) > 0 && gitint.IsGroupShared(values[len(values)-1].Value)
}

// ownPrefix begins the names of our hooks in the configuration.
const ownPrefix = "jp-"

func hookKey(friendly, variable string) string { return "hook." + friendly + "." + variable }
func eventKey(name string) string              { return hookKey(ownPrefix+name, "event") }
func commandKey(name string) string            { return hookKey(ownPrefix+name, "command") }

// config returns what the configuration says of the hook name.
func (in *Installer) config(all settings, name string) configured {
	events, commands := all[eventKey(name)], all[commandKey(name)]
	c := configured{local: anyLocal(events) || anyLocal(commands)}
	for _, event := range events {
		if event.Value != name {
			c.changed = event.Value
		}
	}
	for _, command := range commands {
		if c.version = is(command.Value, name, in.texts.commands); c.version < 0 {
			c.changed = command.Value
		}
	}
	// An interrupted installation has a command without an event; git ignores it.
	c.set = len(events) > 0 && len(commands) > 0 && c.changed == ""
	c.off, c.scope = all.off(ownPrefix+name, name)
	for _, friendly := range all.runBy(name) {
		key := hookKey(friendly, "command")
		if commands := all[key]; callsHook(commands[len(commands)-1].Value, name) {
			c.by = key
		} else {
			c.others = append(c.others, key)
		}
	}
	return c
}

// off returns the key that turns off a hook of the configuration, or all hooks of an event, and
// where it is set; "" if it is on. A key without a value is true.
func (all settings) off(friendly, event string) (key, scope string) {
	for _, of := range []string{friendly, event} {
		key := hookKey(of, "enabled")
		values := all[key]
		if n := len(values); n > 0 && isFalse(values[n-1].Value) {
			return key, values[n-1].Scope
		}
	}
	return "", ""
}

func isFalse(value string) bool {
	return slices.Contains([]string{"0", "false", "no", "off"}, strings.ToLower(value))
}

// runBy returns the names, sorted, of the other hooks that the configuration has for an event and
// that are not turned off.
func (all settings) runBy(event string) []string {
	var names []string
	for key, events := range all {
		friendly, isHook := strings.CutPrefix(strings.TrimSuffix(key, ".event"), "hook.")
		if !isHook || hookKey(friendly, "event") != key || friendly == ownPrefix+event {
			continue
		}
		runs := false
		for _, e := range events { // an empty value resets the list
			runs = e.Value == event || runs && e.Value != ""
		}
		off, _ := all.off(friendly, event)
		if runs && off == "" && len(all[hookKey(friendly, "command")]) > 0 {
			names = append(names, friendly)
		}
	}
	slices.Sort(names)
	return names
}

func anyLocal(settings []gitint.Setting) bool {
	return slices.ContainsFunc(settings, func(s gitint.Setting) bool { return s.Scope == "local" })
}
