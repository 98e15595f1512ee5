package jpconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/config"
)

// sampleOf returns a text that a user may type for a key, and its value as read back.
func sampleOf(p pattern) (text, want string) {
	name := strings.Join(p.path, ".")
	switch {
	case strings.HasSuffix(name, "model.id"):
		return "ollama/m", `"ollama/m"`
	case strings.HasSuffix(name, ".reasoning"):
		return "high", `"high"`
	}
	switch p.kind {
	case kindBool:
		return "true", "true"
	case kindNumber:
		return "7", "7"
	case kindList, kindPlain:
		return "a, b", `["a","b"]`
	case kindAny:
		return `[{"a": ["b"], "n": 1}]`, `[{"a":["b"],"n":1}]`
	case kindTree:
		return `{"a": {"b c": [1, true, "x"]}}`, `{"a":{"b c":[1,true,"x"]}}`
	default:
		return "word", `"word"`
	}
}

// TestEveryKeyIsSet sets each of jp's keys, reads it back and removes it, in a file whose other
// bytes do not change.
func TestEveryKeyIsSet(t *testing.T) {
	const before = "# mine\n\n[user] # me\nname = 'Ada'\n"
	tried := 0
	for _, p := range patterns() {
		path := strings.Split(strings.ReplaceAll(strings.Join(p.path, "."), "*", "x"), ".")
		name := strings.Join(path, ".")
		short := config.IsKey(append([]string{"conversation"}, path...))
		if config.IsKey(path) || short || name == "user.name" {
			continue // a key of git jp, or one that the file already has
		}
		tried++
		text, want := sampleOf(p)
		value, err := Typed(path, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := []byte(before)
		if beside, ok := strings.CutSuffix(name, "checksum.value"); ok {
			// Alone it would be the value of a merge strategy, not that of a checksum.
			file = append(file, "\n["+beside+"checksum]\nalgorithm = \"sha256\"\n"...)
		}
		data, err := config.SetValue(file, "config.toml", name, value)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Sources{User: dir})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if raw, _, _ := c.Value(path...); string(raw) != want || len(c.Warnings()) > 0 && name != "extends" {
			t.Errorf("%s: %q is read as %s with %v from\n%s", name, text, raw, c.Warnings(), data)
		}
		after, err := config.Unset(data, "config.toml", name)
		if err != nil || !strings.HasPrefix(string(after), before) || strings.Contains(string(after), " = "+text) {
			t.Errorf("%s: unset leaves %v\n%s", name, err, after)
		}
	}
	if tried < 170 {
		t.Errorf("%d keys", tried)
	}
}
