package config_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/git-jp/git-jp/internal/config"
)

func TestDecode(t *testing.T) {
	for name, text := range map[string]string{
		"a.toml": "\n[a]\nb.c = 'x'\n", "a.json": `{"a":{"b":{"c":"x"}}}`,
		"a.json5": "{a:{b:{c:'x',},},}", "a.yaml": "a: {b: {c: x}}\n", "a.yml": "a:\n  b:\n    c: x\n",
	} {
		f, err := config.Decode(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprint(f.Values); got != "map[a:map[b:map[c:x]]]" {
			t.Errorf("%s: %s", name, got)
		}
		want := map[bool]int{true: 3, false: 0}[name == "a.toml"]
		if got := f.Line("a", "b", "c"); got != want {
			t.Errorf("%s: line %d, want %d", name, got, want)
		}
	}
	_, err := config.Decode("x/a.toml", []byte("a = 1\nb = \n"))
	var ke *config.KeyError
	if !errors.As(err, &ke) || ke.Origin.File != "x/a.toml" || ke.Origin.Line != 2 {
		t.Errorf("error is %v", err)
	}
}
