package tool_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
)

// realConfigs returns all tools that a real workspace declares.
func realConfigs(t *testing.T) map[string]tool.Config {
	t.Helper()
	merged := map[string]any{}
	dir := realdata.Dir(t, "jp-config", "mcp", "tools")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".toml" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var doc struct {
			Conversation struct {
				Tools map[string]any `toml:"tools"`
			} `toml:"conversation"`
		}
		err = toml.Unmarshal(data, &doc)
		mergeMaps(merged, doc.Conversation.Tools)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tool.Config{}
	for name, v := range merged {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = tool.ParseConfig(name, data, jsontext.Value(`{"run":"ask"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return all
}

// mergeMaps is the part of merging configurations that the real files need.
func mergeMaps(into, from map[string]any) {
	for k, v := range from {
		a, ok1 := into[k].(map[string]any)
		b, ok2 := v.(map[string]any)
		if ok1 && ok2 {
			mergeMaps(a, b)
		} else {
			into[k] = v
		}
	}
}

func TestRealDefinitionsAreRead(t *testing.T) {
	all := realConfigs(t)
	if len(all) < 50 {
		t.Fatalf("%d tools", len(all))
	}
	for name, c := range all {
		var s jsonschema.Schema
		if err := json.Unmarshal(c.Definition().Schema, &s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Resolve(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	read := all["fs_read_file"]
	if read.Policy.Run != tool.Unattended || read.Source.Kind != tool.Local ||
		string(read.Options) != `{"suppress":[".git/"]}` || read.Style.Parameters != "function_call" {
		t.Errorf("%+v", read)
	}
	commit := all["git_commit"]
	if commit.Enable != (tool.Enable{Toggle: tool.ToggleIfNamed}) || commit.Policy.Run != tool.Ask {
		t.Errorf("%+v", commit)
	}
	modify := all["fs_modify_file"]
	if string(modify.Questions["apply_changes"].Answer) != "true" ||
		modify.Style.Formatter.Line != "just serve-tools {{context}} {{tool}}" {
		t.Errorf("%+v", modify)
	}
	crate := all["bookworm_crate_readme"]
	for name, c := range all {
		if strings.HasSuffix(name, "crate_readme") {
			crate = c
		}
	}
	if crate.Source != (tool.Source{Kind: tool.MCP, Server: "bookworm", Tool: "crate_readme"}) {
		t.Errorf("%+v", crate.Source)
	}
}

func TestSchemaKeepsTheOrder(t *testing.T) {
	c, err := tool.ParseConfig("t", jsontext.Value(`{"source":"local","parameters":{
		"zeta":{"type":"string","required":true,"summary":"S <b>","description":"D"},
		"alpha":{"type":["string","null"],"default":1.50,"enum":["a",null]},
		"list":{"type":"array","items":{"type":"object","properties":{"p":{"type":"integer","required":true}}}}
	}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"zeta":{"type":"string","description":"S <b>"},` +
		`"alpha":{"type":["string","null"],"default":1.50,"enum":["a",null]},` +
		`"list":{"type":"array","items":{"type":"object","properties":{"p":{"type":"integer"}},` +
		`"required":["p"],"additionalProperties":false}}},"required":["zeta"],"additionalProperties":false}`
	if got := string(c.Definition().Schema); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDefaultsOfAllTools(t *testing.T) {
	star := jsontext.Value(`{"run":"unattended","enable":false,"command":"rm","source":"local",
		"style":{"inline_results":3,"hidden":true}}`)
	c, err := tool.ParseConfig("t", jsontext.Value(`{"source":"mcp.s","style":{"hidden":false}}`), star)
	if err != nil {
		t.Fatal(err)
	}
	if c.Policy.Run != tool.Unattended || c.Enable.On || !c.Command.IsZero() ||
		c.Style.InlineResults != "3" || c.Style.Hidden || c.Source.Kind != tool.MCP {
		t.Errorf("%+v", c)
	}
}

func TestBrokenConfigsAreErrors(t *testing.T) {
	for _, v := range []string{
		`{}`, `[]`, `{"source":"shell"}`, `{"source":"mcp"}`, `{"source":"local","run":"maybe"}`,
		`{"source":"local","enable":"perhaps"}`, `{"source":"local","parameters":[]}`,
		`{"source":"local","enable":{"allow_toggle":"x"}}`, `{"source":"local","questions":{"a":1}}`,
	} {
		if c, err := tool.ParseConfig("t", jsontext.Value(v), nil); err == nil {
			t.Errorf("%s: %+v", v, c)
		}
	}
}

func TestSelect(t *testing.T) {
	configs := []tool.Config{
		{Name: "on", Enable: tool.Enable{On: true}},
		{Name: "off"},
		{Name: "explicit", Enable: tool.Enable{Toggle: tool.ToggleIfNamed}},
		{Name: "always", Enable: tool.Enable{On: true, Toggle: tool.ToggleNever}},
	}
	tests := []struct {
		switches []tool.Switch
		want     string
		fails    bool
	}{
		{nil, "on always", false},
		{[]tool.Switch{{On: true}}, "on off always", false},
		{[]tool.Switch{{On: false}}, "always", false},
		{[]tool.Switch{{On: false}, {On: true, Name: "explicit"}}, "explicit always", false},
		{[]tool.Switch{{On: true, Name: "off"}, {On: false}}, "always", false},
		{[]tool.Switch{{On: false, Name: "always"}}, "", true},
		{[]tool.Switch{{On: true, Name: "nope"}}, "", true},
	}
	for _, tt := range tests {
		on, err := tool.Select(configs, tt.switches)
		var names []string
		for i := range on {
			if on[i] {
				names = append(names, configs[i].Name)
			}
		}
		if (err != nil) != tt.fails || !slices.Equal(names, strings.Fields(tt.want)) {
			t.Errorf("%v: %q (%v), want %q", tt.switches, names, err, tt.want)
		}
	}
}

func TestPrepare(t *testing.T) {
	c, err := tool.ParseConfig("t", jsontext.Value(`{"source":"local","parameters":{
		"path":{"type":"string","required":true},
		"n":{"type":"integer","default":3},
		"list":{"type":"array","items":{"type":"string"}},
		"deep":{"type":"array","items":{"type":"object","properties":{"b":{"type":"boolean"}}}},
		"word":{"type":"string","enum":["on","off"]},
		"name":{"type":"string","pattern":"^[a-z]+$","maxLength":4},
		"maybe":{"type":["string","null"]},
		"size":{"type":"number","minimum":0},
		"either":{"type":["integer","number"]}
	}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ in, want, why string }{
		{`{"path":"a"}`, `{"n":3,"path":"a"}`, ""},
		{`{"path":"5","n":"7"}`, `{"n":7,"path":"5"}`, ""},
		{`{"path":"a","n":7.00}`, `{"n":7,"path":"a"}`, ""},
		{`{"path":"a","n":7.01}`, "", "/properties/n: type"},
		{`{"path":"a","size":7.0}`, `{"n":3,"path":"a","size":7.0}`, ""},
		{`{"path":"a","either":7.0}`, `{"either":7.0,"n":3,"path":"a"}`, ""},
		{`{"path":"a","n":12345678901234567890}`, `{"n":12345678901234567890,"path":"a"}`, ""},
		{`{"path":"a","list":"[\"x\"]"}`, `{"list":["x"],"n":3,"path":"a"}`, ""},
		{`{"path":"a","list":"x"}`, `{"list":["x"],"n":3,"path":"a"}`, ""},
		{`{"path":"a","deep":[{"b":"true"}]}`, `{"deep":[{"b":true}],"n":3,"path":"a"}`, ""},
		{`{"path":"a","deep":{"b":true}}`, `{"deep":[{"b":true}],"n":3,"path":"a"}`, ""},
		{`{"path":"a","deep":[{"b":null}]}`, `{"deep":[{}],"n":3,"path":"a"}`, ""},
		{`{"path":"<&>"}`, `{"n":3,"path":"<&>"}`, ""},
		{`{"path":"a","word":"on"}`, `{"n":3,"path":"a","word":"on"}`, ""},
		{`{"path":"a","word":null,"n":null,"name":null}`, `{"n":3,"path":"a"}`, ""},
		{`{"path":"a","maybe":null}`, `{"maybe":null,"n":3,"path":"a"}`, ""},
		{`{"path":"a","size":1.50}`, `{"n":3,"path":"a","size":1.50}`, ""},
		{`{"path":"a","n":"7.5"}`, "", `/properties/n: type: 7.5 has type "string", want "integer"`},
		{`{"path":"a","word":"maybe; touch pwned"}`, "", "/properties/word: enum"},
		{`{"path":"a","name":"a;b"}`, "", "/properties/name: pattern"},
		{`{"path":"a","name":"abcde"}`, "", "maxLength"},
		{`{"path":"a","size":-1}`, "", "minimum"},
		{`{"path":"a","list":[1]}`, "", "/properties/list/items: type"},
		{`{"path":"a","deep":[{"c":1}]}`, "", "unexpected additional"},
		{`{"path":null}`, "", "/properties/path: type"},
		{`{}`, "", "missing: path"},
		{``, "", "missing: path"},
		{`{"path":"a","more":1}`, "", "unknown: more"},
		{`[]`, "", "not an object"},
		{`null`, "", "not an object"},
	}
	for _, tt := range tests {
		got, err := c.Definition().Prepare(jsontext.Value(tt.in))
		if string(got) != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %s (%v), want %s", tt.in, got, err, tt.want)
		}
		if err != nil && (!strings.Contains(err.Error(), "describe_tools") || !strings.Contains(err.Error(), tt.why)) {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.why)
		}
	}
}

// TestASchemaThatCannotBeUsed checks schemas of servers and configurations that are invalid.
func TestASchemaThatCannotBeUsed(t *testing.T) {
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"$ref":"https://a.example/s"}}}`, `{"$ref":"#"}`, `[1]`,
		`{"type":"object","properties":{"a":{"type":"txt"}}}`,
	} {
		d := tool.Definition{Name: "t", Schema: jsontext.Value(text), Open: true}
		if err := d.Check(); err == nil {
			t.Errorf("%s: accepted", text)
		}
		if _, err := d.Prepare(jsontext.Value(`{"a":1}`)); err == nil {
			t.Errorf("%s: arguments accepted", text)
		}
	}
	open := tool.Definition{Name: "t", Open: true, Schema: jsontext.Value(
		`{"properties":{"a":{"items":[{"type":"string"}],"$comment":"a list of schemas"}}}`)}
	if _, err := open.Prepare(jsontext.Value(`{"b":2}`)); err != nil {
		t.Errorf("a list of schemas: %v", err)
	}
}
