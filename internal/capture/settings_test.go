package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/google/go-cmp/cmp"
)

// machine returns an empty home directory.
func machine(t *testing.T) Places {
	t.Helper()
	return Places{Home: t.TempDir(), Getenv: func(string) string { return "" }}
}

// apply plans a change and applies it.
func apply(
	t *testing.T, p Places, do func(Places, sessions.Agent) (Change, error), name sessions.Agent,
) Change {
	t.Helper()
	c, err := do(p, name)
	if err == nil {
		err = c.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// settings are files to which hooks are added, as people and agents write them.
var settings = map[string]string{
	"nothing":         "",
	"blank":           "\n",
	"blank lines":     "\r\n \n",
	"marked":          "\uFEFF\n",
	"empty":           `{}`,
	"line":            "{}\n",
	"two lines":       "{\n}\n",
	"one member":      "{\n  \"model\": \"opus\"\n}\n",
	"compact":         `{"model":"opus","env":{"A":"1"}}`,
	"spaced":          `{ "model": "opus" }`,
	"tabs":            "{\n\t\"model\": \"opus\",\n\t\"env\": {}\n}\n",
	"four":            "{\n    \"model\": \"opus\"\n}",
	"crlf":            "{\r\n  \"model\": \"opus\"\r\n}\r\n",
	"around":          "\n  {\"a\": 1}  \n\n",
	"no hooks":        "{\"hooks\": {}}",
	"no hooks, wide":  "{\n  \"hooks\": { }\n}",
	"no groups":       `{"hooks": {"Stop": []}, "b": 2}`,
	"no groups, wide": "{\"hooks\": {\"Stop\": [\n ]}}",
	"theirs": "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\"," +
		" \"command\": \"say done\"}]}\n    ]\n  },\n  \"z\": [1, 2.50, 1e400, \"\\u00e9\"]\n}\n",
	"theirs, other event": `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}],"enabled":true}}`,
	"theirs, two": "{\"hooks\": {\"Stop\": [ {\"matcher\": \"*\", \"hooks\": []},\n" +
		"{\"hooks\": []} ]}}\n",
	"deep names": `{"a": {"hooks": {"Stop": "no"}}, "hooks": {"Stop": [ ]}}`,
}

// TestUninstallGivesBackTheBytes adds hooks to files of many shapes, for each agent that has them
// in a file of the user: every existing value stays, a second install changes nothing, and
// uninstall restores the original bytes.
func TestUninstallGivesBackTheBytes(t *testing.T) {
	for name, before := range settings {
		for _, a := range known() {
			if a.whole != "" {
				continue
			}
			t.Run(name+"/"+string(a.name), func(t *testing.T) {
				p := machine(t)
				path := a.file(p)
				write(t, path, before)
				after := apply(t, p, Install, a.name).After
				if missing, err := a.missing(bytes.TrimPrefix(after, []byte(byteOrder))); err != nil || len(missing) > 0 {
					t.Fatalf("after install %q are missing, %v:\n%s", missing, err, after)
				}
				was := before
				if strings.TrimSpace(strings.TrimPrefix(before, byteOrder)) == "" {
					was = "{}"
				}
				after = bytes.TrimPrefix(after, []byte(byteOrder))
				if diff := cmp.Diff(values(t, []byte(was)), theirs(values(t, after))); diff != "" {
					t.Errorf("install changed values (-before +after):\n%s\n%s", diff, after)
				}
				if c, err := Install(p, a.name); err != nil || c.Changes() {
					t.Errorf("a second install changes the file again, or %v", err)
				}
				apply(t, p, Uninstall, a.name)
				if got := read(t, path); got != before {
					t.Errorf("uninstall leaves %q, want %q; installed was %q", got, before, after)
				}
			})
		}
	}
}

// values decodes a document without changing a number.
func values(t *testing.T, doc []byte) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	return prune(v).(map[string]any)
}

// prune removes empty lists of hooks, which have no meaning.
func prune(v map[string]any) any {
	hooks, _ := v["hooks"].(map[string]any)
	for event, groups := range hooks {
		if list, ok := groups.([]any); ok && len(list) == 0 {
			delete(hooks, event)
		}
	}
	if len(hooks) == 0 {
		delete(v, "hooks")
	}
	return v
}

// theirs removes our groups.
func theirs(v map[string]any) map[string]any {
	hooks, _ := v["hooks"].(map[string]any)
	for event, groups := range hooks {
		list, ok := groups.([]any)
		if !ok {
			continue
		}
		kept := []any{}
		for _, g := range list {
			text, _ := json.Marshal(g)
			if !isOurs(text) {
				kept = append(kept, g)
			}
		}
		hooks[event] = kept
	}
	return prune(v).(map[string]any)
}

// TestFilesOfOurOwnComeAndGo verifies that files that were made for the hooks are removed with
// them.
func TestFilesOfOurOwnComeAndGo(t *testing.T) {
	for _, a := range known() {
		t.Run(string(a.name), func(t *testing.T) {
			p := machine(t)
			if c := apply(t, p, Install, a.name); c.Before != nil || !c.Changes() {
				t.Fatalf("install plans %+v", c)
			}
			if ok, err := Installed(p, a.name); err != nil || !ok {
				t.Fatalf("installed: %t, %v", ok, err)
			}
			doc, err := os.ReadFile(a.file(p))
			if err != nil {
				t.Fatal(err)
			}
			for of, to := range map[string]string{"Prompt": "Question", "Agent": "It", "idle": "rest"} {
				doc = bytes.ReplaceAll(doc, []byte(of), []byte(to))
			}
			if err := os.WriteFile(a.file(p), doc, 0o600); err != nil {
				t.Fatal(err)
			}
			if ok, err := Installed(p, a.name); err != nil || !ok {
				t.Errorf("with other events: installed: %t, %v", ok, err)
			}
			apply(t, p, Uninstall, a.name)
			if _, err := os.Lstat(a.file(p)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there", a.file(p))
			}
			if c, err := Uninstall(p, a.name); err != nil || c.Changes() {
				t.Errorf("a second uninstall plans %+v, %v", c, err)
			}
		})
	}
}

// TestUninstallKeepsWhatOthersAdded verifies that hooks that were added after ours, in groups of
// their own or in ours, and settings that an agent rewrote in its own style stay.
func TestUninstallKeepsWhatOthersAdded(t *testing.T) {
	p := machine(t)
	path := apply(t, p, Install, sessions.ClaudeCode).Path
	text := read(t, path)
	ours := `{"type": "command", "command": "` + line(sessions.ClaudeCode) + `", "timeout": 10}`
	text = strings.Replace(text, ours, `{"type": "command", "command": "one"}, `+ours, 1)
	text = strings.Replace(text, `"Stop": [`, `"Stop": [{"hooks": [{"command": "two"}]},`, 1)
	write(t, path, text)
	apply(t, p, Uninstall, sessions.ClaudeCode)
	got := read(t, path)
	if strings.Contains(got, command) || !strings.Contains(got, `"one"`) || !strings.Contains(got, `"two"`) {
		t.Errorf("uninstall leaves %s", got)
	}
	values(t, []byte(got))
}

// TestSettingsThatAreNotUnderstoodStay verifies that a file that does not parse, is a link or has
// no settings is named and left alone, by both commands.
func TestSettingsThatAreNotUnderstoodStay(t *testing.T) {
	for name, text := range map[string]string{
		"comment": "{\n  // mine\n  \"a\": 1\n}\n", "torn": `{"a": 1`, "two": `{} {}`,
		"twice": `{"hooks": {}, "hooks": {}}`, "list": `[]`, "two marks": "\ufeff\ufeff{}",
		"hooks": `{"hooks": []}`, "groups": `{"hooks": {"Stop": {"a": 1}}}`, "text": "model = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := machine(t)
			path := filepath.Join(p.Home, ".claude", "settings.json")
			write(t, path, text)
			if c, err := Install(p, sessions.ClaudeCode); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("install plans %q, %v", c.After, err)
			}
			if got := read(t, path); got != text {
				t.Errorf("the file is %q now", got)
			}
		})
	}
	t.Run("link", func(t *testing.T) {
		p := machine(t)
		path := filepath.Join(p.Home, ".claude", "settings.json")
		write(t, path+".real", "{}")
		if err := os.Symlink(path+".real", path); err != nil {
			t.Fatal(err)
		}
		c, err := Install(p, sessions.ClaudeCode)
		if err != nil || !c.Changes() {
			t.Fatalf("install of a link plans %q: %v", c.After, err)
		}
		if err := c.Apply(); !errors.Is(err, errLink) {
			t.Errorf("install of a link: %v", err)
		}
		if to, err := os.Readlink(path); err != nil || read(t, to) != "{}" {
			t.Errorf("the link leads to %s: %v", to, err)
		}
		// With the hooks written there the agent has them.
		write(t, path+".real", string(c.After))
		if c, err := Install(p, sessions.ClaudeCode); err != nil || c.Changes() {
			t.Errorf("the hooks are behind the link, and the plan is %q: %v", c.After, err)
		}
		if err := os.Remove(path + ".real"); err != nil {
			t.Fatal(err)
		}
		if _, err := Install(p, sessions.ClaudeCode); !errors.Is(err, regular.ErrNot) {
			t.Errorf("install of a link to nothing: %v", err)
		}
	})
	t.Run("plugin of somebody else", func(t *testing.T) {
		p := machine(t)
		a, _ := agentOf(sessions.Opencode)
		write(t, a.file(p), "export const Mine = 1\n")
		for _, do := range []func(Places, sessions.Agent) (Change, error){Install, Uninstall} {
			if _, err := do(p, sessions.Opencode); !errors.Is(err, errForeign) {
				t.Errorf("got %v, want %v", err, errForeign)
			}
		}
	})
}

// TestApplyLooksAgain verifies that a change made after the plan is not overwritten.
func TestApplyLooksAgain(t *testing.T) {
	p := machine(t)
	c, err := Install(p, sessions.ClaudeCode)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Path, `{"model": "new"}`)
	if err := c.Apply(); err == nil {
		t.Error("a file that changed since was replaced")
	}
	if got := read(t, c.Path); got != `{"model": "new"}` {
		t.Errorf("the file is %q now", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
