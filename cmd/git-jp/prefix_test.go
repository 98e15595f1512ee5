package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestNoFlagChangesThePrefix asks once, and again with each flag that query has: what the prompt
// begins with, the tools, their order and their definitions, has the same bytes. A flag that is
// new stands below, with how it is given or with why it may change them.
func TestNoFlagChangesThePrefix(t *testing.T) {
	changes := map[string]string{
		"tool": "the user changes them", "no-tool": "the user changes them",
		"tool-use":    "false takes them away where a provider knows no other way to forbid them",
		"no-tool-use": "as --tool-use=false",
		"config":      "the configuration changes them",
		"model":       "another model has nothing of the prompt yet",
		"explain":     "nothing is sent", "help": "nothing is sent",
	}
	given := map[string][]string{
		"directory": {"--directory=."}, "quiet": {"-q"}, "verbose": {"-v"}, "json": {"--json"},
		"no-color": {"--no-color"}, "new": {"--new"}, "id": {"--id", "."}, "fork": {"--fork"},
		"compact": {"--compact=strip-reasoning+dedup-tools"}, "yes": {"--yes"},
		"replay": {"--replay"}, "local": {"--new", "--local"}, "no-local": {"--new", "--no-local"},
		"tmp": {"--new", "--tmp=1h"}, "attach": {"--attach", "a.txt"},
		"param": {"--param", "temperature=0.5"}, "reasoning": {"--reasoning", "high"},
		"no-reasoning": {"--no-reasoning"}, "schema": {"--schema", "name"}, "edit": {"--edit"},
		"no-edit": {"--no-edit"}, "quote": {"--quote"}, "title": {"--title", "x"},
		"no-title": {"--no-title"}, "label": {"--label", "k=v"},
		"hide-reasoning": {"--hide-reasoning"}, "hide-tool-calls": {"--hide-tool-calls"},
	}
	p := newPrompted(t)
	first := p.tools("--new", "-q")
	for _, flag := range queryFlags(t) {
		_, excepted := changes[flag]
		args, ok := given[flag]
		if ok == excepted {
			t.Errorf("--%s: how is it given, or why does it change the tools?", flag)
			continue
		}
		if excepted {
			continue
		}
		if got := p.tools(args...); got != first {
			t.Errorf("%v: the tools were %s, are %s", args, first, got)
		}
		if got := p.tools("-q"); got != first {
			t.Errorf("after %v: the tools were %s, are %s", args, first, got)
		}
	}
}

// queryFlags are the names of the flags of query, with those of every command.
func queryFlags(t *testing.T) []string {
	t.Helper()
	parser, err := kong.New(&cli{}, kongOptions(&world{})...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, node := range append(parser.Model.Children, parser.Model.Node) {
		if node != parser.Model.Node && node.Name != "query" {
			continue
		}
		for _, f := range node.Flags {
			names = append(names, f.Name)
		}
	}
	if len(names) < 30 {
		t.Fatalf("the flags are %q", names)
	}
	return names
}

// A prompted is a repository in which a model is asked that notes what it was sent.
type prompted struct {
	t     *testing.T
	dir   string
	env   []string
	model *fakeModel
}

func newPrompted(t *testing.T) *prompted {
	t.Helper()
	r, kept := gittest.Repo(t), t.TempDir()
	answer := filepath.Join(kept, "answer.ndjson")
	for name, data := range map[string]string{
		filepath.Join(r.Dir, "a.txt"): "attached\n",
		answer: `{"model":"m","message":{"role":"assistant","content":"{\"name\":\"x\"}"},"done":true,` +
			`"done_reason":"stop"}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := &fakeModel{dir: kept, files: []string{answer}}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	env := append(slices.Clone(r.Env), "JP_SESSION=prefix", "XDG_DATA_HOME="+t.TempDir(),
		"JP_CFG_PROVIDERS_LLM_OLLAMA_BASE_URL="+server.URL, "JP_CFG_ASSISTANT_MODEL_ID=ollama/m",
		"GIT_EDITOR=f() { echo more >>\"$1\"; }; f", "XDG_CONFIG_HOME="+t.TempDir())
	return &prompted{t, r.Dir, env, model}
}

// tools asks, and returns the tools of the last request that came of it.
func (p *prompted) tools(args ...string) string {
	p.t.Helper()
	before := p.model.count()
	cmd := exec.Command("git-jp", append(append([]string{"query"}, args...), "--", "go on")...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	asked := p.model.count()
	if err != nil || asked == before {
		p.t.Fatalf("git jp query %q: %v, asked %d times\n%s", args, err, asked-before, out)
	}
	data, err := os.ReadFile(filepath.Join(p.model.dir, fmt.Sprintf("request%d.json", asked)))
	if err != nil {
		p.t.Fatal(err)
	}
	var sent struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(data, &sent); err != nil || len(sent.Tools) < 1000 {
		p.t.Fatalf("the tools are %s: %v", sent.Tools, err)
	}
	return string(sent.Tools)
}
