package jpconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/trust"
)

// write writes files below dir, by their slash paths.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sources creates a workspace and directories of the user. Names begin with ws/, user/ or silo/.
func sources(t *testing.T, files map[string]string) jpconfig.Sources {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	s := jpconfig.Sources{
		Workspace: filepath.Join(dir, "ws"), User: filepath.Join(dir, "user"),
		UserWorkspace: filepath.Join(dir, "silo"),
	}
	s.Dir = s.Workspace
	if err := os.MkdirAll(s.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t testing.TB, s jpconfig.Sources) *jpconfig.Config {
	t.Helper()
	c, err := jpconfig.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func value(c *jpconfig.Config, path string) string {
	v, _, ok := c.Value(strings.Split(path, ".")...)
	if !ok {
		return "-"
	}
	return string(v)
}

func TestLayers(t *testing.T) {
	name := func(v string) string {
		return fmt.Sprintf("assistant.name = %q\n[conversation.tools.%s]\nsource = 'builtin'\n", v, v)
	}
	files := map[string]string{
		"user/config.toml":   name("user"),
		"ws/.jp/config.toml": name("workspace"), "ws/.jp.toml": name("root"),
		"ws/a/b/.jp.toml": name("below"), "ws/c/.jp.toml": name("elsewhere"),
		"silo/config.toml": name("silo"),
	}
	at := time.Unix(0, 0)
	stream := events.New(events.NewElement(at,
		&events.ConfigDelta{Delta: []byte(`{"assistant":{"name":"delta"},"conversation":{"tools":{"delta":{"source":"builtin"}}}}`)}, events.Metadata{}))
	order := []struct {
		layer string
		add   func(*jpconfig.Sources)
	}{
		{"user", nil},
		{"workspace", nil},
		{"root", nil},
		{"below", nil},
		{"silo", nil},
		{"environment", func(s *jpconfig.Sources) {
			s.Environ = []string{"HOME=/", "JP_CFG_ASSISTANT_NAME=environment"}
		}},
		{"base", func(s *jpconfig.Sources) { s.Base = []byte(`{"assistant":{"name":"base"}}`) }},
		{"delta", func(s *jpconfig.Sources) { s.Stream = stream }},
		{"option", func(s *jpconfig.Sources) { s.Options = []string{"assistant.name=first", "assistant.name=option"} }},
		{"flag", func(s *jpconfig.Sources) {
			s.Flags = map[string][]byte{"--as": []byte(`{"assistant":{"name":"flag"}}`)}
		}},
	}
	s := sources(t, files)
	s.Dir = filepath.Join(s.Workspace, "a", "b")
	for _, step := range order[5:] {
		step.add(&s)
		c := load(t, s)
		if got := value(c, "assistant.name"); got != fmt.Sprintf("%q", step.layer) {
			t.Errorf("with %s the name is %s", step.layer, got)
		}
	}
	c := load(t, s)
	const tool = `{"source":"builtin"}`
	for layer, want := range map[string]string{
		"user": tool, "workspace": tool, "root": tool, "below": tool, "silo": tool, "elsewhere": "-", "delta": tool,
	} {
		if got := value(c, "conversation.tools."+layer); got != want {
			t.Errorf("conversation.tools.%s is %s, want %s", layer, got, want)
		}
	}
	for i, want := range []string{"silo", "below", "root", "workspace", "user"} {
		if i > 0 {
			paths := map[string]string{"below": s.UserWorkspace + "/config.toml", "root": s.Workspace + "/a/b/.jp.toml", "workspace": s.Workspace + "/.jp.toml", "user": s.Workspace + "/.jp/config.toml"}
			if err := os.Remove(paths[want]); err != nil {
				t.Fatal(err)
			}
		}
		if got := value(load(t, jpconfig.Sources{User: s.User, Workspace: s.Workspace, UserWorkspace: s.UserWorkspace, Dir: s.Dir}), "assistant.name"); got != fmt.Sprintf("%q", want) {
			t.Errorf("the name is %s, want %s", got, want)
		}
	}
}

// TestInherit checks that a file that does not inherit drops foreign settings below it, but none of
// the user's.
func TestInherit(t *testing.T) {
	c := load(t, sources(t, map[string]string{
		"user/config.toml":   "user.name = 'u'\nstyle.code.color = false\n",
		"ws/.jp/config.toml": "assistant.name = 'w'\nstyle.tool_call.show = false\n",
		"ws/.jp.toml":        "inherit = false\nstyle.markdown.theme = 'x'\n",
	}))
	for path, want := range map[string]string{
		"user.name": `"u"`, "style.code.color": "false", "assistant.name": "-",
		"style.tool_call.show": "-", "style.markdown.theme": `"x"`, "assistant.tool_choice": `"auto"`,
	} {
		if got := value(c, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for ext, text := range map[string]string{
		"toml":  "[style.code]\ncolor = false\n",
		"json":  `{"style": {"code": {"color": false}}}`,
		"json5": "{style: {code: {color: false,},}, /* x */}",
		"yaml":  "style:\n  code:\n    color: false\n",
		"yml":   "style: {code: {color: false}}",
	} {
		if got := value(load(t, sources(t, map[string]string{"ws/.jp/config." + ext: text})), "style.code.color"); got != "false" {
			t.Errorf("%s: color is %s", ext, got)
		}
		broken := sources(t, map[string]string{"ws/.jp/config." + ext: "{{{"})
		if _, err := jpconfig.Load(broken); err == nil || !strings.Contains(err.Error(), "config."+ext) {
			t.Errorf("%s: error is %v", ext, err)
		}
	}
	empty := load(t, sources(t, map[string]string{"ws/.jp/config.yaml": "", "user/config.toml": ""}))
	if len(empty.Warnings()) > 0 {
		t.Errorf("empty files: %v", empty.Warnings())
	}
}

func TestExtends(t *testing.T) {
	item := func(s string) string { return fmt.Sprintf("conversation.attachments = ['file:%s']\n", s) }
	files := map[string]string{
		"ws/.jp/config.toml":  `extends = ["parts/*.toml", {path = "last.yaml", strategy = "after"}, "../above.toml", "parts/a.toml"]` + "\n" + item("self"),
		"ws/.jp/parts/a.toml": "extends = ['sub/deep.toml']\n" + item("a"),
		"ws/.jp/parts/b.toml": item("b"), "ws/.jp/parts/readme.md": "# no configuration",
		"ws/.jp/parts/sub/deep.toml": item("deep"),
		"ws/.jp/last.yaml":           "conversation: {attachments: ['file:last']}",
		"ws/above.toml":              item("above"),
	}
	c := load(t, sources(t, files))
	want := `["file:deep","file:a","file:b","file:above","file:self","file:last"]`
	if got := value(c, "conversation.attachments"); got != want {
		t.Errorf("attachments are %s, want %s", got, want)
	}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}

	byDefault := load(t, sources(t, map[string]string{
		"ws/.jp/config.toml": item("self"), "ws/.jp/config.d/x/y.toml": item("y"),
	}))
	if got := value(byDefault, "conversation.attachments"); got != `["file:y","file:self"]` {
		t.Errorf("with config.d attachments are %s", got)
	}
}

func TestExtendsDoesNotLeaveTheWorkspace(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": `extends = ["../../secret.toml", "link.toml", "missing.toml", "../../*.toml", "/etc/x.toml"]`,
		"secret.toml":        "user.name = 'secret'\n",
	})
	if err := os.Symlink(filepath.Join(s.Workspace, "..", "secret.toml"), filepath.Join(s.Workspace, ".jp", "link.toml")); err != nil {
		t.Skip(err)
	}
	c := load(t, s)
	if got := value(c, "user.name"); got != "-" {
		t.Errorf("the name is %s", got)
	}
	if w := c.Warnings(); len(w) < 4 || !strings.Contains(w[0].String(), ".jp/config.toml:1: extends: no file") {
		t.Errorf("warnings are %v", w)
	}
}

// TestNoPathMakesAFileTheUsers names one foreign file by paths that hide where it is.
func TestNoPathMakesAFileTheUsers(t *testing.T) {
	s := sources(t, map[string]string{"ws/.jp/x.toml": "editor.cmd = 'evil'\n"})
	other := filepath.Join(filepath.Dir(s.Workspace), "other")
	if err := os.Symlink(s.Workspace, other); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(filepath.Dir(s.Workspace), "link.toml")
	if err := os.Symlink(filepath.Join(s.Workspace, ".jp", "x.toml"), file); err != nil {
		t.Skip(err)
	}
	write(t, s.User, map[string]string{
		"config.toml": fmt.Sprintf("config_load_paths = ['.']\nextends = [%q]\n", filepath.Join(s.Workspace, ".jp", "x.toml")),
	})
	for name, s := range map[string]jpconfig.Sources{
		"a link to the workspace": {Workspace: s.Workspace, Dir: s.Workspace, Options: []string{"@" + other + "/.jp/x.toml"}},
		"a link to the file":      {Workspace: s.Workspace, Dir: s.Workspace, Options: []string{"@" + file}},
		"the working directory":   {Workspace: s.Workspace, Dir: other, Options: []string{"@.jp/x.toml"}},
		"the workspace":           {Workspace: other, Dir: s.Workspace, Options: []string{".jp/x.toml"}},
		"what the user extends":   {Workspace: s.Workspace, User: s.User},
		"a path and no name":      {Workspace: s.Workspace, Dir: s.Workspace, User: s.User, Options: []string{"../ws/.jp/x.toml"}},
		"from above":              {Workspace: s.Workspace, Dir: filepath.Dir(s.Workspace), Options: []string{"@ws/../ws/.jp/x.toml"}},
	} {
		if _, foreign := load(t, s).Editor().Command.Claim(); !foreign {
			t.Errorf("%s: the file is taken for the user's", name)
		}
	}
	if _, err := jpconfig.Load(jpconfig.Sources{Workspace: "ws"}); err == nil {
		t.Error("a relative path is taken")
	}
}

// TestAHomeThatIsAWorkspace checks that the user's own files stay the user's in a workspace.
func TestAHomeThatIsAWorkspace(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/home/config.toml": "editor.cmd = 'vi'\n", "ws/.jp/config.toml": "user.name = 'x'\n",
	})
	s.User = filepath.Join(s.Workspace, "home")
	if claim, foreign := load(t, s).Editor().Command.Claim(); foreign {
		t.Errorf("asks about %+v", claim)
	}
}

// TestLoadPathsStayBelowTheirRoots checks that a committed load path does not make a file of the
// workspace count as one in the user's directory.
func TestLoadPathsStayBelowTheirRoots(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": "config_load_paths = ['../../ws/.jp/up', '/', '.jp/own']\n",
		"ws/.jp/up/x.toml":   "editor.cmd = 'evil'\n",
		"ws/.jp/own/x.toml":  "user.name = 'own'\n",
	})
	s.Options = []string{"x"}
	c := load(t, s)
	if value(c, "editor.cmd") != "-" || value(c, "user.name") != `"own"` {
		t.Errorf("editor is %s, name %s", value(c, "editor.cmd"), value(c, "user.name"))
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	c := load(t, sources(t, map[string]string{"ws/.jp/config.toml": `
assistant.nmae = "x"
future = {a = 1}
user.name = {first = "Ada"}
[conversation.tools.x]
source = "local"
comand = "x"
options.any.thing = 1
parameters.p.type = "string"
[conversation.deduplication]
enabled = false
[tools.x]
deduplicate = false
`}))
	var got []string
	for _, w := range c.Warnings() {
		got = append(got, w.String())
	}
	want := []string{
		".jp/config.toml:2: assistant.nmae: unknown key",
		".jp/config.toml:7: conversation.tools.x.comand: unknown key",
		".jp/config.toml:3: future: unknown key",
		".jp/config.toml:4: user.name.first: unknown key",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if v := value(c, "future.a"); v != "-" {
		t.Errorf("an unknown key is %s", v)
	}
}

func TestAWrongTypeCountsAsAbsent(t *testing.T) {
	c := load(t, sources(t, map[string]string{
		"user/config.toml": "assistant.model = {id = 'a/b', parameters = {max_tokens = 'many', top_k = 3}}\n",
	}))
	m, err := c.Model()
	if err != nil || m.Parameters.MaxTokens != nil || *m.Parameters.TopK != 3 {
		t.Errorf("model is %+v, %v", m, err)
	}
	n := 5
	if c.Decode(&n, "assistant", "model", "parameters", "max_tokens") || n != 5 {
		t.Errorf("decoded %d", n)
	}
	if _, err := c.Model(); err != nil {
		t.Error(err)
	}
	if w := c.Warnings(); len(w) != 1 || w[0].Key != "assistant.model.parameters.max_tokens" {
		t.Errorf("warnings are %v", w)
	}
}

// providersApproved approves sending conversations to any provider.
func providersApproved(c trust.Claim) bool { return c.Kind == trust.Provider }

func TestModels(t *testing.T) {
	const aliases = "[providers.llm.aliases]\nsonnet = 'anthropic/claude-sonnet-5'\n" +
		"mine = 'sonnet'\nloop = 'pool'\npool = 'loop'\n" +
		"table = {provider = 'openrouter', name = 'x/y'}\n"
	s := sources(t, map[string]string{"ws/.jp/config.toml": aliases})
	if id, err := load(t, s).ResolveModel("mine"); !errors.As(err, new(*trust.RefusedError)) {
		t.Errorf("somebody else's name leads to %s, %v", id, err)
	}
	s.Approved = providersApproved
	c := load(t, s)
	for name, want := range map[string]string{
		"sonnet": "anthropic/claude-sonnet-5", "mine": "anthropic/claude-sonnet-5",
		"openrouter/a/b": "openrouter/a/b", "table": "openrouter/x/y",
	} {
		if id, err := c.ResolveModel(name); err != nil || id.String() != want {
			t.Errorf("%s is %s, %v", name, id, err)
		}
	}
	for _, bad := range []string{"loop", "nobody", "", "/x", "x/"} {
		if id, err := c.ResolveModel(bad); err == nil {
			t.Errorf("%q is %s", bad, id)
		}
	}
	if _, err := c.Model(); !errors.Is(err, jpconfig.ErrNoModel) {
		t.Errorf("without a model: %v", err)
	}
	for text, want := range map[string]jpconfig.Reasoning{
		"'off'": {Effort: "off"}, "{effort = 'high', exclude = true}": {Effort: "high", Exclude: true},
		"{effort = 2000}": {Effort: "2000"}, "2000": {Effort: "2000"},
		"{effort = {absolute = 2000}}": {Effort: "2000"}, "{max_tokens = 2000}": {Effort: "2000"},
		"{exclude = true}": {Effort: "auto", Exclude: true},
	} {
		c := load(t, sources(t, map[string]string{
			"user/config.toml":   "assistant.model = {id = 'a/x', parameters = {seed = 4}}\n",
			"ws/.jp/config.toml": "assistant.model = {id = 'a/b', parameters = {reasoning = " + text + "}}\n",
		}))
		m, err := c.Model()
		if err != nil || m.Parameters.Reasoning != want || string(m.Parameters.Other["seed"]) != "4" {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
	}
}

// TestSystem expects jp's white space, as in jp's own tests.
func TestSystem(t *testing.T) {
	c := load(t, sources(t, map[string]string{"ws/.jp/config.toml": `
assistant.system_prompt = "prompt\n"
[[assistant.system_prompt_sections]]
tag = "two words"
title = 'a "b" <c> & d'
content = "\nless < more]]>\n"
position = 2
[[assistant.system_prompt_sections]]
title = "First"
content = "text"
position = -1
[[assistant.system_prompt_sections]]
tag = "empty"
content = "\n"
[[assistant.system_prompt_sections]]
content = "bare"
[[assistant.instructions]]
title = "How"
description = "Mind this"
items = ["one", "two"]
examples = ["like so", {good = "g", bad = "b", reason = "r"}, {good = "h", bad = "c"}]
[[assistant.instructions]]
title = "Only"
`}))
	want := []string{
		"prompt", "# First\n\ntext", "bare",
		"<instruction title=\"How\">\nMind this\n\n- one\n- two\n\n**Examples**\n\nlike so\n\n" +
			"Good: g\nBad: b\nReason: r\n\nGood: h\nBad: c\n</instruction>",
		"<two_words title=\"a &quot;b&quot; &lt;c&gt; &amp; d\">\n" +
			"<![CDATA[\nless < more]]]]><![CDATA[>\n]]>\n</two_words>",
	}
	if got := c.System(); !slices.Equal(got, want) {
		t.Errorf("system is %q\nwant %q", got, want)
	}
	if got := load(t, sources(t, nil)).System(); len(got) != 2 || got[0] != "You are a helpful assistant." {
		t.Errorf("by default it is %q", got)
	}
}

func TestSpeaker(t *testing.T) {
	for text, want := range map[string]string{
		`"p/n"`: "p/n", `"c"`: "x/y", `"a"`: "", `"z"`: "", `3`: "", `{"provider":"p"}`: "",
		`{"provider":"p","name":"q"}`: "p/q",
	} {
		c, err := settings.Parse([]byte(`{"assistant":{"model":{"id":`+text+`}},
			"providers":{"llm":{"aliases":{"a":"b","b":"a","c":"x/y"}}}}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := jpconfig.Speaker(c); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestWordsOfRequests(t *testing.T) {
	c := load(t, sources(t, map[string]string{"ws/.jp/config.toml": "user.name = 'Ada'\n" +
		"[assistant]\ntool_choice = false\nrequest.cache = true\n"}))
	if c.ToolChoice() != "none" || c.Cache() != "short" || c.Author() != "Ada" {
		t.Errorf("got %q, %q, %q", c.ToolChoice(), c.Cache(), c.Author())
	}
}

func TestDelta(t *testing.T) {
	s := sources(t, nil)
	s.Base = []byte(`{"extends":["x"],"user":{"name":"a"},"conversation":{"attachments":["file:a"]}}`)
	s.Options = []string{"conversation.attachments+=file:b", `{"extends":["y"]}`}
	c := load(t, s)
	delta, lost := c.Delta()
	if len(lost) > 0 || strings.Contains(string(delta), "extends") {
		t.Errorf("delta is %s, lost %v", delta, lost)
	}
	base, err := settings.Parse(s.Base, 0)
	if err != nil {
		t.Fatal(err)
	}
	next, err := settings.Parse(delta, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Base, s.Options = base.Merge(next).Plain(), nil
	again := load(t, s)
	if got, want := value(again, "conversation.attachments"), `["file:a","file:b"]`; got != want {
		t.Errorf("then attachments are %s", got)
	}
	if rest, _ := again.Delta(); string(rest) != "{}" {
		t.Errorf("then there is still %s", rest)
	}
}

// TestEmptyIsNotLost checks that the empty lists and tables that jp 4c1c39f1 writes into each
// conversation are not reported as settings that a delta cannot remove.
func TestEmptyIsNotLost(t *testing.T) {
	s := sources(t, nil)
	s.Base = []byte(`{"config_load_paths":[],"user":{"name":"a"},
		"assistant":{"model":{"parameters":{"stop_words":[],"other":{}}}},
		"conversation":{"attachments":{"value":[],"strategy":"replace"}}}`)
	s.Options = []string{"user.name:=null"}
	if _, lost := load(t, s).Delta(); !slices.Equal(lost, []string{"user.name"}) {
		t.Errorf("lost %v", lost)
	}
}

// realWorkspace creates a workspace with a real project's configuration.
func realWorkspace(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, ".jp"), os.DirFS(realdata.Dir(t, "jp-config"))); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestRealConfiguration reads a real project: its file with all that it extends, each persona, and
// the tools.
func TestRealConfiguration(t *testing.T) {
	root := realWorkspace(t)
	s := jpconfig.Sources{Workspace: root, Dir: root, Approved: providersApproved}
	c := load(t, s)
	m, err := c.Model()
	if err != nil || m.ID.String() != "anthropic/claude-sonnet-5" || m.Parameters.Reasoning.Effort != "auto" {
		t.Errorf("model is %+v, %v", m, err)
	}
	if n := len(c.ToolNames()); n < 40 {
		t.Errorf("%d tools", n)
	}
	if sections := c.Sections(); len(sections) < 10 || sections[0].Tag != "challenge_handling" {
		t.Errorf("%d sections", len(sections))
	}
	for _, w := range c.Warnings() {
		if !strings.HasPrefix(w.Key, "mcp") {
			t.Errorf("warning: %s", w)
		}
	}
	personas, err := filepath.Glob(filepath.Join(root, ".jp", "config", "personas", "*.toml"))
	if err != nil || len(personas) < 10 {
		t.Fatalf("%d personas, %v", len(personas), err)
	}
	for _, file := range personas {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		s.Options = []string{name}
		c := load(t, s)
		if _, err := c.Model(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "committer" {
			if got := value(c, "assistant.tool_choice"); got != `"auto"` {
				t.Errorf("committer's tool choice is %s, and nobody approved it", got)
			}
			if got := c.System()[0]; !strings.Contains(got, "Jean-Pierre") || !strings.Contains(got, "\n\nYou are an expert at committing") {
				t.Errorf("committer's prompt is %q", got)
			}
		}
	}
}

func TestRealConversations(t *testing.T) {
	for _, name := range []string{
		"17758406187-missing-date-in-version-string", "17800836875-jp-init-xdg-directory-issue-on-linux",
		"17648402467-flexible-llm-provider-architecture-design",
	} {
		dir := realdata.Dir(t, "conversations", name)
		s := sources(t, nil)
		s.Base, _ = os.ReadFile(filepath.Join(dir, "base_config.json"))
		data, err := os.ReadFile(filepath.Join(dir, "events.json"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Stream, err = events.Decode(data); err != nil {
			t.Fatal(err)
		}
		c := load(t, s)
		if m, err := c.Model(); err != nil && !errors.As(err, new(*trust.RefusedError)) {
			t.Errorf("%s: model %+v, %v", name, m, err)
		}
		for _, claim := range c.Claims() {
			if claim.Origin != "conversation" {
				t.Errorf("%s: %s from %q", name, claim.Key, claim.Origin)
			}
			if claim.Kind != trust.Provider && strings.HasPrefix(claim.Key, "providers.llm.") &&
				!strings.HasSuffix(claim.Key, ".beta_headers") {
				t.Errorf("%s: %s = %s is what is built in", name, claim.Key, claim.Value)
			}
		}
	}
}

func TestOrigins(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": "\nuser.name = 'x'\n", "user/config.toml": "editor.cmd = 'vi'\n",
	})
	s.Options = []string{"style.code.color=false"}
	s.Base = []byte(`{"assistant":{"name":"n"}}`)
	c := load(t, s)
	for path, want := range map[string]string{
		"user.name": ".jp/config.toml:2 workspace true", "style.code.color": "-c -c false",
		"assistant.name": "conversation conversation true", "assistant.tool_choice": "built in built in false",
	} {
		keys := strings.Split(path, ".")
		_, origins, _ := c.Value(keys...)
		o := origins[len(origins)-1]
		if got := fmt.Sprintf("%s %s %t", o.At(keys...), o.Layer, o.Foreign); got != want {
			t.Errorf("%s is from %s, want %s", path, got, want)
		}
	}
	if _, origins, _ := c.Value("editor", "cmd"); origins[0].Foreign || !strings.HasSuffix(origins[0].At("editor", "cmd"), "config.toml:1") {
		t.Errorf("editor.cmd is from %+v", origins)
	}
}
