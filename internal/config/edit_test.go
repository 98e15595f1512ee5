package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetKeepsTheRest(t *testing.T) {
	for _, tt := range []struct{ name, key, value, before, after string }{
		{"empty file", "storage.format", "inline", "", "[storage]\nformat = \"inline\"\n"},
		{
			"replaces only the value", "storage.format", "inline",
			"# top\n[storage] # s\n  format='blobs'   # why\n[gc]\n",
			"# top\n[storage] # s\n  format=\"inline\"   # why\n[gc]\n",
		},
		{
			"adds to its table", "storage.max_blob_bytes", "1MiB",
			"[storage]\nformat = 'blobs' # x\n\n# about gc\n[gc]\nauto = true\n",
			"[storage]\nformat = 'blobs' # x\nmax_blob_bytes = \"1MiB\"\n" +
				"\n# about gc\n[gc]\nauto = true\n",
		},
		{
			"adds to an empty table",
			"gc.auto",
			"false",
			"[gc]\n[merge]\n",
			"[gc]\nauto = false\n[merge]\n",
		},
		{
			"new table",
			"gc.grace",
			"2w",
			"[hooks]\nstrict = true",
			"[hooks]\nstrict = true\n\n[gc]\ngrace = \"2w\"\n",
		},
		{
			"dotted", "gc.grace", "2w", "gc.auto = true\n\n[hooks]\n",
			"gc.auto = true\ngc.grace = \"2w\"\n\n[hooks]\n",
		},
		{
			"dotted in a table", "conversation.compaction.fork", "false",
			"[conversation]\ncompaction.keep_last = 2\n",
			"[conversation]\ncompaction.keep_last = 2\ncompaction.fork = false\n",
		},
		{
			"in an inline table",
			"gc.auto",
			"false",
			"gc = { grace = '1d' }\n",
			"gc = { grace = '1d', auto = false }\n",
		},
		{"into an empty inline table", "gc.auto", "false", "gc = {}\n", "gc = { auto = false }\n"},
		{
			"replaced in an inline table",
			"gc.auto",
			"false",
			"gc = { auto = true }\n",
			"gc = { auto = false }\n",
		},
		{
			"array over lines", "conversation.compaction.strategy", "prune-tools,summarize",
			"[conversation.compaction]\nstrategy = [ # first\n 'auto',\n] # x\nfork = true\n",
			"[conversation.compaction]\n" +
				"strategy = [\"prune-tools\", \"summarize\"] # x\nfork = true\n",
		},
		{
			"alias stays", "conversation.compaction.model", "x",
			"[conversation.compaction]\nsummarize_model = 'y'\n",
			"[conversation.compaction]\nsummarize_model = \"x\"\n",
		},
		{
			"line ends",
			"gc.auto",
			"false",
			"[gc]\r\ngrace = '1d'\r\n",
			"[gc]\r\ngrace = '1d'\r\nauto = false\r\n",
		},
		{
			"quoted tool", `conversation.tools."a.b".deduplicate`, "false", "",
			"[conversation.tools.\"a.b\"]\ndeduplicate = false\n",
		},
		{"number as such", "storage.max_blob_bytes", "77", "", "[storage]\nmax_blob_bytes = 77\n"},
		{
			"fraction",
			"conversation.compaction.summarize_threshold",
			"1",
			"",
			"[conversation.compaction]\nsummarize_threshold = 1.0\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.before), OwnFile, tt.key, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct{ file, key, value, data, want string }{
		{"config.toml", "storage.format", "inline", "", "it belongs into git-jp.toml"},
		{OwnFile, "assistant.name", "x", "", "no key of git-jp.toml"},
		{"config.toml", "nonsense.x", "x", "", "unknown key"},
		{OwnFile, "storage.format", "zip", "", "expected one of"},
		{OwnFile, "gc.auto", "false", "gc = 3\n", "gc is not a table"},
		{OwnFile, "gc.auto", "false", "gc = [\n", "array"},
		{OwnFile, "gc..auto", "false", "", "not a dotted name"},
	} {
		_, err := Set([]byte(tt.data), "dir/"+tt.file, tt.key, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error is %v", tt, err)
		}
	}
	if got, err := Set(nil, "config.toml", "assistant.name", "x\"\n\x01"); err != nil ||
		string(got) != "[assistant]\nname = \"x\\\"\\n\\u0001\"\n" {
		t.Errorf("a key of jp's: %q, %v", got, err)
	}
}

func TestUnset(t *testing.T) {
	const data = "# a\n[gc]\nauto = false # why\ngrace = '1d'\n"
	got, err := Unset([]byte(data), OwnFile, "gc.auto")
	if err != nil || string(got) != "# a\n[gc]\ngrace = '1d'\n" {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = Unset([]byte(data), OwnFile, "storage.format")
	if err != nil || string(got) != data {
		t.Errorf("an absent key: %q, %v", got, err)
	}
}

// TestUnsetTheLastKey removes the header of a table with its last key, and no comment.
func TestUnsetTheLastKey(t *testing.T) {
	for data, want := range map[string]string{
		"[gc]\nauto = false\n": "",
		"[gc]\n\n  auto = false\n\n[trim]\nschedule = 'never'\n":   "\n[trim]\nschedule = 'never'\n",
		"[trim]\nschedule = 'never'\n\n[gc]\nauto = false\n":       "[trim]\nschedule = 'never'\n",
		"[trim]\r\nschedule = 'never'\r\n\r\n[gc]\r\nauto = 1\r\n": "[trim]\r\nschedule = 'never'\r\n",
		"[gc] # why\nauto = false\n":                               "[gc] # why\n",
		"[gc]\n# why\nauto = false\n":                              "[gc]\n# why\n",
		"[gc]\nauto = false\n# more\n":                             "# more\n",
		"gc.auto = false\n":                                        "",
	} {
		got, err := Unset([]byte(data), OwnFile, "gc.auto")
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", data, got, err, want)
		}
	}
}

// TestSetIsReadBack sets random keys in turn in random files: each value must be read back, and no
// comment may be lost.
func TestSetIsReadBack(t *testing.T) {
	starts := []string{
		"", "# only a comment", "[gc] # c1\n\n# c2\n[storage]\n", "gc.auto = true # c1\n# c2\n",
		"# c1\n[conversation]\n# c2\ntools.x.deduplicate = true # c3\n[conversation.tools.y]\n",
		"gc = { auto = true } # c1\n",
		"[conversation.tools]\n# c1\nx = { deduplicate = true } # c2\n",
		"[tools.x] # c1\ndeduplicate = false\n", "# c1\r\n[trim]\r\nschedule='never'# c2\r\n",
	}
	settings := []struct{ key, value string }{
		{"gc.auto", "false"},
		{"gc.grace", "3w"},
		{"storage.format", "inline"},
		{"storage.max_blob_bytes", "9"},
		{"trim.schedule", "eager"},
		{"conversation.tools.x.deduplicate", "false"},
		{"conversation.tools.x.compaction.response", "keep"},
		{"conversation.tools.y.compaction.dedup", "true"},
		{"conversation.compaction.strategy", "auto"},
	}
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(starts).Draw(t, "start")
		data := []byte(start)
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			s := rapid.SampledFrom(settings).Draw(t, "setting")
			out, err := Set(data, OwnFile, s.key, s.value)
			if err != nil {
				t.Fatalf("set %s in\n%s\n%v", s.key, data, err)
			}
			f := read(t, out)
			k, _ := schema(Known()).find(strings.Split(s.key, "."))
			want, _ := k.parse(s.value)
			if got := f[s.key]; describe(got) != describe(want) {
				t.Fatalf("set %s: read %v from\n%s", s.key, got, out)
			}
			data = out
		}
		if strings.Count(start, "#") != strings.Count(string(data), "#") {
			t.Fatalf("lost a comment:\n%s\nbecame\n%s", start, data)
		}
	})
}

func read(t *rapid.T, data []byte) map[string]any {
	r := reader{schema: Known(), open: func(string) ([]byte, error) { return data, nil }}
	settings, _, err := r.read(User, OwnFile)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	all := map[string]any{}
	for _, s := range settings {
		all[JoinKey(s.path)] = s.value
	}
	return all
}
