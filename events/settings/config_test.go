package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// nested writes v at a dotted path. The path may name a tool "*".
func nested(path, v string) string {
	names := strings.Split(path, ".")
	slices.Reverse(names)
	for _, name := range names {
		v = fmt.Sprintf("{%q:%s}", name, v)
	}
	return v
}

// joined is [Config.Merge] of JSON.
func joined(base, delta jsontext.Value) (jsontext.Value, error) {
	b, err := Parse(base, 0)
	if err != nil {
		return nil, err
	}
	d, err := Parse(delta, 0)
	if err != nil {
		return nil, err
	}
	return b.Merge(d).JSON(), nil
}

func merged(t testing.TB, configs ...string) string {
	t.Helper()
	all := jsontext.Value("{}")
	for _, c := range configs {
		var err error
		if all, err = joined(all, jsontext.Value(c)); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
	}
	return string(all)
}

func TestMergeConfig(t *testing.T) {
	const (
		prompt   = "assistant.system_prompt"
		list     = "conversation.attachments"
		options  = "conversation.tools.x.options"
		argument = "conversation.tools.x.parameters.p"
	)
	for _, test := range []struct{ name, path, base, delta, want string }{
		{"a value replaces", "user.name", `"a"`, `"b"`, `"b"`},
		{"null says nothing", "user.name", `"a"`, `null`, `"a"`},
		{"a number keeps its spelling", "style.x", `1`, `1.50e1`, `1.50e1`},
		{"another type replaces", "assistant.model.id", `{"provider":"a","name":"b"}`, `"c"`, `"c"`},
		{"objects join", "a", `{"x":1,"y":{"z":1}}`, `{"y":{"u":2},"x":3}`, `{"x":3,"y":{"z":1,"u":2}}`},

		{"a string replaces", prompt, `"a"`, `"b"`, `"b"`},
		{"append is the default", prompt, `"a"`, `{"value":"b"}`, `{"value":"a\n\nb"}`},
		{
			"append", prompt, `"a"`, `{"value":"b","strategy":"append","separator":"space"}`,
			`{"value":"a b","strategy":"append","separator":"space"}`,
		},
		{
			"prepend", prompt, `"a"`, `{"value":"b","strategy":"prepend","separator":"line"}`,
			`{"value":"b\na","strategy":"prepend","separator":"line"}`,
		},
		{
			"no separator", prompt, `"a"`, `{"value":"b","strategy":"append","separator":"none"}`,
			`{"value":"ab","strategy":"append","separator":"none"}`,
		},
		{
			"replace", prompt, `{"value":"a","strategy":"append"}`, `{"value":"b","strategy":"replace"}`,
			`{"value":"b","strategy":"replace"}`,
		},
		{
			"a default goes", prompt, `{"value":"a","discard_when_merged":true}`,
			`{"value":"b","strategy":"append"}`, `{"value":"b","strategy":"append"}`,
		},
		{"nothing to separate", prompt, `""`, `{"value":"b"}`, `{"value":"b"}`},
		{"a block is there already", prompt, `"a\nb\nc"`, `{"value":"b"}`, `{"value":"a\nb\nc"}`},
		{"no block", prompt, `"abc"`, `{"value":"b","separator":"none"}`, `{"value":"abcb","separator":"none"}`},
		{"a block that overlaps", prompt, `"xa\na\na"`, `{"value":"a\na"}`, `{"value":"xa\na\na"}`},
		{"a block later on", prompt, `"bb\nb"`, `{"value":"b"}`, `{"value":"bb\nb"}`},
		{
			"repetitions wanted", prompt, `"b"`, `{"value":"b","dedup":"off","separator":"none"}`,
			`{"value":"bb","separator":"none","dedup":"off"}`,
		},
		{"contained", prompt, `"abc"`, `{"value":"b","dedup":"contains"}`, `{"value":"abc","dedup":"contains"}`},
		{
			"an opinion stays", prompt, `{"value":"b","dedup":false}`, `{"value":"b","separator":"none"}`,
			`{"value":"bb","separator":"none","dedup":false}`,
		},
		{"an opinion alone", prompt, `"a"`, `{"separator":"line"}`, `{"value":"a","separator":"line"}`},

		{"lists append", list, `["a","b"]`, `["b","c"]`, `["a","b","c"]`},
		{"equal objects are one", list, `[{"a":1,"b":2.0}]`, `[{"b":2,"a":1}]`, `[{"a":1,"b":2.0}]`},
		{
			"lists prepend", list, `["a"]`, `{"value":["b"],"strategy":"prepend"}`,
			`{"value":["b","a"],"strategy":"prepend"}`,
		},
		{
			"lists replace", list, `["a"]`, `{"value":["b","b"],"strategy":"replace"}`,
			`{"value":["b","b"],"strategy":"replace"}`,
		},
		{
			"after a replacement", list, `{"value":["a"],"strategy":"replace","discard_when_merged":false}`,
			`["b"]`, `["a","b"]`,
		},
		{
			"a default list goes", list, `{"value":["a"],"discard_when_merged":true}`, `["b","b"]`, `["b","b"]`,
		},
		{
			"a default's opinion stays", list, `{"value":["a"],"discard_when_merged":true,"dedup":true}`,
			`["b","b"]`, `{"value":["b"],"dedup":true}`,
		},
		{
			"repetitions", list, `["a"]`, `{"value":["a"],"dedup":false}`, `{"value":["a","a"],"dedup":false}`,
		},
		{
			"replaced without repetitions", list, `["a"]`, `{"value":["b","b"],"strategy":"replace","dedup":true}`,
			`{"value":["b"],"strategy":"replace","dedup":true}`,
		},

		{"free lists replace", options, `{"a":["x"],"b":{"c":[1]}}`, `{"a":["y"],"b":{"c":[2]}}`, `{"a":["y"],"b":{"c":[2]}}`},
		{"free lists may append", options, `{"a":["x"]}`, `{"a":{"value":["y"],"strategy":"append"}}`, `{"a":{"value":["x","y"],"strategy":"append"}}`},
		{"a free table with a value", options, `{"a":{"value":"x"}}`, `{"a":{"value":"y"}}`, `{"a":{"value":"y"}}`},
		{"free null", options, `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"arguments replace", "conversation.tools.x.command", `{"program":"a","args":["x"]}`, `{"args":["y"]}`, `{"program":"a","args":["y"]}`},
		{"types replace", argument, `{"type":["a"],"enum":["a"]}`, `{"type":["b"],"enum":["b"]}`, `{"type":["b"],"enum":["b"]}`},
		{"nested types replace", argument, `{"items":{"properties":{"type":{"enum":[1]}}}}`, `{"items":{"properties":{"type":{"enum":[2]}}}}`, `{"items":{"properties":{"type":{"enum":[2]}}}}`},
		{"defaults replace", argument, `{"default":{"a":[1]}}`, `{"default":{"b":2}}`, `{"default":{"b":2}}`},
		{"answers replace", "conversation.tools.x.questions.q", `{"answer":{"a":1}}`, `{"answer":{"b":2}}`, `{"answer":{"b":2}}`},
		{"labels", "conversation.labels.x", `{"value":["a"],"run":"ask"}`, `{"value":["b"]}`, `{"value":["b"],"run":"ask"}`},
		{"checksums are no strategy", "providers.mcp.x.checksum", `{"algorithm":"sha1","value":"a"}`, `{"value":"b","algorithm":"sha256"}`, `{"algorithm":"sha256","value":"b"}`},

		{"maps merge", "providers.mcp", `{"a":{"x":1}}`, `{"value":{"a":{"y":2}},"strategy":"merge"}`, `{"value":{"a":{"y":2}},"strategy":"merge"}`},
		{"maps keep", "providers.mcp", `{"a":1}`, `{"value":{"a":2,"b":3},"strategy":"keep"}`, `{"value":{"a":1,"b":3},"strategy":"keep"}`},
		{"maps replace", "providers.mcp", `{"a":1}`, `{"value":{"b":3},"strategy":"replace"}`, `{"value":{"b":3},"strategy":"replace"}`},
		{"maps deep", "providers.mcp", `{"a":{"x":1}}`, `{"value":{"a":{"y":2}},"strategy":"deep_merge"}`, `{"value":{"a":{"x":1,"y":2}},"strategy":"deep_merge"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := merged(t, nested(test.path, test.base), nested(test.path, test.delta))
			if want := nested(test.path, test.want); got != want {
				t.Errorf("merge is\n%s, want\n%s", got, want)
			}
		})
	}
}

