package requests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/scripts"
)

// TestNoFlagChangesThePrefix continues a conversation that has results, attachments, refreshed
// resources, and a tool of a server, with each flag that query has, for each provider: a request
// begins with all of the one before it, as the provider's cache counts it, and tools and system
// prompt are the same in every conversation. A new flag needs a row in the tables below, with how
// it is given or with why it may change them.
func TestNoFlagChangesThePrefix(t *testing.T) {
	scripts.DependOnSources(t)
	flags := queryFlags(t)
	formats := map[wire.Format]bool{}
	for _, p := range models.Providers() {
		again := formats[p.Format] && !scripts.Soaks()
		formats[p.Format] = true
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, p)
			s.converse()
			for _, flag := range flags {
				if !again || !slices.Contains(beside(), flag) {
					s.flag(flag)
				}
			}
			s.follow("without a flag", s.ask(nil))
			t.Logf("%d requests", s.model.count())
		})
	}
}

// unswept are the flags that the sweep leaves out, and why.
func unswept() map[string]string {
	return map[string]string{
		"tool": "the user changes the tools", "no-tool": "the user changes the tools",
		"tool-use": "the user says for this answer which tools are called; false takes them away " +
			"where a provider knows no other way to forbid them",
		"no-tool-use": "as --tool-use=false",
		"config":      "the user changes the configuration",
		"model":       "another model has nothing of the prompt yet",
		"explain":     "nothing is sent", "help": "nothing is sent",
	}
}

// swept says how the others are given.
func swept() map[string][]string {
	return map[string][]string{
		"directory": {"--directory=."}, "quiet": {"-q"}, "verbose": {"-v"}, "json": {"--json"},
		"offline":  {"--offline"},
		"no-color": {"--no-color"}, "new": {"--new"}, "id": {"--id", "."}, "fork": {"--fork"},
		"compact": {"--compact=strip-reasoning+dedup-tools"}, "yes": {"--yes"},
		"replay": {"--replay"}, "local": {"--new", "--local"}, "no-local": {"--new", "--no-local"},
		"tmp": {"--new", "--tmp=1h"}, "attach": {"--attach", "b.txt"},
		"param": {"--param", "temperature=0.5"}, "reasoning": {"--reasoning", "high"},
		"no-reasoning": {"--no-reasoning"}, "schema": {"--schema", "name"}, "edit": {"--edit"},
		"no-edit": {"--no-edit"}, "quote": {"--quote"}, "title": {"--title", "x"},
		"no-title": {"--no-title"}, "label": {"--label", "k=v"},
		"max-cost": {"--max-cost=0"}, "no-persist": {"--no-persist"},
		"hide-reasoning": {"--hide-reasoning"}, "hide-tool-calls": {"--hide-tool-calls"},
	}
}

// beside are the flags that no code of a provider reads: what is printed, and where a conversation
// is kept and what it is called. One provider of each format is asked with them; a soak asks all.
func beside() []string {
	return []string{
		"directory", "quiet", "verbose", "json", "offline", "no-color", "id", "yes", "local",
		"no-local", "tmp", "title", "no-title", "label", "max-cost", "hide-reasoning",
		"hide-tool-calls",
	}
}

// A promptChange is what a flag may change of a prompt.
type promptChange struct {
	lead  bool // the beginning of every request
	said  bool
	stays bool // for the following requests, too
	why   string
}

// ofPrompt returns which parts of a sent prompt a flag may change: for every provider, or for one
// format.
func ofPrompt(flag string, f wire.Format) promptChange {
	switch {
	case flag == "compact":
		return promptChange{said: true, stays: true, why: "the user has something taken out"}
	case flag == "schema" && (f == wire.FormatAnthropic || f == wire.FormatResponses):
		return promptChange{lead: true, why: "the provider reads the form of an answer first"}
	case (flag == "reasoning" || flag == "no-reasoning") && f == wire.FormatAnthropic:
		return promptChange{lead: true, stays: true, why: "the provider counts how much is thought"}
	}
	return promptChange{}
}

// queryFlags returns the names of the flags of query, with those of every command.
func queryFlags(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git-jp", "__complete", "--", "query", "--").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(strings.ReplaceAll(strings.TrimSpace(string(out)), "--", ""), "\n")
	if len(names) < 30 {
		t.Fatalf("the flags are %q", names)
	}
	return names
}

// A sweep is a repository with a model that records its requests.
type sweep struct {
	t      *testing.T
	format wire.Format
	dir    string
	env    []string
	model  *promptedModel
	first  llmtest.Prompt // of a conversation without its own settings
	last   llmtest.Prompt
}

