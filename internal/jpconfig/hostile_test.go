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

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/trust"
)

// opened opens a guarded value.
func opened[T any](g trust.Guarded[T]) func(trust.Gate) error {
	return func(gate trust.Gate) error {
		_, err := g.Open(gate)
		return err
	}
}

// hostile lists the effects that a configuration can have: each with a hostile file, and the way in
// which a caller comes to act on it.
func hostile() []struct {
	name, config string
	kind         trust.Kind
	open         func(*jpconfig.Config) func(trust.Gate) error
} {
	return []struct {
		name, config string
		kind         trust.Kind
		open         func(*jpconfig.Config) func(trust.Gate) error
	}{
		{
			"a command as attachment", `{"conversation":{"attachments":["cmd:evil"]}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a command as table", `{"conversation":{"attachments":[{"type":"CMD","path":"sh","params":{"arg":["-c","evil"]}}]}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"an address as attachment", `{"conversation":{"attachments":["https://evil.example/"]}}`, trust.Host,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a file of the user's", `{"conversation":{"attachments":["file:///../../home/ada/.ssh/id"]}}`, trust.Path,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"an address in capitals", `{"conversation":{"attachments":["HTTP://evil.example/"]}}`, trust.Host,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a handler that nobody knows", `{"conversation":{"attachments":["xyz:evil"]}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a path of the user's", `{"conversation":{"attachments":["../../etc/passwd"]}}`, trust.Path,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a home directory", `{"conversation":{"attachments":["file:~/x"]}}`, trust.Path,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"a file above", `{"conversation":{"attachments":["file:a/%2e%2e/../x"]}}`, trust.Path,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Attachments()[0].URL) },
		},
		{
			"an MCP server", `{"providers":{"mcp":{"x":{"type":"stdio","command":"evil"}}},"conversation":{"tools":{"t":{"source":"mcp.x","run":"ask"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Server("x").Command.Guarded) },
		},
		{
			"an MCP server elsewhere", `{"providers":{"mcp":{"x":{"type":"http","url":"https://evil.example"}}}}`, trust.Host,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Server("x").URL.Guarded) },
		},
		{
			"a tool of a server that runs unasked", `{"conversation":{"tools":{"t":{"source":"mcp.mine.rm","run":"unattended"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Unattended) },
		},
		{
			"a tool that runs unasked", `{"conversation":{"tools":{"t":{"source":"local","command":"evil","run":"unattended"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Command.Guarded) },
		},
		{
			"a tool that asks", `{"conversation":{"tools":{"t":{"source":"local","command":{"program":"evil"},"run":"ask"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Command.Guarded) },
		},
		{
			"a command that shows arguments", `{"conversation":{"tools":{"t":{"source":"builtin","style":{"parameters":"evil"},"format":"unattended"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Formatter.Guarded) },
		},
		{
			"a command that shows all arguments", `{"conversation":{"tools":{"*":{"style":{"parameters":"evil"}},"t":{"source":"builtin"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Formatter.Guarded) },
		},
		{
			"a label", `{"conversation":{"labels":{"l":{"cmd":"evil"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Labels()[0].Command.Guarded) },
		},
		{
			"a label's value", `{"conversation":{"labels":{"l":{"value":{"cmd":"evil"},"run":"unattended"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Labels()[0].Command.Guarded) },
		},
		{
			"the editor", `{"editor":{"cmd":"evil"}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Editor().Command.Guarded) },
		},
		{
			"the editor's variables", `{"editor":{"envs":["EVIL"]}}`, trust.EnvVar,
			func(c *jpconfig.Config) func(trust.Gate) error {
				envs := c.Editor().Envs
				return opened(envs[len(envs)-1].Guarded)
			},
		},
		{
			"a provider's address", `{"providers":{"llm":{"openai":{"base_url":"https://evil.example"}}}}`, trust.Host,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Provider("openai").BaseURL.Guarded) },
		},
		{
			"the key of another provider", `{"providers":{"llm":{"openai":{"api_key_env":"ANTHROPIC_API_KEY"}}}}`, trust.EnvVar,
			func(c *jpconfig.Config) func(trust.Gate) error {
				return opened(c.Provider("openai").APIKeyEnv.Guarded)
			},
		},
		{
			"one of several keys", `{"providers":{"llm":{"vllm":{"api_key_env":{"work":"AWS_SECRET_ACCESS_KEY"}}}}}`, trust.EnvVar,
			func(c *jpconfig.Config) func(trust.Gate) error {
				return opened(c.Provider("vllm").APIKeyEnvs["work"].Guarded)
			},
		},
		{
			"a variable with an address", `{"providers":{"llm":{"openai":{"base_url_env":"EVIL"}}}}`, trust.EnvVar,
			func(c *jpconfig.Config) func(trust.Gate) error {
				return opened(c.Provider("openai").BaseURLEnv.Guarded)
			},
		},
		{
			"a plugin", `{"plugins":{"command":{"x":{"run":"unattended"}}}}`, trust.Process,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Plugins()[0].Run) },
		},
		{
			"a mount", `{"conversation":{"tools":{"t":{"source":"local","access":{"fs":[{"path":"/etc","external":true,"read":true}]}}}}}`, trust.Path,
			func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Outside[0].Guarded) },
		},
	}
}

func approvals(t *testing.T, dir string) *trust.Approvals {
	t.Helper()
	a, err := trust.Open(trust.Store{Dir: dir}, trust.Workspace{ID: "abcde", Root: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestNothingForeignActsWithoutApproval tries every effect of a configuration, in a committed file,
// in a file that -c names, and in a pulled conversation.
func TestNothingForeignActsWithoutApproval(t *testing.T) {
	ways := map[string]func(config string) jpconfig.Sources{
		"committed": func(config string) jpconfig.Sources {
			return sources(t, map[string]string{"ws/.jp/config.json": config})
		},
		"committed beside": func(config string) jpconfig.Sources {
			return sources(t, map[string]string{"ws/.jp.json": config})
		},
		"extended": func(config string) jpconfig.Sources {
			return sources(t, map[string]string{"ws/.jp/config.d/x.json": config, "ws/.jp/config.toml": ""})
		},
		"named by the user": func(config string) jpconfig.Sources {
			s := sources(t, map[string]string{"ws/.jp/x.json": config})
			s.Options = []string{"@.jp/x.json"}
			return s
		},
		"pulled": func(config string) jpconfig.Sources {
			s := sources(t, nil)
			s.Base = []byte(config)
			return s
		},
	}
	for _, row := range hostile() {
		for way, from := range ways {
			t.Run(row.name+", "+way, func(t *testing.T) {
				c := load(t, from(row.config))
				a := approvals(t, t.TempDir())
				err := row.open(c)(a)
				var refused *trust.RefusedError
				if !errors.As(err, &refused) {
					t.Fatalf("not refused: %v", err)
				}
				if refused.Claim.Kind != row.kind || refused.Claim.Origin == "" {
					t.Errorf("refused as %+v", refused.Claim)
				}
				if !strings.Contains(err.Error(), "git jp trust") {
					t.Errorf("the error does not name the approval: %v", err)
				}
				listed := false
				for _, claim := range c.Claims() {
					listed = listed || claim == refused.Claim
				}
				if !listed {
					t.Errorf("%s is not among the claims", refused.Claim.Key)
				}
				if err := a.Approve(time.Unix(0, 0), refused.Claim); err != nil {
					t.Fatal(err)
				}
				if err := row.open(c)(a); err != nil {
					t.Errorf("approved, and still: %v", err)
				}
			})
		}
	}
}

// TestWhatTheUserSaysNeedsNoApproval tries the same in the user's own layers: alone, and repeated
// by a conversation.
func TestWhatTheUserSaysNeedsNoApproval(t *testing.T) {
	for _, row := range hostile() {
		for way, s := range map[string]jpconfig.Sources{
			"user's file":    sources(t, map[string]string{"user/config.json": row.config}),
			"user's private": sources(t, map[string]string{"silo/config.json": row.config}),
			"command line":   {Options: []string{row.config}},
			"flag":           {Flags: map[string][]byte{"--x": []byte(row.config)}},
		} {
			for _, base := range []string{"", row.config} {
				if base != "" {
					s.Base = []byte(base)
				}
				if err := row.open(load(t, s))(approvals(t, t.TempDir())); err != nil {
					t.Errorf("%s, %s, conversation %q: %v", row.name, way, base, err)
				}
			}
		}
	}
}

// TestAnApprovalIsForTheExactValue changes an approved setting in each part that matters.
func TestAnApprovalIsForTheExactValue(t *testing.T) {
	tool := func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Tool("t").Command.Guarded) }
	server := func(c *jpconfig.Config) func(trust.Gate) error { return opened(c.Server("x").Command.Guarded) }
	for _, test := range []struct {
		name, before, after string
		open                func(*jpconfig.Config) func(trust.Gate) error
		want                bool
	}{
		{
			"spelled otherwise", `{"providers":{"mcp":{"x":{"type":"stdio","command":"a"}}}}`,
			`{"providers": {"mcp": {"x": {"command": "a", "type": "stdio"}}}}`, server, true,
		},
		{
			"arguments", `{"providers":{"mcp":{"x":{"type":"stdio","command":"a"}}}}`,
			`{"providers":{"mcp":{"x":{"type":"stdio","command":"a","arguments":["b"]}}}}`, server, false,
		},
		{
			"variables", `{"providers":{"mcp":{"x":{"type":"stdio","command":"a"}}}}`,
			`{"providers":{"mcp":{"x":{"type":"stdio","command":"a","variables":["SECRET"]}}}}`, server, false,
		},
		{
			"unasked", `{"conversation":{"tools":{"t":{"source":"local","command":"a","run":"ask"}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"a","run":"unattended"}}}}`, tool, false,
		},
		{
			"unasked like all", `{"conversation":{"tools":{"t":{"source":"local","command":"a"}}}}`,
			`{"conversation":{"tools":{"*":{"run":"unattended"},"t":{"source":"local","command":"a"}}}}`, tool, false,
		},
		{
			"its options", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"2"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"an option more", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1","y":"2"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"its answer", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":false}}}}}}`, tool, false,
		},
		{
			"an answer more", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"r":{"answer":"x"},"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"who answers", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true,"target":"assistant"}}}}}}`, tool, false,
		},
		{
			"the type of a parameter", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"integer","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"a parameter more", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"o":{},"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"a default", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","default":"-x","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"its access", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"access":{"fs":[{"path":"src","write":true}]},"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"a command that shows arguments", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"style":{"parameters":"evil"},"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"its source", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local.other","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"a shell", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":{"program":"just a {{tool.options.x}}","shell":true},"options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"its arguments", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just b {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, false,
		},
		{
			"a summary of a parameter", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"t","examples":"e","description":"d"}},"questions":{"q":{"answer":true}}}}}}`, tool, true,
		},
		{
			"its examples and style", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"examples":"e","style":{"hidden":true},"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, true,
		},
		{
			"that it asks", `{"conversation":{"tools":{"t":{"source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`,
			`{"conversation":{"tools":{"t":{"run":"ask","source":"local","command":"just a {{tool.options.x}}","options":{"x":"1"},"parameters":{"p":{"type":"string","summary":"s"}},"questions":{"q":{"answer":true}}}}}}`, tool, true,
		},
		{
			"its description", `{"conversation":{"tools":{"t":{"source":"local","command":"a"}}}}`,
			`{"conversation":{"tools":{"t":{"source":"local","command":"a","summary":"b"}}}}`, tool, true,
		},
	} {
		a := approvals(t, t.TempDir())
		with := func(config string) error {
			return test.open(load(t, sources(t, map[string]string{"ws/.jp/config.json": config})))(a)
		}
		var refused *trust.RefusedError
		if err := with(test.before); !errors.As(err, &refused) {
			t.Fatalf("%s: %v", test.name, err)
		}
		if err := a.Approve(time.Unix(0, 0), refused.Claim); err != nil {
			t.Fatal(err)
		}
		if err := with(test.after); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestUnattendedByTheUser checks that the user's own run mode does not change a claim.
func TestUnattendedByTheUser(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": "conversation.tools.t = {source = 'local', command = 'a', run = 'ask'}\n",
	})
	claim, _ := load(t, s).Tool("t").Command.Claim()
	s.Options = []string{"conversation.tools.t.run=unattended"}
	if again, foreign := load(t, s).Tool("t").Command.Claim(); !foreign || again != claim {
		t.Errorf("claim is %+v, was %+v", again, claim)
	}
}

// TestWhatIsGuardedIsNotBesideTheGuard searches the unguarded fields for commands, addresses and
// names.
func TestWhatIsGuardedIsNotBesideTheGuard(t *testing.T) {
	for _, row := range hostile() {
		c := load(t, sources(t, map[string]string{"ws/.jp/config.json": row.config}))
		var free []byte
		for _, name := range c.ToolNames() {
			free = append(append(free, c.Tool(name).JSON...), c.Tool(name).Defaults...)
		}
		for _, name := range c.ProviderNames() {
			free = append(free, c.Provider(name).JSON...)
		}
		for _, l := range c.Labels() {
			free = append(free, l.JSON...)
		}
		for _, word := range []string{"evil", "EVIL", "ANTHROPIC_API_KEY"} {
			if strings.Contains(string(free), word) {
				t.Errorf("%s: %s is free in %s", row.name, word, free)
			}
		}
	}
}

func TestHarmlessAttachments(t *testing.T) {
	c := load(t, sources(t, map[string]string{"ws/.jp/config.toml": `
conversation.attachments = ["file:src/main.rs", "file://docs/../a.md", "jp:jp-c1", "mcp+x:y",
  {type = "file", path = "a b", params = {exclude = ["x", "y"]}}, 7]
`}))
	all := c.Attachments()
	if len(all) != 5 || len(c.Warnings()) != 1 {
		t.Fatalf("%d attachments, %v", len(all), c.Warnings())
	}
	for _, a := range all {
		if claim, foreign := a.URL.Claim(); foreign {
			t.Errorf("asks about %+v", claim)
		}
	}
	if u, _ := all[4].URL.Open(nil); u != "file:a b?exclude=x&exclude=y" {
		t.Errorf("URL is %s", u)
	}
}

// TestTheRealConfigurationAsks counts the claims of a cloned project.
func TestTheRealConfigurationAsks(t *testing.T) {
	root := realWorkspace(t)
	c := load(t, jpconfig.Sources{Workspace: root, Dir: root})
	kinds := map[trust.Kind]int{}
	for _, claim := range c.Claims() {
		kinds[claim.Kind]++
		if !strings.HasPrefix(filepath.ToSlash(claim.Origin), ".jp/") {
			t.Errorf("%s is said by %q", claim.Key, claim.Origin)
		}
	}
	if kinds[trust.Process] < 40 || kinds[trust.Host] > 0 {
		t.Errorf("claims are %v", kinds)
	}
}

func BenchmarkLoad(b *testing.B) {
	root := realWorkspace(b)
	for b.Loop() {
		load(b, jpconfig.Sources{Workspace: root, Dir: root, Options: []string{"dev"}})
	}
}

// TestFilesThatACommandRuns checks that the claim of a command includes the content of the
// workspace's files that it runs.
func TestFilesThatACommandRuns(t *testing.T) {
	files := map[string]string{
		"ws/.jp/config.toml": "[conversation.tools]\n" +
			"j = {source = 'local', command = 'just x'}\n" +
			"p = {source = 'local', command = 'python3 tools/p.py {{tool.arguments.a}}'}\n" +
			"n = {source = 'local', command = 'wc {{tool.arguments.a}}'}\n" +
			"e = {source = 'local', command = {program = 'sh', args = ['e.sh'], 'argſ' = ['-c']}}\n" +
			"[providers.mcp.s]\ncommand = 'just'\narguments = ['serve']\n" +
			"[conversation]\nattachments = ['cmd:./a.sh x', 'cmd:cat notes', " +
			"'cmd://make?arg=a%2520b']\n" +
			"[conversation.labels]\nl = {value = {cmd = 'sh l.sh', 'CMD' = 'x'}, 'Value' = 1}\n" +
			"[editor]\ncmd = ['./edit', 'notes']\n",
		"ws/justfile": "x:\nimport 'sub/a.just'\nmod? m\n", "ws/tools/p.py": "pass\n",
		"ws/sub/a.just": "import \"b.just\"\n", "ws/sub/b.just": "import 'a.just'\n",
		"ws/Makefile": "-include rules.inc $(X)\n", "ws/rules.inc": "include more\n",
		"ws/a.sh": "", "ws/e.sh": "", "ws/l.sh": "", "ws/edit": "", "ws/notes": "", "ws/more": "",
	}
	values := func() map[string]string {
		all := map[string]string{}
		for _, claim := range load(t, sources(t, files)).Claims() {
			key := claim.Key
			if key == jpconfig.AttachmentsKey {
				_, key, _ = strings.Cut(claim.Value, "cmd:")
				key = "cmd:" + strings.Trim(key[:min(6, len(key))], "/")
			}
			all[key] = claim.Value
		}
		return all
	}
	before := values()
	if !strings.Contains(before["conversation.tools.j"], `"files":{"justfile":"`) ||
		!strings.Contains(before["conversation.tools.p"], `"files":{"tools/p.py":"`) ||
		strings.Contains(before["conversation.tools.n"], `"files"`) {
		t.Fatalf("claims are %q", before)
	}
	for _, change := range []struct{ file, text, changes string }{
		{"ws/justfile", "x:\n\tevil\n", "conversation.tools.j providers.mcp.s"},
		{"ws/.justfile", "", "conversation.tools.j providers.mcp.s"},
		{"ws/tools/p.py", "evil\n", "conversation.tools.p"},
		{"ws/other", "evil\n", ""},
		{"ws/sub/b.just", "evil\n", "conversation.tools.j providers.mcp.s"},
		{"ws/m/mod.just", "evil\n", "conversation.tools.j providers.mcp.s"},
		{"ws/m.just", "evil\n", "conversation.tools.j providers.mcp.s"},
		{"ws/more", "evil\n", "cmd:make"},
		{"ws/a.sh", "evil\n", "cmd:./a.sh"},
		{"ws/e.sh", "evil\n", "conversation.tools.e"},
		{"ws/l.sh", "evil\n", "conversation.labels.l"},
		{"ws/edit", "evil\n", "editor.cmd"},
		{"ws/notes", "changes with every day\n", ""},
	} {
		was := files[change.file]
		_, there := files[change.file]
		files[change.file] = change.text
		var changed []string
		for key, value := range values() {
			if before[key] != value {
				changed = append(changed, key)
			}
		}
		slices.Sort(changed)
		if got := strings.Join(changed, " "); got != change.changes {
			t.Errorf("%s changes %q, want %q", change.file, got, change.changes)
		}
		if files[change.file] = was; !there {
			delete(files, change.file)
		}
	}
}

// questions returns the questions for a workspace's configuration.
func questions(t *testing.T, c *jpconfig.Config) []trust.Group {
	t.Helper()
	return trust.Groups(c.Claims())
}

// TestAWorkspaceOfToolsIsAFewQuestions counts the questions after cloning a workspace of many
// tools: one runner for nearly all, a server, an attachment and a plugin.
func TestAWorkspaceOfToolsIsAFewQuestions(t *testing.T) {
	var tools strings.Builder
	tools.WriteString("[providers.mcp.docs]\ncommand = 'just'\narguments = ['serve-docs']\n" +
		"[plugins.command.ticket]\nrun = 'unattended'\n" +
		"[conversation]\nattachments = ['cmd:date']\n[conversation.tools.'*']\nrun = 'ask'\n")
	for i := range 50 {
		mode := []string{"ask", "unattended"}[i%2]
		fmt.Fprintf(&tools, "[conversation.tools.t%d]\nsource = 'local'\nrun = '%s'\n"+
			"command = 'just serve-tools {{context}} {{tool}}'\noptions.n = %d\n"+
			"parameters.p = {type = 'string'}\nstyle.parameters = 'just serve-tools {{context}} {{tool}}'\n", i, mode, i)
	}
	for i := range 7 {
		fmt.Fprintf(&tools, "[conversation.tools.r%d]\nsource = 'local'\ncommand = 'just r%d {{tool.arguments.a}}'\n", i, i)
		fmt.Fprintf(&tools, "[conversation.tools.m%d]\nsource = 'mcp.docs.m%d'\nrun = 'unattended'\n", i, i)
	}
	files := map[string]string{
		"ws/.jp/config.toml": tools.String(), "ws/justfile": "serve-tools:\n",
		"ws/.jp/persona.toml": "[conversation.tools]\nt0.run = 'unattended'\nt2.run = 'unattended'\n" +
			"r1.questions.sure.answer = true\n'*'.enable = false\nt1.enable = true\n",
	}
	s := sources(t, files)
	asked := questions(t, load(t, s))
	if len(asked) > 6 {
		t.Errorf("%d questions: %v", len(asked), asked)
	}
	approvals, err := trust.Open(trust.Store{Dir: t.TempDir()}, trust.Workspace{ID: "x", Root: "/ws"})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range asked {
		if err := approvals.Approve(time.Unix(0, 0), g.Claims...); err != nil {
			t.Fatal(err)
		}
	}
	s.Options = []string{"@" + filepath.Join(s.Workspace, ".jp", "persona.toml")}
	open := slices.DeleteFunc(load(t, s).Claims(), func(c trust.Claim) bool { return approvals.Allow(c) == nil })
	if more := trust.Groups(open); len(more) != 1 || len(open) != 3 {
		t.Errorf("a persona makes %d questions about %d settings: %v", len(more), len(open), more)
	}
}

// TestRealWorkspaceIsAFewQuestions counts the questions of a real workspace.
func TestRealWorkspaceIsAFewQuestions(t *testing.T) {
	dir := realdata.Dir(t, "jp-config")
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, ".jp"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	c := load(t, jpconfig.Sources{Workspace: root})
	asked := questions(t, c)
	if len(c.ToolNames()) < 50 || len(asked) == 0 || len(asked) > 6 {
		t.Errorf("%d questions about %d tools", len(asked), len(c.ToolNames()))
	}
}
