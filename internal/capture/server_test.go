package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
)

// TestServersComeAndGo adds the server to settings of every agent, as people and agents write them,
// and removes it: nothing else changes, and the original bytes are restored.
func TestServersComeAndGo(t *testing.T) {
	for _, agent := range Agents() {
		all := map[string]string{"absent": ""}
		for name, text := range settings {
			all[name] = text
		}
		all["others"] = "{\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\"}\n  },\n  \"mcp\": {\"x\": {}}\n}\n"
		if agent == sessions.Codex {
			all = map[string]string{
				"absent": "", "empty line": "\n", "ended": "model = \"o\"\n", "cut": "model = \"o\"",
				"others": "[mcp_servers.docs]\ncommand = \"docs\" # of mine\n\n[tui]\na = [ 1 ]\n\n\n", "crlf": "a = 1\r\n",
			}
		}
		for name, text := range all {
			t.Run(string(agent)+" "+name, func(t *testing.T) { comeAndGo(t, agent, name, text) })
		}
	}
}

func comeAndGo(t *testing.T, agent sessions.Agent, name, text string) {
	p := machine(t)
	path := servers()[agent].file(p)
	if name != "absent" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, p, InstallServer, agent)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if agent != sessions.Codex {
		all, of := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		err := json.Unmarshal(bytes.TrimPrefix(data, []byte(byteOrder)), &all)
		if err == nil {
			err = json.Unmarshal(all[servers()[agent].member], &of)
		}
		if err != nil || !isOurServer(of[serverName]) {
			t.Errorf("%v: got %s", err, data)
		}
	} else if _, ours, err := tables(data); err != nil || ours == nil {
		t.Errorf("%v: got %s", err, data)
	}
	if c := apply(t, p, InstallServer, agent); c.Changes() {
		t.Errorf("put in twice: %s", c.After)
	}
	apply(t, p, UninstallServer, agent)
	data, err = os.ReadFile(path)
	if name == "absent" {
		if !os.IsNotExist(err) {
			t.Errorf("left: %v, %q", err, data)
		}
	} else if string(data) != text {
		t.Errorf("got %q, want %q", data, text)
	}
}

// TestServersOfOthersStay refuses settings from which only ours cannot be removed, and leaves a
// server of our name that starts something else.
func TestServersOfOthersStay(t *testing.T) {
	for _, c := range []struct {
		agent sessions.Agent
		text  string
		fails bool
	}{
		{sessions.Gemini, `{"mcpServers": {"git-jp": {"command": "/opt/other"}}}`, false},
		{sessions.Codex, "[mcp_servers.git-jp]\ncommand = \"other\"\n", false},
		{sessions.Codex, "a = 1\n\n" + table + "env = {A = \"1\"}\n", true},
		{sessions.Codex, "mcp_servers = {git-jp = {command = \"git-jp\", args = [\"mcp\"]}}\n", true},
		{sessions.Codex, "mcp_servers = {\n", true},
		{sessions.Opencode, "// mine\n{}", true},
	} {
		p := machine(t)
		path := servers()[c.agent].file(p)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		change, err := InstallServer(p, c.agent)
		if ours := strings.Contains(c.text, `"mcp"]`); err == nil && (!ours || change.Changes()) {
			t.Errorf("%s: got %q", c.text, change.After)
		}
		if other := strings.Contains(c.text, "other"); other != errors.Is(err, ErrOther) {
			t.Errorf("%s: got %v", c.text, err)
		}
		change, err = UninstallServer(p, c.agent)
		if (err != nil) != c.fails || err == nil && change.Changes() {
			t.Errorf("%s: got %v, %q", c.text, err, change.After)
		}
	}
}

// TestServersOfOthersAreReplaced replaces a server of our name on request, and nothing else.
func TestServersOfOthersAreReplaced(t *testing.T) {
	for _, c := range []struct {
		agent      sessions.Agent
		text, want string // "" if it is refused
	}{
		{
			sessions.Gemini, `{"mcpServers": {"a": 1, "git-jp": {"command": "/opt/other"}, "b": 2}, "c": 3}`,
			`{"mcpServers": {"a": 1, "git-jp": {"command": "git-jp", "args": ["mcp"]}, "b": 2}, "c": 3}`,
		},
		{sessions.Gemini, `{"mcpServers": {"git-jp": 7}}`, `{"mcpServers": {"git-jp": {"command": "git-jp", "args": ["mcp"]}}}`},
		{
			sessions.Codex, "a = 1\n[mcp_servers.git-jp]\ncommand = \"other\"\n[mcp_servers.git-jp.env]\nA = \"1\"\n\n# of b\n[b]\nc = 2\n",
			"a = 1\n\n# of b\n[b]\nc = 2\n\n" + table,
		},
		{sessions.Codex, "mcp_servers = {git-jp = {command = \"other\"}}\n", ""},
	} {
		p := machine(t)
		path := servers()[c.agent].file(p)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		change, err := ReplaceServer(p, c.agent)
		if (err != nil) != (c.want == "") || err == nil && string(change.After) != c.want {
			t.Errorf("%s: got %v, %q, want %q", c.text, err, change.After, c.want)
		}
	}
}

// TestLinkedSettingsStay refuses a file that has another name: the two would diverge.
func TestLinkedSettingsStay(t *testing.T) {
	p := machine(t)
	path := servers()[sessions.Gemini].file(p)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".mine"); err != nil {
		t.Skip(err)
	}
	for name, plan := range map[string]func(Places, sessions.Agent) (Change, error){
		"server": InstallServer, "hooks": Install,
	} {
		c, err := plan(p, sessions.Gemini)
		if err != nil || !c.Changes() {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.Apply(); !errors.Is(err, errLinked) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	was, err := os.Stat(path + ".mine")
	if err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(path); err != nil || !os.SameFile(was, is) {
		t.Errorf("they are two files: %v", err)
	}
}
