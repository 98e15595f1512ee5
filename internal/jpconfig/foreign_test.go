package jpconfig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
)

// foreignLayers are the ways in which foreign settings are loaded.
func foreignLayers() map[string]func(t *testing.T, s *jpconfig.Sources, config string) {
	file := func(name string) func(*testing.T, *jpconfig.Sources, string) {
		return func(t *testing.T, s *jpconfig.Sources, config string) {
			write(t, s.Workspace, map[string]string{name: config})
		}
	}
	return map[string]func(t *testing.T, s *jpconfig.Sources, config string){
		"workspace":   file(".jp/config.json"),
		"below":       file(".jp/config.d/deep/x.json"),
		"directory":   file("sub/.jp.json"),
		"base_config": func(_ *testing.T, s *jpconfig.Sources, config string) { s.Base = []byte(config) },
		"delta": func(_ *testing.T, s *jpconfig.Sources, config string) {
			s.Stream = events.New(events.NewElement(time.Unix(0, 0),
				&events.ConfigDelta{Delta: []byte(config)}, events.Metadata{}))
		},
		"-c FILE": func(t *testing.T, s *jpconfig.Sources, config string) {
			file("named.json")(t, s, config)
			s.Options = []string{"@" + filepath.Join(s.Workspace, "named.json")}
		},
		"extended by the user": func(t *testing.T, s *jpconfig.Sources, config string) {
			file("named.json")(t, s, config)
			path := filepath.Join(s.User, "config.json")
			var tree map[string]any
			data, err := os.ReadFile(path)
			if err != nil || json.Unmarshal(data, &tree) != nil {
				t.Fatal(err)
			}
			tree["extends"] = []any{map[string]string{
				"path": filepath.Join(s.Workspace, "named.json"), "strategy": "after",
			}}
			write(t, s.User, map[string]string{"config.json": encode(t, tree)})
		},
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostileValues are values that an attacker may write for a key, whatever its type.
func hostileValues() []any {
	list := []any{"evil", map[string]any{"path": "/", "external": true, "content": "evil"}}
	return []any{
		nil, true, false, 0, -1, 1, 1e300, "", "evil", "off", "none", "unattended",
		"anthropic/evil", "mine/other",
		strings.Repeat("x", 300), list,
		[]any{},
		map[string]any{},
		map[string]any{"evil": "x"},
		map[string]any{"value": "evil", "strategy": "replace"},
		map[string]any{"value": []any{}, "strategy": "replace"},
		map[string]any{"value": list, "strategy": "prepend"},
		map[string]any{"value": map[string]any{"evil": 1}, "strategy": "replace"},
		map[string]any{"value": "evil", "discard_when_merged": true, "strategy": "append"},
		[]any{map[string]any{"type": "url", "url": "https://evil.example", "name": "x"}},
	}
}

// nest returns a value at a path.
func nest(path []string, v any) map[string]any {
	for i := len(path) - 1; i > 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return map[string]any{path[0]: v}
}

// users returns a configuration of the user with a value for every key.
func users() map[string]any {
	all := map[string]any{}
	for _, key := range jpconfig.KnownKeys() {
		path := pathOf(key)
		if slices.Contains([]string{"extends", "inherit", "loader"}, path[0]) {
			continue
		}
		join(all, nest(path, usersValue(key)))
	}
	return all
}

// usersValue returns a value of the key's type.
func usersValue(key string) any {
	switch last := key[strings.LastIndexByte(key, '.')+1:]; last {
	case "system_prompt", "id":
		return "mine/own"
	case "instructions", "system_prompt_sections":
		return []any{map[string]any{"title": "mine", "content": "mine"}}
	case "attachments", "config_load_paths", "envs", "stop_words", "rules", "beta_headers",
		"auth", "arguments", "variables", "fs", "env", "net":
		return []any{"file:mine", "file:own"}
	}
	return "mine"
}

// join merges tables. Existing values stay.
func join(to, from map[string]any) {
	for name, v := range from {
		have, there := to[name]
		a, isTable := have.(map[string]any)
		b, joins := v.(map[string]any)
		switch {
		case !there:
			to[name] = v
		case isTable && joins:
			join(a, b)
		}
	}
}

// leaves returns the leaves of a tree by dotted key.
func leaves(at string, v any, into map[string]any) map[string]any {
	table, ok := v.(map[string]any)
	if !ok {
		into[at] = v
		return into
	}
	for name, v := range table {
		leaves(strings.TrimPrefix(at+"."+name, "."), v, into)
	}
	return into
}

func effective(t testing.TB, s jpconfig.Sources) (*jpconfig.Config, map[string]any) {
	t.Helper()
	c := load(t, s)
	return c, leavesOf(t, c)
}

// leavesOf returns the leaves of the effective configuration.
func leavesOf(t testing.TB, c *jpconfig.Config) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(c.JSON(), &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "extends") // set by this test itself
	return leaves("", tree, map[string]any{})
}

// isAdmitted reports whether a foreign layer may change a key: by a row of the table, or because it
// can only be read through a gate.
func isAdmitted(c *jpconfig.Config, key string, own bool) bool {
	path := strings.Split(key, ".")
	for _, guarded := range []string{
		"conversation.attachments", "conversation.labels.", "conversation.tools.", "editor.cmd",
		"editor.envs", "plugins.command.", "providers.mcp.",
	} {
		if strings.HasPrefix(key, guarded) {
			return true
		}
	}
	for n := len(path); n > 0; n-- {
		row, ok := harmless.Find(path[:n])
		if ok {
			v, _, said := c.Value(path[:n]...)
			return said && row.Admits(v) && (!own || !row.Yields)
		}
	}
	last := path[len(path)-1]
	return strings.HasPrefix(key, "providers.llm.") &&
		(strings.HasPrefix(last, "base_url") || strings.Contains(key, ".api_key_env"))
}

// scenes are workspaces of a user who sets no key, and of one who sets every key.
func scenes(t *testing.T) map[string]func() jpconfig.Sources {
	make := func(config string) func() jpconfig.Sources {
		return func() jpconfig.Sources {
			s := sources(t, map[string]string{"ws/sub/x": ""})
			s.Dir = filepath.Join(s.Workspace, "sub")
			write(t, s.User, map[string]string{"config.json": config})
			return s
		}
	}
	return map[string]func() jpconfig.Sources{
		"nothing": make("{}"), "everything": make(encode(t, users())),
	}
}

// everyKey returns a configuration with one value for every key. If one key is above another, the
// first one by name counts.
func everyKey(t *testing.T, v any, reversed bool) map[string]any {
	keys := jpconfig.KnownKeys()
	if reversed {
		slices.Reverse(keys)
	}
	all := map[string]any{}
	for _, key := range keys {
		var own any // a copy, since the next key may be put into it
		if err := json.Unmarshal([]byte(encode(t, v)), &own); err != nil {
			t.Fatal(err)
		}
		join(all, nest(pathOf(key), own))
	}
	return all
}

func pathOf(key string) []string {
	return strings.Split(strings.ReplaceAll(key, "*", "x"), ".")
}

// TestAnAllowListDecides tries every key, layer and value. It includes new keys as soon as they are
// known; they need an approval until the table has them.
func TestAnAllowListDecides(t *testing.T) {
	for scene, fresh := range scenes(t) {
		_, before := effective(t, fresh())
		for layer, put := range foreignLayers() {
			for n, v := range hostileValues() {
				for _, reversed := range []bool{false, true} {
					if reversed != (n%2 == 0) && os.Getenv("GIT_JP_SOAK") == "" {
						continue
					}
					s := fresh()
					put(t, &s, encode(t, everyKey(t, v, reversed)))
					c, after := effective(t, s)
					what := fmt.Sprintf("the user says %s, value %d in %s", scene, n, layer)
					judgeEffect(t, what, c, before, after)
				}
			}
		}
	}
}

// judgeEffect fails if a foreign layer changed a setting that only the user may change.
func judgeEffect(t *testing.T, what string, c *jpconfig.Config, before, after map[string]any) {
	t.Helper()
	for key, v := range after {
		was, said := before[key]
		if said && encode(t, was) == encode(t, v) {
			continue
		}
		if !isAdmitted(c, key, said) {
			t.Errorf("%s: %s is %s, was %s", what, key, encode(t, v), encode(t, was))
		}
	}
	for key, was := range before {
		v, there := after[key]
		if !strings.Contains(encode(t, was), "mine") {
			continue // built in
		}
		if there && !lost(was, v) || !there && isAdmitted(c, key, true) {
			continue
		}
		t.Errorf("%s: %s was %s, is %s", what, key, encode(t, was), encode(t, v))
	}
}

// lost reports whether elements of a user's list, or text of a prompt, are gone.
func lost(was, is any) bool {
	if text, ok := was.(string); ok && text == "mine/own" {
		after, _ := is.(string) // a prompt, or a model of the same provider
		return !strings.Contains(after, text) && after != "mine/other"
	}
	mine, ok := was.([]any)
	if !ok {
		return false
	}
	theirs, ok := is.([]any)
	next := 0
	for _, v := range theirs {
		if next < len(mine) && fmt.Sprint(v) == fmt.Sprint(mine[next]) {
			next++
		}
	}
	return !ok || next < len(mine)
}

// TestNothingTakesAwayWhatTheUserSays tries each way to remove or replace a value.
func TestNothingTakesAwayWhatTheUserSays(t *testing.T) {
	fresh := scenes(t)["everything"]
	_, before := effective(t, fresh())
	ways := map[string]string{
		"inherit":        `{"inherit":false}`,
		"reset to none":  `{"loader":{"reset":"none"}}`,
		"reset":          `{"loader":{"reset":"workspace"}}`,
		"load paths":     `{"config_load_paths":{"value":[],"strategy":"replace"}}`,
		"extends":        `{"extends":[]}`,
		"extends itself": `{"extends":["../../user/*"]}`,
	}
	for n := 1; n <= 5; n++ {
		for name, v := range map[string]any{
			"null": nil, "text": "evil", "list": []any{},
			"replace": map[string]any{"value": map[string]any{}, "strategy": "replace"},
			"discard": map[string]any{
				"value": map[string]any{}, "strategy": "replace", "discard_when_merged": true,
			},
		} {
			all := map[string]any{}
			for _, key := range jpconfig.KnownKeys() {
				if path := pathOf(key); len(path) > n {
					join(all, nest(path[:n], v))
				}
			}
			ways[fmt.Sprintf("%s at level %d", name, n)] = encode(t, all)
		}
	}
	index, dots := map[string]any{}, map[string]any{}
	for _, key := range jpconfig.KnownKeys() {
		join(index, nest(append(pathOf(key), "0"), "evil"))
		dots[key], dots[key+".0"] = "evil", nil
	}
	ways["indexes"], ways["dots"] = encode(t, index), encode(t, dots)
	for way, config := range ways {
		for layer, put := range foreignLayers() {
			s := fresh()
			put(t, &s, config)
			c, after := effective(t, s)
			judgeEffect(t, way+" in "+layer, c, before, after)
		}
	}
}

// TestToolsStayRestricted: what the user sets for all tools is not lifted for one of them, and a
// built-in tool does not get a second name under which the user's settings for it do not hold.
func TestToolsStayRestricted(t *testing.T) {
	const closed = `[conversation.tools.'*']
enable = false
run = "ask"
result = "ask"
access.fs = [{path = "src", read = true}]
`
	for _, tt := range []struct{ mine, foreign, want string }{
		{closed, "[conversation.tools.x]\nenable = true", `{}`},
		{closed, "[conversation.tools.x]\nenable = 'explicit'", `{}`},
		{closed, "[conversation.tools.x]\nenable = {state = true}", `{}`},
		{closed, "[conversation.tools.x]\nrun = 'unattended'\nresult = 'unattended'", `{}`},
		{closed, "[conversation.tools.x]\naccess.fs = [{path = '.', read = true}]", `{}`},
		{
			closed, "[conversation.tools.x]\nenable = false\nrun = 'skip'",
			`{"enable":false,"run":"skip"}`,
		},
		{
			"[conversation.tools.'*']\nenable = true",
			"[conversation.tools.x]\nenable = {state = false, allow_toggle = 'any'}",
			`{"enable":{"allow_toggle":"any","state":false}}`,
		},
		{
			"[conversation.tools.'*']\nenable = 'explicit'",
			"[conversation.tools.x]\nenable = {state = false, allow_toggle = 'if_named'}",
			`{"enable":{"allow_toggle":"if_named","state":false}}`,
		},
		{
			"[conversation.tools.'*']\nenable = true",
			"[conversation.tools.x]\nenable = {state = false, allow_toggle = 'if_named'}", `{}`,
		},
		{
			"[conversation.tools.'*']\nrun = 'skip'\nresult = 'skip'",
			"[conversation.tools.x]\nenable = true\nrun = 'ask'\nresult = 'ask'", `{"enable":true}`,
		},
		{
			"[conversation.tools.'*']\nrun = 'unattended'", "[conversation.tools.x]\nrun = 'ask'",
			`{"run":"ask"}`,
		},
		{closed, "[conversation.tools.x]\nsource = 'local'\ncommand = 'x'\nenable = true\n" +
			"result = 'unattended'", `{"enable":true,"source":"local"}`},
		{
			closed, "[conversation.tools.x]\nsource = 'mcp.s'\nenable = true\nrun = 'unattended'",
			`{"run":"unattended","source":"mcp.s"}`,
		},
		{
			"", "[conversation.tools.x]\nenable = true\nrun = 'unattended'",
			`{"enable":true,"run":"unattended"}`,
		},
		{
			"", "[conversation.tools.x]\nsource = 'builtin.fs_read_file'\nenable = true",
			`{"enable":true}`,
		},
		{
			"[conversation.tools.x]\nsource = 'builtin.fs_read_file'", "",
			`{"source":"builtin.fs_read_file"}`,
		},
		{"", "[conversation.tools.x]\nsource = 'builtin.x'", `{"source":"builtin.x"}`},
		{"providers.mcp.s.command = 'mine'", "[conversation.tools.x]\nsource = 'mcp.s.delete'", `{}`},
		{"providers.mcp.s.url = 'https://s'", "[conversation.tools.x]\nsource = 'mcp.s'", `{}`},
		{
			"providers.mcp.s.command = 'mine'\n[conversation.tools.x]\nsource = 'mcp.s.read'",
			"[conversation.tools.x]\nsource = 'mcp.s.delete'", `{"source":"mcp.s.read"}`,
		},
		{
			"", "providers.mcp.s.command = 'a'\n[conversation.tools.x]\nsource = 'mcp.s.y'",
			`{"source":"mcp.s.y"}`,
		},
	} {
		s := sources(t, map[string]string{
			"user/config.toml": tt.mine, "ws/.jp/config.toml": tt.foreign,
		})
		if got := string(load(t, s).Tool("x").JSON); got != tt.want && got+tt.want != `{}` {
			t.Errorf("the user says %q, the repository %q: %s, want %s", tt.mine, tt.foreign,
				got, tt.want)
		}
	}
}

// TestAnApprovedSettingCounts checks that an approved setting counts, and that its claim keeps its
// key and value.
func TestAnApprovedSettingCounts(t *testing.T) {
	s := sources(t, map[string]string{"ws/.jp/config.toml": `
[assistant.model.parameters]
seed = 4
mcp_servers = [{type = "url", url = "https://evil.example"}]
temperature = 0.5
`})
	c := load(t, s)
	if got := value(c, "assistant.model.parameters"); got != `{"temperature":0.5}` {
		t.Errorf("parameters are %s", got)
	}
	claims := c.Claims()
	if len(claims) != 2 || claims[1].Kind != trust.Setting || claims[1].Value != "4" ||
		!strings.HasPrefix(claims[1].Origin, ".jp/config.toml:") {
		t.Fatalf("claims are %+v", claims)
	}
	s.Approved = func(c trust.Claim) bool { return c.Key == "assistant.model.parameters.seed" }
	if got := value(load(t, s), "assistant.model.parameters"); got != `{"temperature":0.5,"seed":4}` &&
		got != `{"seed":4,"temperature":0.5}` {
		t.Errorf("parameters are %s", got)
	}
}

// TestAClaimNamesWhatTakesPrecedence: of several files that say a value the claim names the one that
// decides, where the user has to look.
func TestAClaimNamesWhatTakesPrecedence(t *testing.T) {
	const form = "[[assistant.model.parameters.mcp_servers]]\ntype = 'url'\nurl = 'https://%s.example'\n"
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": fmt.Sprintf(form, "workspace"),
		"ws/.jp.toml":        fmt.Sprintf(form, "directory"),
	})
	claims := load(t, s).Claims()
	if len(claims) != 1 || !strings.HasPrefix(claims[0].Origin, ".jp.toml:") {
		t.Errorf("claims are %+v", claims)
	}
}
