package tool_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool"
)

func TestWords(t *testing.T) {
	tests := []struct{ in, want string }{
		{"just serve-tools {{context}} {{tool}}", "just|serve-tools|{{context}}|{{tool}}"},
		{"a {{tool.arguments.mmm | default('x y')}} b", "a|{{tool.arguments.mmm | default('x y')}}|b"},
		{`a 'b c' "d \" e" f\ g`, `a|b c|d " e|f g`},
		{`a --x="{{ tool.name }} z"`, "a|--x={{ tool.name }} z"},
		{"a {% if true %}b c{% endif %}d", "a|{% if true %}b|c{% endif %}d"},
		{`a "" b`, "a||b"},
		{"  a\t\n b ", "a|b"},
		{"$HOME `x` *", "$HOME|`x`|*"},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := tool.Words(tt.in)
		if err != nil || strings.Join(got, "|") != tt.want {
			t.Errorf("%q: %q (%v), want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{`a 'b`, `a "b`, `a \`} {
		if got, err := tool.Words(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}
