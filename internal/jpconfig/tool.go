package jpconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// A Tool is an entry of conversation.tools.
type Tool struct {
	// JSON is the tool's table and Defaults that of '*', without the guarded values: the command
	// and the formatter.
	JSON, Defaults []byte

	Command Process // zero if there is none
	// Formatter is style.parameters if that is a command. It may run before the user is asked about
	// the call.
	Formatter Process
	// Unattended says that calls run without a question. It is guarded for tools of an MCP server;
	// for a local tool, the claim of Command covers it.
	Unattended trust.Guarded[bool]
	Outside    []Path // rules of access.fs for paths outside the workspace
}

// ToolNames returns the tools in order, without '*'.
func (c *Config) ToolNames() []string {
	return slices.DeleteFunc(c.names("conversation", "tools"), func(name string) bool {
		return name == "*"
	})
}

// Tool returns a tool by name. All foreign settings of it have one claim: whoever approves its
// command approves the rest of its table too.
func (c *Config) Tool(name string) Tool {
	at := []string{"conversation", "tools", name}
	unasked := unattended(c.all, name, "run")
	t := Tool{
		JSON: c.harmless(at...), Defaults: c.harmless("conversation", "tools", "*"),
		Unattended: trust.Own(unasked), Outside: c.outside(name),
	}
	command, formatter := commandOf(c.all, name), formatterOf(c.all, name)
	own, whole := modes(declaredTool(c.own, name), declaredTool(c.all, name))
	acts := command != nil || formatter != nil || unasked && whole.Server() != ""
	if !acts || bytes.Equal(marshal(whole), marshal(own)) {
		t.Command, t.Formatter = ownProcess(command), ownProcess(formatter)
		return t
	}
	b := c.bind(linesOf(whole), c.claim(trust.Process, nil, at...),
		func(files map[string]string) []byte {
			now := whole
			now.Files = files
			return canonical(marshal(now))
		})
	if command != nil {
		t.Command = Process{guard(Command(command), b)}
	}
	if formatter != nil {
		t.Formatter = Process{guard(Command(formatter), b)}
	}
	if whole.Server() != "" {
		t.Unattended = guard(unasked, b)
	}
	return t
}

// linesOf returns the command lines of a tool. What they name may be in its options.
func linesOf(t trust.Tool) (lines []line) {
	for _, text := range []json.RawMessage{t.Command, t.Formatter} {
		words, shell := wordsOf(text)
		if len(words) == 0 {
			continue
		}
		if strings.Contains(strings.Join(words, " "), "options") {
			words = append(words, stringsIn(t.Options)...)
		}
		lines = append(lines, line{words, shell})
	}
	return lines
}

// stringsIn returns the strings in JSON.
func stringsIn(raw json.RawMessage) (all []string) {
	var one string
	var list []json.RawMessage
	var table map[string]json.RawMessage
	switch {
	case exact.Unmarshal(raw, &one) == nil:
		return []string{one}
	case exact.Unmarshal(raw, &list) == nil:
	case exact.Unmarshal(raw, &table) == nil:
		for _, name := range slices.Sorted(maps.Keys(table)) {
			list = append(list, table[name])
		}
	}
	for _, item := range list {
		all = append(all, stringsIn(item)...)
	}
	return all
}

// Timeout returns the time limit of a tool's calls; preset is the default, and zero is no limit.
// Foreign settings can only shorten it: otherwise they could use more of the user's time than the
// user allows.
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

// duration parses a limit, such as "90s" or "1h30m"; for an invalid one it warns and returns zero.
func (c *Config) duration(raw []byte, name string) time.Duration {
	d, err := readLimit(raw)
	if err == nil {
		return d
	}
	path := []string{"conversation", "tools", name, "timeout"}
	_, origins, _ := c.Value(path...)
	c.leaveOut(err, origins, path...)
	return 0
}

func readLimit(raw []byte) (time.Duration, error) {
	var text string
	if exact.Unmarshal(raw, &text) == nil {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%.40s is not a duration above zero, such as \"90s\"", raw)
}

func ownProcess(command []byte) Process { return Process{trust.Own(Command(command))} }

// modes removes modes that need no claim: asking needs no approval, and whether calls run
// unattended may be the user's own setting.
func modes(own, whole trust.Tool) (ours, all trust.Tool) {
	if whole.Run == "" || own.Run != "" {
		own.Run, whole.Run = "", ""
	}
	if whole.Format == "" || own.Format != "" {
		own.Format, whole.Format = "", ""
	}
	return own, whole
}

// declaredTool returns everything that an approval of a tool is bound to, but the files that it
// runs: all but its descriptions.
func declaredTool(layers settings.Config, name string) trust.Tool {
	value := func(key string) json.RawMessage {
		s, ok := layers.Setting("conversation", "tools", name, key)
		if !ok {
			return nil
		}
		return canonical(s.Value())
	}
	t := trust.Tool{
		Command:   canonical(commandOf(layers, name)),
		Formatter: canonical(formatterOf(layers, name)),
		Options:   value("options"), Access: value("access"), Answers: answers(value("questions")),
		Parameters: declared(value("parameters")),
	}
	_ = exact.Unmarshal(value("source"), &t.Source) // another type is no source
	if unattended(layers, name, "run") {
		t.Run = "unattended"
	}
	if t.Formatter != nil && unattended(layers, name, "format") {
		t.Format = "unattended"
	}
	if t.Access == nil {
		if s, ok := layers.Setting("conversation", "tools", "*", "access"); ok {
			t.Access = canonical(s.Value())
		}
	}
	for _, line := range []json.RawMessage{t.Command, t.Formatter} {
		describe(&t, line)
	}
	return t
}

