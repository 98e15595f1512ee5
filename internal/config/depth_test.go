package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestTooDeep decodes files of the maximum depth, and one level deeper: each way of nesting, in
// each format.
func TestTooDeep(t *testing.T) {
	rep := strings.Repeat
	for _, tt := range []struct {
		name, file string
		text       func(levels int) string
		at         string // position of the fault
	}{
		{"dotted key", "config.toml", func(n int) string {
			return "\nx = 1\n" + rep("a.", n-1) + "a = 1\n"
		}, ":3:1"},
		{"table", "config.toml", func(n int) string {
			return "[" + rep("a.", n-1) + "a]\n"
		}, ":1:2"},
		{"array of tables", "config.toml", func(n int) string {
			return "[[" + rep("a.", n-1) + "a]]\n"
		}, ":1:3"},
		{"key in a table", "config.toml", func(n int) string {
			return "[" + rep("a.", n-50) + "a]\n" + rep("b.", 48) + "b = 1\n"
		}, ":2:1"},
		{"inline tables", "config.toml", func(n int) string {
			return "a = " + rep("{ a = ", n-1) + "1" + rep(" }", n-1) + "\n"
		}, ":1:1"},
		{"arrays", "config.toml", func(n int) string {
			return "a = " + rep("[", n-1) + rep("]", n-1) + "\n"
		}, ":1:1"},
		{"JSON", "config.json", func(n int) string {
			return rep(`{"a":`, n) + `"[{[{"` + rep("}", n)
		}, ":1:501"},
		{"JSON5", "config.json5", func(n int) string {
			return "/* [ */ // [\n" + rep(`{'a':`, n) + `'[\'['` + rep("}", n)
		}, ":2:501"},
		{"YAML", "config.yaml", func(n int) string {
			return rep("{a: ", n) + rep("}", n) + "\n"
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Decode(tt.file, []byte(tt.text(maxDepth))); err != nil {
				t.Errorf("%d levels: %v", maxDepth, err)
			}
			_, err := Load(layers(t, map[string]string{"ws/" + tt.file: tt.text(maxDepth + 1)}))
			if !errors.Is(err, errTooDeep) || !strings.Contains(err.Error(), tt.file+tt.at+": ") {
				t.Errorf("%d levels: error is %v, want %v at %s", maxDepth+1, err, errTooDeep, tt.at)
			}
			// A file that is far too deep is refused before it is decoded.
			_, err = Decode(tt.file, []byte(tt.text(9_000)))
			if !errors.Is(err, errTooDeep) {
				t.Errorf("9000 levels: error is %v", err)
			}
		})
	}
}

// TestTooManyKeys decodes files with the maximum number of values, and one more.
func TestTooManyKeys(t *testing.T) {
	rep := strings.Repeat
	for file, text := range map[string]func(n int) string{
		"config.toml":  func(n int) string { return "a = [" + rep("1,", n) + "]\n" },
		"config.json":  func(n int) string { return `{"a":[0` + rep(",1", n-1) + "]}" },
		"config.json5": func(n int) string { return "{a:[" + rep("1,", n) + "]}" },
		"config.yaml":  func(n int) string { return "a: [" + rep("1,", n) + "]\n" },
	} {
		const around = 2 // the table, and the list
		if _, err := Decode(file, []byte(text(maxKeys-around))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := Decode(file, []byte(text(maxKeys-around+1))); !errors.Is(err, errTooMany) {
			t.Errorf("%s: error is %v, want %v", file, err, errTooMany)
		}
	}
}

// TestTooManyKeysOfTOML checks that keys are counted before go-toml compares each with all others.
func TestTooManyKeysOfTOML(t *testing.T) {
	for name, key := range map[string]string{
		"keys": "a%d = 1\n", "tables": "[a%d]\n", "inline": "a%d = {b = 1}\n",
	} {
		var b strings.Builder
		for i := range 10 * maxKeys {
			fmt.Fprintf(&b, key, i)
		}
		if err := shallow([]byte(b.String())); !errors.Is(err, errTooMany) {
			t.Errorf("%s: got %v, want %v", name, err, errTooMany)
		}
	}
}
