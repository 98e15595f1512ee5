package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/command"
)

func TestIncludes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"justfile", "import 'a.just'\nimport? \"sub/b\"\r\n", "a.just sub/b"},
		{"sub/justfile", "import '../c'\nmod x # why\n", "c sub/x.just sub/x/mod.just sub/x/justfile"},
		{"x.just", "mod? deploy 'ops/d.just'\n", "ops/d.just ops/d.just/justfile"},
		{"justfile", "  import 'in a recipe'\n# import 'x'\nimport f'{{x}}'\nimported := 'x'\n", ""},
		{"Makefile", "include a.mk b.mk # c\n-include d\nsinclude e\n", "a.mk b.mk d e"},
		{"sub/x.mk", "  include from/the/start\n", "from/the/start"},
		{"Makefile", "include $(wildcard *.mk) *.mk\n\tinclude x\nincluded = y\n", ""},
		{"Makefile", "include a.mk \\\n  b.mk \\\r\n c.mk\nall: \\\n  include\n", "a.mk b.mk c.mk"},
		{"Makefile", ".include \"a.mk\"\n.-include <b.mk>\n", "a.mk b.mk"},
		{"Makefile", "include a.mk\n", "a.mk.sh RCS/a.mk,v"},
		{"package.json", "import 'x'\ninclude x\n", ""},
	}
	for _, tt := range tests {
		got := command.SyntaxOf(tt.name).Includes(tt.name, []byte(tt.text))
		for want := range strings.FieldsSeq(tt.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s %q: %q has no %s", tt.name, tt.text, got, want)
			}
		}
		if tt.want == "" && got != nil {
			t.Errorf("%s %q: %q", tt.name, tt.text, got)
		}
	}
}
