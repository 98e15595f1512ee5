package jpconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/trust"
)

// A Tool is one of conversation.tools.
type Tool struct {
	Name string
	// JSON is the tool's table and Defaults that of '*', without what is guarded: the
	// command and the command that shows arguments.
	JSON, Defaults []byte

	Command Process // zero when there is none
	// Formatter is style.parameters when that is a command, which may run before anybody
	// is asked about the call.
	Formatter Process
	// Unattended is true when calls run without anybody being asked. It is guarded for
	// tools of an MCP server; for a local tool the approval of Command covers it.
	Unattended trust.Guarded[bool]
	Outside    []Path // rules of access.fs for places outside of the workspace
}

// ToolNames returns the tools in order, without '*'.
func (c *Config) ToolNames() []string {
	return slices.DeleteFunc(c.names("conversation", "tools"), func(name string) bool {
		return name == "*"
	})
}

// Tool returns a tool by name.
func (c *Config) Tool(name string) Tool {
	at := []string{"conversation", "tools", name}
	t := Tool{
		Name: name, JSON: c.harmless(at...), Defaults: c.harmless("conversation", "tools", "*"),
	}
	run := c.inherited(name, "run")
	t.Command = c.toolProcess(run, append(slices.Clone(at), "command")...)
	t.Formatter = c.formatter(name)
	t.Unattended = trust.Own(run.unattended)
	if run.foreign && run.unattended && strings.HasPrefix(c.text(append(at, "source")...), "mcp.") {
		value, _ := json.Marshal([]string{c.text(append(at, "source")...), run.value})
		t.Unattended = trust.Foreign(true, c.claim(trust.Process, value, run.path...))
	}
	t.Outside = c.outside(name)
	return t
}

// Timeout returns how long a call of a tool may take where the layers say nothing else than
// preset, of which zero is for ever. What others say only makes it shorter: for them to give a
// tool more time than the user does would be to take the user's away.
func (c *Config) Timeout(name string, preset time.Duration) time.Duration {
	limit := preset
	for _, at := range []string{name, "*"} {
		if s, ok := c.own.Setting("conversation", "tools", at, "timeout"); ok {
			if d := c.duration(s.Value(), at); d > 0 {
				limit = d
				break
			}
		}
	}
	for _, at := range []string{name, "*"} {
		path := []string{"conversation", "tools", at, "timeout"}
		raw, _, ok := c.Value(path...)
		if !ok {
			continue
		}
		if d := c.duration(raw, at); d > 0 && (limit == 0 || d < limit) {
			limit = d
		}
		break
	}
	return limit
}

// duration reads a limit, such as "90s" or "1h30m"; what is none is a warning, and zero.
func (c *Config) duration(raw []byte, name string) time.Duration {
	d, err := readLimit(raw)
	if err == nil {
		return d
	}
	path := []string{"conversation", "tools", name, "timeout"}
	_, origins, _ := c.Value(path...)
	c.warn(Warning{
		Where: last(origins).At(path...), Key: strings.Join(path, "."),
		Text: "left out: " + err.Error(),
	})
	return 0
}

func readLimit(raw []byte) (time.Duration, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%.40s is no duration above zero, such as \"90s\"", raw)
}

// A runMode is the effective "run" of a tool.
type runMode struct {
	value      string
	path       []string
	unattended bool
	foreign    bool
}

// inherited returns a mode of a tool, its own or that of '*'.
func (c *Config) inherited(name, key string) runMode {
	path := []string{"conversation", "tools", name, key}
	if _, _, ok := c.Value(path...); !ok {
		path[2] = "*"
	}
	value := c.text(path...)
	return runMode{
		value: value, path: path, foreign: !c.has(path...),
		unattended: value == "unattended",
	}
}

// toolProcess guards a tool's command. That calls run without being asked for is part of
// what is approved, where somebody else said so.
func (c *Config) toolProcess(run runMode, path ...string) Process {
	raw, _, ok := c.Value(path...)
	if !ok {
		return Process{}
	}
	unattended := run.foreign && run.unattended
	if c.has(path...) && !unattended {
		return Process{trust.Own(Command(raw))}
	}
	value := []byte(raw)
	if unattended {
		value = object("command", raw, "run", quote(run.value))
	}
	return Process{trust.Foreign(Command(raw), c.claim(trust.Process, value, path...))}
}

// formatter guards the command that shows the arguments of calls.
func (c *Config) formatter(name string) Process {
	path := []string{"conversation", "tools", name, "style", "parameters"}
	raw, _, ok := c.Value(path...)
	if !ok {
		path[2] = "*"
		raw, _, ok = c.Value(path...)
	}
	if !ok || !isCommand(raw) {
		return Process{}
	}
	format := c.inherited(name, "format")
	unattended := format.foreign && format.unattended
	if c.has(path...) && !unattended {
		return Process{trust.Own(Command(raw))}
	}
	value := []byte(raw)
	if unattended {
		value = object("format", quote(format.value), "parameters", raw)
	}
	return Process{trust.Foreign(Command(raw), c.claim(trust.Process, value, path...))}
}

// isCommand tells a command from the names of styles.
func isCommand(raw []byte) bool {
	var word string
	if json.Unmarshal(raw, &word) != nil {
		return true
	}
	return !slices.Contains([]string{"json", "function_call", "off", ""}, word)
}

// harmless returns a tool's table without commands.
func (c *Config) harmless(path ...string) []byte {
	raw, _, ok := c.Value(path...)
	var table map[string]json.RawMessage
	if !ok || json.Unmarshal(raw, &table) != nil {
		return []byte("{}")
	}
	delete(table, "command")
	var style map[string]json.RawMessage
	if json.Unmarshal(table["style"], &style) == nil && isCommand(style["parameters"]) {
		delete(style, "parameters")
		table["style"] = marshal(style)
	}
	return marshal(table)
}

// outside returns the rules of access.fs that reach out of the workspace.
func (c *Config) outside(name string) []Path {
	var all []Path
	for _, at := range []string{"*", name} {
		path := []string{"conversation", "tools", at, "access", "fs"}
		s, ok := c.all.Setting(path...)
		if !ok {
			continue
		}
		for _, item := range s.Items() {
			var rule struct {
				Path     string `json:"path"`
				External bool   `json:"external"`
			}
			if json.Unmarshal(item.Value(), &rule) != nil || !rule.External {
				continue
			}
			if c.has(path...) {
				all = append(all, Path{trust.Own(rule.Path)})
				continue
			}
			claim := c.claim(trust.Path, item.Value(), path...)
			all = append(all, Path{trust.Foreign(rule.Path, claim)})
		}
	}
	return all
}

// object writes a JSON object of names and values by turns.
func object(name1 string, value1 []byte, name2 string, value2 []byte) []byte {
	return marshal(map[string]json.RawMessage{name1: value1, name2: value2})
}

func quote(s string) []byte { return marshal(s) }

// marshal writes what always can be written.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return b
}
