package jpconfig_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/jpconfig"
)

func TestOptions(t *testing.T) {
	files := map[string]string{
		"ws/.jp/config.toml": `
config_load_paths = [".jp/config", ".jp/config/personas"]
conversation.attachments = ["file:a"]
assistant.system_prompt = "be brief"
[conversation.tools.x]
source = "local"
options = {deep = {a = 1, b = 2}}
`,
		"ws/.jp/config/personas/dev.toml": "assistant.name = 'dev of ws'\nuser.name = 'ws'\n",
		"user/config.toml":                "config_load_paths = ['mine']\n",
		"user/config/mine/dev.toml":       "assistant.name = 'dev of user'\nstyle.code.color = false\n",
		"user/config/.jp/config/dev.toml": "style.code.line_numbers = true\n",
		"ws/own.toml":                     "assistant.name = 'own'\n",
		"ws/plain":                        "not read\n",
		"ws/both":                         `{"user":{"name":"ws"}}`,
		"user/config/mine/both.toml":      "style.code.color = false\n",
	}
	for _, test := range []struct{ option, path, want string }{
		{"@own.toml", "assistant.name", `"own"`},
		{"own.toml", "assistant.name", `"own"`},
		{"dev", "assistant.name", `"dev of ws"`},
		{"dev", "style.code.color", "false"},
		{"dev", "style.code.line_numbers", "-"}, // a foreign load path finds no file of the user's
		{"personas/dev", "user.name", `"ws"`},
		{"both", "user.name", `"ws"`},
		{"both", "style.code.color", "false"}, // a file of the repository does not replace it
		{"./both", "user.name", `"ws"`},
		{"./both", "style.code.color", "-"},
		{`{"user":{"name":"json"}}`, "user.name", `"json"`},
		{"user.name=a=b", "user.name", `"a=b"`},
		{`user.name:="q"`, "user.name", `"q"`},
		{"style.tool_call.show=false", "style.tool_call.show", "false"},
		{"assistant.request.max_retries=7", "assistant.request.max_retries", "7"},
		{"assistant.request.cache=off", "assistant.request.cache", `"off"`},
		{"assistant.model.parameters.temperature:=0.5", "assistant.model.parameters.temperature", "0.5"},
		{"conversation.attachments=file:b, file:c", "conversation.attachments", `["file:b","file:c"]`},
		{"conversation.attachments+=file:b", "conversation.attachments", `["file:a","file:b"]`},
		{`conversation.attachments:=["file:b"]`, "conversation.attachments", `["file:b"]`},
		{`conversation.attachments:+=["file:b"]`, "conversation.attachments", `["file:a","file:b"]`},
		{`conversation.attachments+:=["file:b"]`, "conversation.attachments", `["file:a","file:b"]`},
		{`conversation.attachments:+={"value":["file:b"],"strategy":"prepend"}`, "conversation.attachments", `["file:b","file:a"]`},
		{"assistant.system_prompt=other", "assistant.system_prompt", `"other"`},
		{"assistant.system_prompt+=and kind", "assistant.system_prompt", `"be brief\n\nand kind"`},
		{`conversation.tools.x.options:={"deep":{"b":3}}`, "conversation.tools.x.options", `{"deep":{"a":1,"b":3}}`},
		{"conversation.tools.x.enable=false", "conversation.tools.x.enable", "false"},
		{"conversation.tools.x.enable=explicit", "conversation.tools.x.enable", `"explicit"`},
		{"conversation.tools.*.run=unattended", "conversation.tools.*.run", `"unattended"`},
		{"nobody.knows=this", "nobody.knows", `"this"`},
	} {
		s := sources(t, files)
		s.Options = []string{test.option}
		if got := value(load(t, s), test.path); got != test.want {
			t.Errorf("-c %s: %s is %s, want %s", test.option, test.path, got, test.want)
		}
	}
	for _, bad := range []string{
		"nobody", "@nobody.toml", "{", "style.tool_call.show=maybe", "user.name:=x", "=x", "a..b=c", "conversation.attachments.1=file:b", "conversation.attachments.x=file:b",
		"conversation.attachments.0.sub=x", "conversation.attachments.-1=file:b", "assistant.request.max_retries=many",
	} {
		s := sources(t, files)
		s.Options = []string{bad}
		if _, err := jpconfig.Load(s); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("-c %s: error is %v", bad, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, test := range []struct{ variable, path, want string }{
		{"JP_CFG_ASSISTANT_MODEL_ID=opus", "assistant.model.id", `"opus"`},
		{"JP_CFG_STYLE_TOOL_CALL_SHOW=false", "style.tool_call.show", "false"},
		{"JP_CFG_ASSISTANT_SYSTEM_PROMPT=x", "assistant.system_prompt", `"x"`},
		{"JP_CFG_PROVIDERS_LLM_OPENAI_BASE_URL=http://x", "providers.llm.openai.base_url", `"http://x"`},
		{"JP_CFG_PROVIDERS_LLM_OPENAI_BASE_URL_ENV=X", "providers.llm.openai.base_url_env", `"X"`},
		{"JP_CFG_CONVERSATION_TOOLS_FS_READ_FILE_RUN=ask", "conversation.tools.fs_read_file.run", `"ask"`},
		{"JP_CFG_CONVERSATION_ATTACHMENTS=+file:b", "conversation.attachments", `["file:a","file:b"]`},
		{`JP_CFG_CONVERSATION_ATTACHMENTS=:["file:b"]`, "conversation.attachments", `["file:b"]`},
		{`JP_CFG_CONVERSATION_ATTACHMENTS=:+["file:b"]`, "conversation.attachments", `["file:a","file:b"]`},
		{`JP_CFG_USER_NAME=\:x`, "user.name", `":x"`},
		{`JP_CFG_USER_NAME=\+x`, "user.name", `"+x"`},
		{`JP_CFG_USER_NAME=\x`, "user.name", `"\\x"`},
	} {
		s := sources(t, map[string]string{"user/config.toml": "conversation.attachments = ['file:a']\n"})
		s.Environ = []string{test.variable}
		c := load(t, s)
		if got := value(c, test.path); got != test.want {
			t.Errorf("%s: %s is %s, want %s", test.variable, test.path, got, test.want)
		}
		if w := c.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", test.variable, w)
		}
	}
	s := sources(t, nil)
	s.Environ = []string{"JP_CFG_NOBODY_KNOWS=1"}
	if w := load(t, s).Warnings(); len(w) != 1 {
		t.Errorf("warnings are %v", w)
	}
}

func TestResets(t *testing.T) {
	files := map[string]string{
		"user/config.toml":   "user.name = 'user'\n",
		"ws/.jp/config.toml": "assistant.name = 'ws'\nassistant.tool_choice = 'none'\n",
		"ws/none.toml":       "loader.reset = 'none'\nstyle.code.color = false\n",
		"ws/workspace.toml":  "loader.reset = 'workspace'\nstyle.code.color = false\n",
	}
	base := `{"assistant":{"name":"conversation"},"user":{"name":"conversation"}}`
	for _, test := range []struct{ options, user, assistant, choice string }{
		{"", `"user"`, `"conversation"`, `"none"`},
		{"NONE", "-", "-", `"auto"`},
		{"WORKSPACE", `"user"`, `"ws"`, `"none"`},
		{"NONE assistant.name=a", "-", `"a"`, `"auto"`},
		{"assistant.name=a NONE", "-", "-", `"auto"`},
		{"assistant.name=a WORKSPACE user.name=b", `"b"`, `"ws"`, `"none"`},
		{"none.toml", `"user"`, "-", `"auto"`}, // a foreign file resets only foreign settings
		{"user.name=b @workspace.toml", `"b"`, `"ws"`, `"none"`},
	} {
		s := sources(t, files)
		s.Base = []byte(base)
		s.Options = strings.Fields(test.options)
		c := load(t, s)
		for path, want := range map[string]string{
			"user.name": test.user, "assistant.name": test.assistant, "assistant.tool_choice": test.choice,
		} {
			if got := value(c, path); got != want {
				t.Errorf("-c %s: %s is %s, want %s", test.options, path, got, want)
			}
		}
	}
}

func TestTakingAway(t *testing.T) {
	for _, test := range []struct{ option, path, want string }{
		{"user.name:=null", "user.name", "-"},
		{"assistant.tool_choice:=null", "assistant.tool_choice", `"auto"`}, // built in
		{"assistant.request:= null", "assistant.request.max_retries", "5"},
		{"conversation.tools.x:=null", "conversation.tools.x", "-"},
		{"conversation.tools.x:=null", "conversation.tools.y.source", `"local"`},
		{"conversation.attachments.0:=null", "conversation.attachments", `["file:b"]`},
		{"conversation.attachments.1=file:c", "conversation.attachments", `["file:a","file:c"]`},
		{`assistant.instructions.0.items:=["z"]`, "assistant.instructions", `[{"items":["z"],"title":"t"}]`},
		{"assistant.instructions.0.items.1=z", "assistant.instructions", `[{"items":["x","z"],"title":"t"}]`},
		{"assistant.instructions.0.title=5", "assistant.instructions", `[{"items":["x","y"],"title":"5"}]`},
		{"assistant.instructions.0.position=5", "assistant.instructions", `[{"items":["x","y"],"position":5,"title":"t"}]`},
		{"assistant.instructions.0.title:=null", "assistant.instructions", `[{"items":["x","y"]}]`},
		{"nobody.knows:=null", "nobody.knows", "-"},
	} {
		s := sources(t, map[string]string{"ws/.jp/config.toml": `
user.name = "ws"
conversation.attachments = ["file:a", "file:b"]
assistant.tool_choice = "none"
assistant.request.max_retries = 9
conversation.tools = {x = {source = "local"}, y = {source = "local"}}
[[assistant.instructions]]
title = "t"
items = ["x", "y"]
`})
		s.Options = []string{test.option}
		if got := value(load(t, s), test.path); got != test.want {
			t.Errorf("-c %s: %s is %s, want %s", test.option, test.path, got, test.want)
		}
	}
}

// TestAnElementIsNotTheList checks that a change of one element does not make the others the user's
// own.
func TestAnElementIsNotTheList(t *testing.T) {
	s := sources(t, map[string]string{
		"user/config.toml": "conversation.attachments = ['cmd:own']\n",
		"ws/.jp/config.toml": "conversation.attachments = ['cmd:evil', 'cmd:worse']\n" +
			"[providers.mcp.x]\ncommand = 'sh'\narguments = ['-c', 'evil']\n",
	})
	s.Options = []string{"conversation.attachments.1=cmd:mine", "providers.mcp.x.arguments.0=-e"}
	c := load(t, s)
	var got []string
	for _, a := range c.Attachments() {
		u, kind := shown(a)
		got = append(got, u+" "+string(kind))
	}
	if want := []string{"cmd:own ", "cmd:mine ", "cmd:worse process"}; !slices.Equal(got, want) {
		t.Errorf("attachments are %q, want %q", got, want)
	}
	if _, foreign := c.Server("x").Command.Claim(); !foreign {
		t.Error("an argument made the server the user's own")
	}
}