func TestMergeConfigRefuses(t *testing.T) {
	for _, bad := range []string{"", "[]", `"x"`, `{"a":1,"a":2}`, `{"a":}`, "{}{}", strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600)} {
		if v, err := joined(jsontext.Value("{}"), jsontext.Value(bad)); err == nil {
			t.Errorf("%.20q gives %s", bad, v)
		}
		if _, err := joined(jsontext.Value(bad), jsontext.Value("{}")); err == nil {
			t.Errorf("%.20q is a base", bad)
		}
	}
}

// configText draws a configuration. If typed is set, a key has the same type everywhere and there
// are no merge strategies.
func configText(typed bool) *rapid.Generator[string] {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`, `{"x":1}`, `3`}), 0, 4)
	if typed { // a list with duplicates changes when it is merged again
		words = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{`"a"`, `"b"`, `{"x":1}`, `3`}), 0, 4, rapid.ID)
	}
	list := rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(words.Draw(t, "items"), ",") + "]"
	})
	text := rapid.SampledFrom([]string{`"a"`, `"b"`, `"a\nb"`, `""`})
	object := func(members map[string]*rapid.Generator[string]) *rapid.Generator[string] {
		names := make([]string, 0, len(members))
		for name := range members {
			names = append(names, name)
		}
		slices.Sort(names)
		return rapid.Custom(func(t *rapid.T) string {
			var parts []string
			for _, name := range names {
				if rapid.Bool().Draw(t, name) {
					parts = append(parts, fmt.Sprintf("%q:%s", name, members[name].Draw(t, name)))
				}
			}
			return "{" + strings.Join(parts, ",") + "}"
		})
	}
	how := func(value *rapid.Generator[string], strategies string) *rapid.Generator[string] {
		if typed {
			return value
		}
		return rapid.OneOf(value, rapid.Custom(func(t *rapid.T) string {
			v := fmt.Sprintf(`{"value":%s,"strategy":%q`, value.Draw(t, "value"),
				rapid.SampledFrom(strings.Fields(strategies)).Draw(t, "strategy"))
			for _, more := range []string{`"discard_when_merged":true`, `"dedup":true`, `"dedup":false`} {
				if rapid.IntRange(0, 5).Draw(t, "more") == 0 {
					return v + "," + more + "}"
				}
			}
			return v + "}"
		}), rapid.SampledFrom([]string{"null", "7", `"other"`}))
	}
	tool := object(map[string]*rapid.Generator[string]{
		"run": text, "options": object(map[string]*rapid.Generator[string]{"l": list, "t": text}),
		"command": rapid.SampledFrom([]string{`{"args":["a"]}`, `{"args":["b"],"program":"p"}`}),
	})
	return object(map[string]*rapid.Generator[string]{
		"assistant": object(map[string]*rapid.Generator[string]{
			"system_prompt": how(text, "append prepend replace"), "name": text,
			"instructions": how(list, "append prepend replace"),
		}),
		"conversation": object(map[string]*rapid.Generator[string]{
			"attachments": how(list, "append prepend replace"),
			"tools": object(map[string]*rapid.Generator[string]{
				"*": tool, "x": tool,
			}),
		}),
		"providers": object(map[string]*rapid.Generator[string]{
			"mcp": how(object(map[string]*rapid.Generator[string]{"a": text, "b": list}),
				"merge keep replace deep_merge"),
		}),
		"nobody": object(map[string]*rapid.Generator[string]{"knows": list}),
	})
}

func same(t interface{ Fatalf(string, ...any) }, what string, got, want []byte) {
	if !bytes.Equal(jsonspan.Normal(got), jsonspan.Normal(want)) {
		t.Fatalf("%s\n got %s\nwant %s", what, got, want)
	}
}

func TestMergeConfigLaws(t *testing.T) {
	merge := func(t *rapid.T, a, b []byte) []byte {
		v, err := joined(a, b)
		if err != nil {
			t.Fatalf("%s and %s: %v", a, b, err)
		}
		return v
	}
	empty := []byte("{}")
	rapid.Check(t, func(t *rapid.T) {
		a := []byte(configText(false).Draw(t, "any a"))
		b := []byte(configText(false).Draw(t, "any b"))
		same(t, "identity on the left", merge(t, empty, a), normalHow(a))
		same(t, "identity on the right", merge(t, a, empty), normalHow(a))
		if v := merge(t, a, b); !jsontext.Value(v).IsValid() {
			t.Fatalf("%s and %s give %s", a, b, v)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a := []byte(configText(true).Draw(t, "a"))
		b := []byte(configText(true).Draw(t, "b"))
		c := []byte(configText(true).Draw(t, "c"))
		same(t, "associative", merge(t, merge(t, a, b), c), merge(t, a, merge(t, b, c)))
		once := merge(t, a, b)
		same(t, "idempotent", merge(t, once, b), once)
	})
}

// normalHow parses a configuration and writes it again, as Merge does.
func normalHow(v []byte) []byte {
	c, err := Parse(v, 0)
	if err != nil {
		return nil
	}
	return c.JSON()
}

func TestConfigIsLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(configText(false).Draw(t, "config"))
		same(t, "parsed and written", normalHow(text), text)
	})
}

func TestDiffConfig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, _ := Parse([]byte(configText(false).Draw(t, "from")), 0)
		to, _ := Parse([]byte(configText(false).Draw(t, "to")), 0)
		delta, lost := Diff(from, to)
		got, err := joined(from.JSON(), delta)
		if err != nil {
			t.Fatalf("delta %s: %v", delta, err)
		}
		if len(lost) == 0 {
			c, _ := Parse(got, 0)
			same(t, "reached", dropNulls(c.Plain()), dropNulls(to.Plain()))
		}
		if same := string(delta) == "{}"; same && len(lost) == 0 {
			return
		}
		again, _ := Parse(got, 0)
		if rest, _ := Diff(again, to); string(rest) != "{}" {
			t.Fatalf("after %s there is still %s", delta, rest)
		}
	})
}

// TestListsThatOnlyGrow checks deltas of lists for which jp has no strategy. It replaces a delta
// with one by an empty one, all other settings in it included, when it saves.
func TestListsThatOnlyGrow(t *testing.T) {
	for _, path := range []string{
		`{"editor":{"envs":%s}}`, `{"assistant":{"model":{"parameters":{"stop_words":%s}}}}`,
		`{"providers":{"mcp":{"m":{"arguments":%s}}}}`, `{"config_load_paths":%s}`,
		`{"conversation":{"inquiry":{"assistant":{"system_prompt_sections":%s}}}}`,
	} {
		for _, tt := range []struct {
			from, to, delta string
			lost            int
		}{
			{`["a"]`, `["a","b"]`, `["b"]`, 0},
			{`["a"]`, `["b","a"]`, `["b"]`, 0},
			{`["a","b"]`, `["b","a"]`, "", 0},
			{`["a","b"]`, `["b","c"]`, `["c"]`, 1},
			{`["a"]`, `[]`, "", 1},
		} {
			from, _ := Parse(fmt.Appendf(nil, path, tt.from), 0)
			to, _ := Parse(fmt.Appendf(nil, path, tt.to), 0)
			want := "{}"
			if tt.delta != "" {
				want = fmt.Sprintf(path, tt.delta)
			}
			if delta, lost := Diff(from, to); string(delta) != want || len(lost) != tt.lost {
				t.Errorf("%s: %s to %s: %s, lost %v", path, tt.from, tt.to, delta, lost)
			}
		}
	}
}

// TestFormsOfItems checks that an element as jp writes it is the one that a person wrote.
func TestFormsOfItems(t *testing.T) {
	for _, tt := range []struct{ config, person, jp string }{
		{`{"conversation":{"attachments":[%s]}}`, `"file:a/b.txt?x"`, `"file:///a/b.txt?x"`},
		{
			`{"assistant":{"instructions":[%s]}}`,
			`{"title":"T","items":["a"]}`, `{"title":"T","position":0,"items":["a"]}`,
		},
		{
			`{"conversation":{"inquiry":{"assistant":{"system_prompt_sections":[%s]}}}}`,
			`{"content":"c"}`, `{"content":"c","position":0}`,
		},
	} {
		person, _ := Parse(fmt.Appendf(nil, tt.config, tt.person), 0)
		jp, _ := Parse(fmt.Appendf(nil, tt.config, tt.jp), 0)
		if both := person.Merge(jp); string(both.Plain()) != string(person.Plain()) {
			t.Errorf("%s and %s are %s", tt.person, tt.jp, both.Plain())
		}
		if delta, lost := Diff(jp, person); string(delta) != "{}" || len(lost) > 0 {
			t.Errorf("%s to %s: %s, lost %v", tt.jp, tt.person, delta, lost)
		}
		for _, change := range [][2]string{{"a", "b"}, {`"c"`, `"d"`}, {":0", ":1"}} {
			other := strings.ReplaceAll(tt.jp, change[0], change[1])
			next, _ := Parse(fmt.Appendf(nil, tt.config, other), 0)
			if delta, _ := Diff(person, next); string(delta) == "{}" && other != tt.jp {
				t.Errorf("%s to %s is no change", tt.person, other)
			}
		}
	}
}

func dropNulls(v []byte) []byte {
	var tree any
	if json.Unmarshal(v, &tree) != nil {
		return nil
	}
	var drop func(any)
	drop = func(v any) {
		if m, ok := v.(map[string]any); ok {
			for k, v := range m {
				if drop(v); v == nil {
					delete(m, k)
				} else if sub, ok := v.(map[string]any); ok && len(sub) == 0 {
					delete(m, k)
				}
			}
		}
	}
	drop(tree)
	b, _ := json.Marshal(tree)
	return b
}

func TestDiffConfigForms(t *testing.T) {
	for _, test := range []struct{ name, from, to, want, lost string }{
		{"nothing", `{"a":1.0}`, `{"a":1}`, `{}`, "[]"},
		{"a list grew", `{"l":["a"]}`, `{"l":["a","b"]}`, `{"l":["b"]}`, "[]"},
		{"a list lost", `{"l":["a","b"]}`, `{"l":["a"]}`, `{"l":{"value":["a"],"strategy":"replace"}}`, "[]"},
		{"a list with repetitions", `{"l":["a"]}`, `{"l":["a","a"]}`, `{"l":{"value":["a","a"],"strategy":"replace","dedup":false}}`, "[]"},
		{
			"a default list", `{"l":{"value":["a"],"discard_when_merged":true}}`, `{"l":["a","b"]}`,
			`{"l":{"value":["a","b"],"strategy":"replace"}}`, "[]",
		},
		{"a key went", `{"a":{"b":1,"c":2}}`, `{"a":{"c":3}}`, `{"a":{"c":3}}`, "[a.b]"},
		{
			"arguments", `{"editor":{"cmd":{"args":["a"]}}}`, `{"editor":{"cmd":{"args":["a","b"]}}}`,
			`{"editor":{"cmd":{"args":["a","b"]}}}`, "[]",
		},
	} {
		from, _ := Parse([]byte(test.from), 0)
		to, _ := Parse([]byte(test.to), 0)
		delta, lost := Diff(from, to)
		if string(delta) != test.want || fmt.Sprint(lost) != test.lost {
			t.Errorf("%s: delta %s, lost %v; want %s, %s", test.name, delta, lost, test.want, test.lost)
		}
	}
}

func TestConfigSources(t *testing.T) {
	var all Config
	for i, text := range []string{
		`{"user":{"name":"a"},"conversation":{"attachments":["x"]},"assistant":{"system_prompt":"p"}}`,
		`{"conversation":{"attachments":["y","x"]},"assistant":{"system_prompt":{"value":"q"}}}`,
		`{"user":{"name":"a"}}`,
	} {
		c, err := Parse([]byte(text), i)
		if err != nil {
			t.Fatal(err)
		}
		all = all.Merge(c)
	}
	for path, want := range map[string]string{
		"user.name": "[2]", "conversation.attachments": "[0 1]", "assistant.system_prompt": "[0 1]",
	} {
		s, ok := all.Setting(strings.Split(path, ".")...)
		if got := fmt.Sprint(s.Sources()); !ok || got != want {
			t.Errorf("sources of %s are %s, want %s", path, got, want)
		}
	}
	s, _ := all.Setting("conversation", "attachments")
	for i, want := range []string{`"x" [0]`, `"y" [1]`} {
		if got := fmt.Sprintf("%s %v", s.Items()[i].Value(), s.Items()[i].Sources()); got != want {
			t.Errorf("attachment %d is %s, want %s", i, got, want)
		}
	}
	if _, ok := all.Setting("user", "nobody"); ok {
		t.Error("there is a setting that nobody made")
	}
}

func TestTurnConfigs(t *testing.T) {
	at := time.Unix(0, 0)
	delta := func(v string) *events.Element {
		return events.NewElement(at, &events.ConfigDelta{Delta: jsontext.Value(v)}, events.Metadata{})
	}
	turn := events.NewElement(at, &events.TurnStart{}, events.Metadata{})
	const once = `{"a":1,"l":{"value":["x"],"dedup":false}}`
	s := events.New(delta(`{"a":1}`), turn, delta(once), turn, turn, delta(`{"a":2,"l":["y"]}`))
	base, err := Parse([]byte(`{"a":0,"b":true}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"a":1,"b":true}`, `{"a":1,"b":true,"l":["x"]}`, `{"a":1,"b":true,"l":["x"]}`,
	}
	for i, turn := range s.Turns() {
		c, err := InForce(s, base, turn.First, 1)
		if err != nil || string(c.Plain()) != want[i] {
			t.Errorf("turn %d ran under %s, %v; want %s", i, c.Plain(), err, want[i])
		}
	}
	if last, err := InForce(s, base, s.Len(), 1); err != nil ||
		string(last.Plain()) != `{"a":2,"b":true,"l":["x","y"]}` {
		t.Errorf("now %s is in force, error %v", last.Plain(), err)
	}
}

// TestRealConfigs merges the configurations of real conversations: the settings of a delta are in
// force after it, and nothing of the base is lost.
func TestRealConfigs(t *testing.T) {
	for _, dir := range conversationDirs(t) {
		data, err := os.ReadFile(dir + "/events.json")
		if err != nil {
			continue
		}
		s, err := events.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		base := Config{}
		if text, err := os.ReadFile(dir + "/base_config.json"); err == nil {
			if base, err = Parse(text, 0); err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			same(t, dir, base.JSON(), text)
		}
		c, err := InForce(s, base, s.Len(), 1)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if id, ok := c.Setting("assistant", "model", "id"); !ok || len(id.Value()) < 3 {
			t.Errorf("%s: no model", dir)
		}
		if delta, lost := Diff(base, c); len(lost) > 0 {
			t.Errorf("%s: lost %v, delta %.80s", dir, lost, delta)
		}
	}
}

func conversationDirs(t *testing.T) []string {
	root := realdata.Dir(t, "conversations")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{root + "/.archive/17659773217-google-api-streaming-event-conversion-issue"}
	for _, e := range entries {
		dirs = append(dirs, root+"/"+e.Name())
	}
	return dirs
}

func BenchmarkMergeConfig(b *testing.B) {
	base, err := os.ReadFile(realdata.Dir(b, "conversations",
		"17800836875-jp-init-xdg-directory-issue-on-linux", "base_config.json"))
	if err != nil {
		b.Fatal(err)
	}
	delta := jsontext.Value(`{"conversation":{"attachments":["file:a"]}}`)
	b.SetBytes(int64(len(base)))
	for b.Loop() {
		if _, err := joined(base, delta); err != nil {
			b.Fatal(err)
		}
	}
}
