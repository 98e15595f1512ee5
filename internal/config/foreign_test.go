package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestCommittedSettingsOnlyTighten tries every key of ours, both committed files and every kind of
// value, for a user who sets no key and for a strict one. It includes new keys as soon as they are
// known.
func TestCommittedSettingsOnlyTighten(t *testing.T) {
	for _, own := range []string{
		"", "[hooks]\ncheck = 'error'\nstrict = true\n[gc]\ngrace = '8w'\nauto = false\n" +
			"[merge]\nblended = 'refuse'\n[storage]\nmax_blob_bytes = '10MiB'\n",
	} {
		before := mustLoad(t, layers(t, map[string]string{"user/git-jp.toml": own}))
		for _, k := range Known() {
			path := strings.Split(strings.ReplaceAll(k.Name, anyTool, "x"), ".")
			for _, v := range committedValues(k) {
				tree := v
				for i := len(path) - 1; i >= 0; i-- {
					tree = map[string]any{path[i]: tree}
				}
				text, err := json.Marshal(tree)
				if err != nil {
					t.Fatal(err)
				}
				for _, files := range []map[string]string{
					{"ws/config.json": string(text)},
					{"ws/git-jp.toml": tomlOf(path, v)},
				} {
					files["user/git-jp.toml"] = own
					judgeCommitted(t, k, v, before, mustLoad(t, layers(t, files)))
				}
			}
		}
	}
}

// committedValues returns values that may be committed for a key: each of its choices, limits and
// beyond, and values of other types.
func committedValues(k Key) []any {
	all := []any{true, false, 0, 1, 1 << 30, 0.5, "", "off", "evil", "1s", "100w", []string{"evil"}}
	for _, c := range k.Choices {
		all = append(all, c, []string{c})
	}
	return all
}

func tomlOf(path []string, v any) string {
	text, err := json.Marshal(v) // valid TOML for scalars and lists of text
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s = %s\n", strings.Join(path, "."), text)
}

// judgeCommitted fails if a committed file changes a setting that no row of the table allows.
func judgeCommitted(t *testing.T, k Key, v any, before, after *Config) {
	t.Helper()
	name := strings.ReplaceAll(k.Name, anyTool, "x")
	was, _, _ := before.Value(name)
	is, _, ok := after.Value(name)
	changed := ok && !reflect.DeepEqual(was, is)
	if changed {
		row, listed := harmless.Find(strings.Split(name, "."))
		text := setting{value: is}.text()
		longer := row.Kind == harmless.Longer
		if !listed || !row.Admits(text) && !longer {
			t.Errorf("%s = %v: it is %v, was %v", k.Name, v, is, was)
		}
	}
	if a, b := before.Settings(), after.Settings(); !changed && !reflect.DeepEqual(a, b) {
		t.Errorf("%s = %v: settings are %+v, were %+v", k.Name, v, b, a)
	}
	strict := after.Settings()
	weaker := before.Settings().Hooks.Check == "error" && strict.Hooks.Check != "error" ||
		before.Settings().Hooks.Strict && !strict.Hooks.Strict ||
		before.Settings().GC.Grace > strict.GC.Grace ||
		strict.Hooks.Stage != before.Settings().Hooks.Stage ||
		strict.Storage.MaxBlobBytes != before.Settings().Storage.MaxBlobBytes
	if weaker {
		t.Errorf("%s = %v weakens a check: %+v", k.Name, v, strict)
	}
}

// TestAnApprovedSettingCounts checks that an approval is for one value only.
func TestAnApprovedSettingCounts(t *testing.T) {
	dirs := layers(t, map[string]string{"ws/git-jp.toml": "[hooks]\ncheck = 'off'\nstage = false\n"})
	c := mustLoad(t, dirs)
	if held := c.Held(); len(held) != 2 || held[0].Key != "hooks.check" ||
		held[0].Value != `"off"` || held[0].Kind != trust.Setting {
		t.Errorf("held back: %+v", held)
	}
	dirs.Approved = func(c trust.Claim) bool { return c.Key == "hooks.check" }
	c = mustLoad(t, dirs)
	if s := c.Settings().Hooks; s.Check != "off" || !s.Stage || len(c.Held()) != 1 {
		t.Errorf("settings are %+v", s)
	}
}