func newSweep(t *testing.T, p models.Provider) *sweep {
	t.Helper()
	r, config := gittest.Repo(t), t.TempDir()
	server := scripts.NewMCPServer()
	t.Cleanup(server.Close)
	settings := `[providers.mcp.docs]
type = "http"
url = "` + server.URL + `"
headers = { X-Word = "please" }
[conversation.tools.look]
source = "mcp.docs"
run = "unattended"
`
	for name, data := range map[string]string{
		filepath.Join(r.Dir, "a.txt"):              strings.Repeat("what is attached, at length\n", 30),
		filepath.Join(r.Dir, "b.txt"):              "attached\n",
		filepath.Join(config, "jp", "config.toml"): settings,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := servePrompted(t, p.Format)
	name := map[string]string{
		"anthropic": "claude-sonnet-4-6", "openai": "gpt-5.6-sol", "google": "gemini-3-pro-preview",
		"deepseek": "deepseek-v4-pro", "mistral": "mistral-small-latest",
	}[p.Name]
	if name == "" {
		name = "m"
	}
	env := append(slices.Clone(r.Env), "JP_SESSION=prefix", "XDG_DATA_HOME="+t.TempDir(),
		"JP_CFG_PROVIDERS_LLM_"+strings.ToUpper(p.Name)+"_BASE_URL="+model.url,
		"JP_CFG_ASSISTANT_MODEL_ID="+p.Name+"/"+name,
		"GIT_EDITOR=f() { echo more >>\"$1\"; }; f", "XDG_CONFIG_HOME="+config)
	if p.KeyEnv != "" {
		env = append(env, p.KeyEnv+"=key")
	}
	return &sweep{t: t, format: p.Format, dir: r.Dir, env: env, model: model}
}

// converse makes a conversation with every kind of content.
func (s *sweep) converse() {
	const read, refresh, look = `fs_read_file {"path":"a.txt"}`, `refresh_resource {"uri":"file:a.txt"}`, "look {}"
	s.first = s.ask(nil, "--new")[0]
	s.last = s.first
	s.follow("reading", s.ask([]string{read}))
	s.follow("attaching", s.ask(nil, "-a", "a.txt"))
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("it is another\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.follow("refreshing", s.ask([]string{refresh, read}))
	s.follow("a tool of a server", s.ask([]string{look, read}))
}

// flag asks with a flag. The next one continues from there.
func (s *sweep) flag(name string) {
	s.t.Helper()
	_, left := unswept()[name]
	args, ok := swept()[name]
	if ok == left {
		s.t.Errorf("--%s: how is it given, or why does it change the prompt?", name)
	}
	if !ok {
		return
	}
	if slices.Contains(args, "--new") {
		s.follow("before --"+name, s.ask(nil))
		s.last = llmtest.Prompt{Lead: s.first.Lead}
	}
	before := s.last
	c, sent := ofPrompt(name, s.format), s.ask(nil, args...)
	if c.said {
		s.last.Said = ""
	}
	if c.lead {
		if sent[0].Lead == s.last.Lead {
			s.t.Errorf("--%s changes nothing, though %s", name, c.why)
		}
		s.last.Lead = sent[0].Lead
	}
	s.follow("--"+name, sent)
	if !c.stays {
		s.last.Lead = before.Lead
	}
}

// follow verifies that each request begins with all of the one before it.
func (s *sweep) follow(what string, sent []llmtest.Prompt) {
	s.t.Helper()
	for _, p := range sent {
		if err := p.Continues(s.last); err != nil {
			s.t.Errorf("%s: %v", what, err)
		}
		s.last = p
	}
}

// ask asks, makes the model call tools, and returns the requests.
func (s *sweep) ask(calls []string, args ...string) []llmtest.Prompt {
	s.t.Helper()
	s.model.calls(calls)
	cmd := exec.Command("git-jp", append(append([]string{"query"}, args...), "--", "go on")...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	bodies := s.model.taken()
	if err != nil || len(bodies) != len(calls)+1 {
		s.t.Fatalf("git jp query %q: %v, asked %d times\n%s", args, err, len(bodies), out)
	}
	sent := make([]llmtest.Prompt, len(bodies))
	for i, body := range bodies {
		if sent[i], err = llmtest.PromptOf(s.format, body); err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(sent[i].Lead, `"look"`) || len(sent[i].Lead) < 1000 {
			s.t.Fatalf("the tools are %s", sent[i].Lead)
		}
	}
	return sent
}