// describe adds the parameters that reach a command line.
func describe(t *trust.Tool, line json.RawMessage) {
	words, shell := wordsOf(line)
	if len(words) == 0 {
		return
	}
	if t.Line == nil {
		t.Line, t.Shell = words, shell
	}
	var parameters map[string]json.RawMessage
	_ = exact.Unmarshal(t.Parameters, &parameters) // another type declares none
	reach := command.ReachOf(words, shell, parameters)
	t.Reaches = lists.Union(t.Reaches, reach.Shell)
	t.Takes = lists.Union(t.Takes, reach.Option)
}

// wordsOf returns the words of a command line.
func wordsOf(line []byte) (words []string, shell bool) {
	var text string
	if exact.Unmarshal(line, &text) == nil {
		words, _ = command.Words(text) // a line with an open quote starts nothing
		return words, false
	}
	if exact.Unmarshal(line, &words) == nil {
		return words, false
	}
	var table struct {
		Program string   `json:"program"`
		Args    []string `json:"args"`
		Shell   bool     `json:"shell"`
	}
	if exact.Unmarshal(line, &table) != nil || table.Program == "" {
		return nil, false
	}
	return append([]string{table.Program}, table.Args...), table.Shell
}

// commandOf returns a tool's command, nil if it has none.
func commandOf(layers settings.Config, name string) []byte {
	s, ok := layers.Setting("conversation", "tools", name, "command")
	if !ok {
		return nil
	}
	return s.Value()
}

// formatterOf returns the formatter of a tool's arguments, its own or that of '*'.
func formatterOf(layers settings.Config, name string) []byte {
	for _, at := range []string{name, "*"} {
		s, ok := layers.Setting("conversation", "tools", at, "style", "parameters")
		if !ok {
			continue
		}
		if isCommand(s.Value()) {
			return s.Value()
		}
		return nil
	}
	return nil
}

// unattended reports whether a mode of a tool, its own or that of '*', is unattended.
func unattended(layers settings.Config, name, key string) bool {
	for _, at := range []string{name, "*"} {
		if s, ok := layers.Setting("conversation", "tools", at, key); ok {
			return string(s.Value()) == `"unattended"`
		}
	}
	return false
}

// answers returns the answers and targets in questions.
func answers(questions []byte) json.RawMessage {
	var all map[string]map[string]json.RawMessage
	if exact.Unmarshal(questions, &all) != nil {
		return nil
	}
	kept := map[string]map[string]json.RawMessage{}
	for id, q := range all {
		for _, key := range []string{"answer", "target"} {
			if v, ok := q[key]; ok {
				if kept[id] == nil {
					kept[id] = map[string]json.RawMessage{}
				}
				kept[id][key] = v
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return canonical(marshal(kept))
}

// declared returns the restrictions of parameters, without their descriptions.
func declared(parameters []byte) json.RawMessage {
	var all map[string]json.RawMessage
	if exact.Unmarshal(parameters, &all) != nil || len(all) == 0 {
		return nil
	}
	for name, raw := range all {
		all[name] = declaredOne(raw)
	}
	return canonical(marshal(all))
}

func declaredOne(raw json.RawMessage) json.RawMessage {
	var p map[string]json.RawMessage
	if exact.Unmarshal(raw, &p) != nil {
		return raw
	}
	for _, key := range []string{"summary", "description", "examples"} {
		delete(p, key)
	}
	if items, ok := p["items"]; ok {
		p["items"] = declaredOne(items)
	}
	if properties, ok := p["properties"]; ok {
		p["properties"] = declared(properties)
	}
	return marshal(p)
}

// isCommand distinguishes a command from the names of styles.
func isCommand(raw []byte) bool {
	var word string
	if exact.Unmarshal(raw, &word) != nil {
		return true
	}
	return !slices.Contains([]string{"json", "function_call", "off", ""}, word)
}

// harmless returns a tool's table without commands.
func (c *Config) harmless(path ...string) []byte {
	raw, _, ok := c.Value(path...)
	var table map[string]json.RawMessage
	if !ok || exact.Unmarshal(raw, &table) != nil {
		return []byte("{}")
	}
	delete(table, "command")
	var style map[string]json.RawMessage
	if exact.Unmarshal(table["style"], &style) == nil && isCommand(style["parameters"]) {
		delete(style, "parameters")
		table["style"] = marshal(style)
	}
	return marshal(table)
}

// outside returns the rules of access.fs for paths outside the workspace.
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
			if exact.Unmarshal(item.Value(), &rule) != nil || !rule.External {
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

func quote(s string) []byte { return marshal(s) }

// marshal encodes values that cannot fail.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return b
}
