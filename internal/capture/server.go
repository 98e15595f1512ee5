package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/sessions"
)

// serverName is the name of git jp mcp in the settings of agents.
const serverName = "git-jp"

// A server says where an agent's settings have the servers that it starts, and the form of ours.
type server struct {
	file   func(Places) string
	member string // of the settings, with a member for each server
	value  string // of ours; "" if the settings are TOML
}

func servers() map[sessions.Agent]server {
	return map[sessions.Agent]server{
		sessions.ClaudeCode: {
			inHome("CLAUDE_CONFIG_DIR", "", ".claude.json"), "mcpServers",
			`{"type": "stdio", "command": "git-jp", "args": ["mcp"]}`,
		},
		sessions.Codex: {inHome("CODEX_HOME", ".codex", "config.toml"), "mcp_servers", ""},
		sessions.Gemini: {
			inHome("", ".gemini", "settings.json"), "mcpServers",
			`{"command": "git-jp", "args": ["mcp"]}`,
		},
		sessions.Copilot: {
			inHome("COPILOT_HOME", ".copilot", "mcp-config.json"), "mcpServers",
			`{"type": "local", "command": "git-jp", "args": ["mcp"], "tools": ["*"]}`,
		},
		sessions.Opencode: {
			inHome("XDG_CONFIG_HOME", ".config", "opencode", "opencode.json"), "mcp",
			`{"type": "local", "command": ["git-jp", "mcp"], "enabled": true}`,
		},
	}
}

// ErrOther reports settings that have a server with our name which starts something else.
var ErrOther = errors.New("another server has the name " + serverName +
	" there (--force replaces it)")

// InstallServer plans to make an agent start git jp mcp. Settings with another server of that name
// are refused.
func InstallServer(p Places, name sessions.Agent) (Change, error) {
	return installServer(p, name, false)
}

// ReplaceServer is InstallServer, but replaces another server of that name.
func ReplaceServer(p Places, name sessions.Agent) (Change, error) {
	return installServer(p, name, true)
}

func installServer(p Places, name sessions.Agent, force bool) (Change, error) {
	s := servers()[name]
	return planServer(p, name, s, func(doc []byte) ([]byte, error) {
		switch {
		case s.value == "":
			return addTable(doc, force)
		case doc == nil:
			return []byte(style{"\n", "  "}.wrap("{}", s.entry(style{"\n", "  "}), 0) + "\n"), nil
		default:
			return s.add(doc, force)
		}
	})
}

// UninstallServer plans to remove it. That restores the original bytes.
func UninstallServer(p Places, name sessions.Agent) (Change, error) {
	s := servers()[name]
	return planServer(p, name, s, func(doc []byte) ([]byte, error) {
		switch {
		case doc == nil:
			return nil, nil
		case s.value == "":
			return removeTable(doc)
		}
		after, err := s.remove(doc)
		if err == nil && isMade(doc) && string(after) == "{}\n" {
			return nil, nil
		}
		return after, err
	})
}

func planServer(
	p Places, name sessions.Agent, s server, edit func([]byte) ([]byte, error),
) (c Change, err error) {
	if s.file == nil {
		return c, fmt.Errorf("%q does not start known servers", name)
	}
	c = Change{Agent: name, Path: s.file(p), perm: 0o600}
	if c.Before, err = readOwn(c.Path); err != nil {
		return c, err
	}
	if s.value == "" {
		c.After, err = edit(c.Before)
	} else {
		c.After, err = edited(c.Before, edit)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; it was left unchanged", c.Path, err)
	}
	return c, err
}

// entry returns the member of the settings with our server alone.
func (s server) entry(st style) string {
	return strconv.Quote(s.member) + ": " + st.wrap("{}", s.own(), 1)
}

func (s server) own() string { return strconv.Quote(serverName) + ": " + s.value }

func (s server) add(doc []byte, force bool) ([]byte, error) {
	root, err := top(doc)
	if err != nil {
		return nil, err
	}
	member, ok := root.member(s.member)
	if !ok {
		return root.put(doc, s.entry(styleOf(doc, root))), nil
	}
	all, err := nodeAt(doc, member.At, '{')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.member, err)
	}
	ours, ok := all.member(serverName)
	switch {
	case !ok:
		return all.put(doc, s.own()), nil
	case isOurServer(doc[ours.At:ours.End]):
		return doc, nil
	case !force:
		return nil, ErrOther
	}
	return slices.Concat(doc[:ours.At], []byte(s.value), doc[ours.End:]), nil
}

