package jpconfig_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
)

// FuzzLoad loads committed files of a fuzzer: a configuration, a file that it may extend, and a
// conversation. Whatever they are, the load ends, removes no value of the user, and every part of
// the result can be read.
func FuzzLoad(f *testing.F) {
	rep := strings.Repeat
	for _, seed := range []struct {
		kind                 byte // index of its extension
		config, beside, said string
	}{
		{0, "", "", ""},
		{0, "inherit = false\nextends = ['config.d/x.toml', '../../user/*']\n", "a.b = 1\n", `{"assistant":null}`},
		{0, "extends = [{path = 'config.d/*', strategy = 'after'}, 'config.toml']\n", "[[a]]\nb = 1\n", `[]`},
		{0, "extends = ['" + rep("{a,b}", 20) + "']\n", "extends = ['" + rep("**/", 40) + "x']\n", `{"a":`},
		{0, rep("a.", 200) + "a = 1\n", rep("[[a]]\n", 200), `{"assistant":{"model":{"id":{"provider":1}}}}`},
		{1, rep(`{"a":`, 200), `{"extends":{"value":["../config.json"],"strategy":"replace"}}`, rep(`[`, 200)},
		{2, "{a: 'b', /* c */ d: [+1, .5, 0xff,], // e\n}", "{inherit: false}", `{"loader":{"reset":"none"}}`},
		{3, "a: &a [1]\nb: &b [*a,*a]\nc: [*b,*b]\n", "assistant: {<<: {name: x}}\n", `{"assistant":{"instructions":{"value":[],"strategy":"replace"}}}`},
		{3, "? {a: 1}\n: b\n1: 2\n", "!!binary eA==: 1\n", `{"conversation":{"tools":{"*":{"run":"unattended"}}}}`},
		{1, `{"conversation":{"attachments":["cmd:evil",{"type":"file","path":"/x"}],"labels":{"l":{"cmd":"evil"}}}}`, `{"providers":{"mcp":{"x":{"type":"stdio","command":"evil","arguments":["a"]}}}}`, ""},
		{1, `{"conversation":{"tools":{"t":{"source":"local","command":{"program":"just","args":["x"],"shell":true}}}}}`, `{"providers":{"llm":{"aliases":{"a":"b","b":"a"},"mine":{"base_url":"x"}}}}`, `{"assistant":{"system_prompt":{"value":"x","strategy":"replace","discard_when_merged":true}}}`},
	} {
		f.Add(seed.kind, seed.config, seed.beside, seed.said)
	}
	dir := f.TempDir()
	write(f, dir, map[string]string{"user/config.json": encode(f, users()), "ws/sub/x": ""})
	s := jpconfig.Sources{
		Workspace: filepath.Join(dir, "ws"), Dir: filepath.Join(dir, "ws", "sub"),
		User: filepath.Join(dir, "user"),
	}
	_, before := effective(f, s)
	f.Fuzz(func(t *testing.T, kind byte, theirs, beside, said string) {
		if len(theirs)+len(beside)+len(said) > 1<<16 {
			return // other tests check sizes
		}
		s := s
		if err := os.RemoveAll(s.Workspace); err != nil {
			t.Fatal(err)
		}
		extensions := []string{".toml", ".json", ".json5", ".yaml"}
		ext := extensions[kind%4]
		write(t, s.Workspace, map[string]string{
			".jp/config" + ext: theirs, ".jp/config.d/x" + ext: beside, "sub/.jp" + ext: beside,
		})
		switch {
		case said == "":
		case kind&4 == 0:
			s.Base = []byte(said)
		case json.Valid([]byte(said)):
			s.Stream = events.New(events.NewElement(time.Unix(0, 0),
				&events.ConfigDelta{Delta: []byte(said)}, events.Metadata{}))
		}
		c, err := jpconfig.Load(s)
		if err != nil {
			return
		}
		readAll(c)
		after := leavesOf(t, c)
		judgeEffect(t, "what others say", c, before, after)
	})
}

// readAll reads everything that a configuration has.
func readAll(c *jpconfig.Config) {
	for _, name := range append(c.ToolNames(), "x") {
		c.Tool(name)
		c.Timeout(name, time.Second)
	}
	for _, name := range append(c.ServerNames(), "x") {
		c.Server(name)
	}
	for _, name := range append(c.ProviderNames(), "x") {
		c.Provider(name)
	}
	for _, name := range []string{"x", "mine/x", "a"} {
		_, _ = c.ResolveModel(name) // may refer to no model
	}
	_, _ = c.Model() // the same
	c.Parameters("assistant", "model")
	c.Attachments()
	c.Labels()
	c.Plugins()
	c.Editor()
	c.System()
	c.Sections()
	c.ForeignWords()
	c.Claims()
	c.Held()
	c.Delta()
	c.Layers()
	c.Warnings()
}
