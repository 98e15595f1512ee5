package harmless_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/jpconfig"
)

// The page shows the program's table.
func TestThePageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), harmless.Table) {
		t.Error("docs/security.md does not show table.md as it is")
	}
}

// Each row is for a key that the program reads, and each key has one row.
func TestEveryRowIsAKey(t *testing.T) {
	known := map[string]bool{}
	for _, key := range jpconfig.KnownKeys() {
		known[key] = true
	}
	for _, k := range config.Known() {
		known[strings.ReplaceAll(k.Name, "<name>", "*")] = true
	}
	seen := map[string]bool{}
	for _, r := range harmless.Rows() {
		covered := known[r.Key] || known[strings.TrimSuffix(r.Key, ".*")]
		for key := range known { // a row for the keys of a table
			table, each := strings.CutSuffix(r.Key, "*")
			covered = covered || each && strings.HasPrefix(key, table)
		}
		if !covered && r.Key != "style.typewriter.*.*" && !strings.HasPrefix(r.Key, "providers.llm.aliases.") {
			t.Errorf("%s is no key", r.Key)
		}
		if seen[r.Key] {
			t.Errorf("%s has two rows", r.Key)
		}
		seen[r.Key] = true
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		key     string
		in, out []string
	}{
		{"assistant.name", []string{`"x"`, "1", "true"}, []string{"{}", "[]", `"` + strings.Repeat("x", 300) + `"`}},
		{"assistant.system_prompt", []string{`"x"`}, []string{"1", "[]"}},
		{"assistant.instructions", []string{`["x"]`}, []string{`"x"`, "{}"}},
		{"assistant.tool_choice", []string{`"auto"`, "false"}, []string{`"required"`, `"fs_read_file"`}},
		{"assistant.model.id", []string{`"a/b"`, `{"provider":"a","name":"b"}`}, []string{`""`, `{"provider":"a","name":"b","base_url":"c"}`, "[]", "1"}},
		{"assistant.model.parameters.temperature", []string{"0", "1.5"}, []string{"2.1", "-1", `"1"`, "null"}},
		{"assistant.model.parameters.top_k", []string{"7"}, []string{"1.5", "1e3", "100000"}},
		{
			"assistant.model.parameters.reasoning",
			[]string{`"high"`, "1000", `{"effort":"low","exclude":true}`, `{"effort":{"absolute":10}}`, `{"max_tokens":5}`},
			[]string{`"x"`, "1000000", `{"effort":"low","budget_tokens":3}`, `{"exclude":"x"}`, "[]"},
		},
		{"assistant.request.max_retries", []string{"0", "10"}, []string{"11", "-1", "1e300", "99999999999999999999"}},
		{"hooks.strict", []string{"true"}, []string{"false", "1"}},
		{"hooks.check", []string{`"error"`}, []string{`"off"`, `"warn"`}},
		{"merge.blended", []string{`"refuse"`}, []string{`"replace"`}},
		{"storage.format", []string{`"blobs"`, `"inline"`}, []string{`"zip"`}},
		{"gc.grace", nil, []string{`"0s"`, `"4w"`}}, // the caller compares
	} {
		row, ok := harmless.Find(strings.Split(test.key, "."))
		if !ok {
			t.Errorf("%s has no row", test.key)
			continue
		}
		for _, v := range test.in {
			if !row.Admits([]byte(v)) {
				t.Errorf("%s = %s does not count", test.key, v)
			}
		}
		for _, v := range test.out {
			if row.Admits([]byte(v)) {
				t.Errorf("%s = %s counts", test.key, v)
			}
		}
	}
	for _, key := range []string{
		"hooks.stage", "hooks.restore", "storage.max_blob_bytes", "network.private_hosts",
		"assistant.model.parameters.web_search", "assistant.model.parameters.strict_tools",
		"assistant.model.parameters.context_management", "providers.llm.x.api_key_header", "providers.llm.x.format",
		"assistant.model.parameters.mcp_servers", "assistant.model.parameters.other",
		"conversation.title.generate.model.id", "providers.llm.x.beta_headers",
	} {
		if _, ok := harmless.Find(strings.Split(key, ".")); ok {
			t.Errorf("%s has a row", key)
		}
	}
}