func (s server) remove(doc []byte) ([]byte, error) {
	root, err := top(doc)
	if err != nil {
		return nil, err
	}
	member, ok := root.member(s.member)
	if !ok {
		return doc, nil
	}
	all, err := nodeAt(doc, member.At, '{')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.member, err)
	}
	i := slices.IndexFunc(all.items, func(it jsonspan.Member) bool { return it.Name == serverName })
	if i < 0 || !isOurServer(doc[all.items[i].At:all.items[i].End]) {
		return doc, nil
	}
	return take(doc, []node{root, all}, i), nil
}

// isOurServer reports whether an entry starts what ours does, in any spelling.
func isOurServer(value []byte) bool {
	var v struct {
		Command any
		Args    []string
	}
	if json.Unmarshal(value, &v) != nil {
		return false
	}
	words := v.Args
	switch c := v.Command.(type) {
	case string:
		words = append([]string{c}, words...)
	case []any:
		words = nil
		for _, w := range c {
			words = append(words, fmt.Sprint(w))
		}
	}
	if len(words) == 2 { // a program and mcp
		words[0] = path.Base(filepath.ToSlash(words[0]))
	}
	line := strings.Join(words, " ")
	return line == "git-jp mcp" || line == "git jp mcp"
}

// table is our server in TOML. It is added at the end after one newline, which is removed with it.
const table = "[mcp_servers." + serverName + "]\ncommand = \"git-jp\"\nargs = [\"mcp\"]\n"

// errEntangled reports settings in which our server does not consist of our lines alone.
var errEntangled = errors.New("the server git-jp cannot be changed without changing others")

func addTable(doc []byte, force bool) ([]byte, error) {
	others, ours, err := tables(doc)
	if err != nil {
		return doc, err
	}
	if ours != nil {
		if isOurTable(ours) {
			return doc, nil
		}
		if !force {
			return nil, ErrOther
		}
		doc = withoutTable(doc)
	}
	after := []byte(table)
	if doc != nil {
		after = slices.Concat(doc, []byte("\n"+table))
	}
	left, ours, err := tables(after)
	if err != nil || ours == nil || !reflect.DeepEqual(left, others) {
		return nil, errors.Join(errEntangled, err)
	}
	return after, nil
}

func removeTable(doc []byte) ([]byte, error) {
	others, ours, err := tables(doc)
	if err != nil || ours == nil {
		return doc, err
	}
	if !isOurTable(ours) {
		return doc, nil
	}
	if string(doc) == table {
		return nil, nil
	}
	after := bytes.Replace(doc, []byte("\n"+table), nil, 1)
	left, ours, err := tables(after)
	if err != nil || ours != nil || !reflect.DeepEqual(left, others) {
		return nil, errors.Join(errEntangled, err)
	}
	return after, nil
}

func isOurTable(ours any) bool {
	text, _ := json.Marshal(ours) // of parsed TOML: a server of another kind is not ours
	return isOurServer(text)
}

// withoutTable returns a document without the table of our name and those in it, as far as these
// are written as tables: the caller checks whether that was all.
func withoutTable(doc []byte) []byte {
	const name = "[mcp_servers." + serverName
	var kept, between [][]byte
	inside := false
	for line := range bytes.Lines(doc) {
		text := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(text, []byte(name+"]")), bytes.HasPrefix(text, []byte(name+".")):
			inside, between = true, nil
		case bytes.HasPrefix(text, []byte("[")) && inside:
			kept = append(append(kept, between...), line) // comments on what follows stay
			inside, between = false, nil
		case !inside:
			kept = append(kept, line)
		case len(text) == 0 || text[0] == '#':
			between = append(between, line)
		default:
			between = nil
		}
	}
	return bytes.Join(append(kept, between...), nil)
}

// tables parses settings and returns them without our server, and our server.
func tables(doc []byte) (others map[string]any, ours any, err error) {
	if err := toml.Unmarshal(doc, &others); err != nil {
		return nil, nil, fmt.Errorf("read TOML: %w", err)
	}
	all, _ := others["mcp_servers"].(map[string]any)
	ours = all[serverName]
	if delete(all, serverName); len(all) == 0 {
		delete(others, "mcp_servers")
	}
	if others == nil {
		others = map[string]any{}
	}
	return others, ours, nil
}
