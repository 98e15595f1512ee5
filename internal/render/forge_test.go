package render

import (
	"strings"
	"testing"
)

// TestForgeLog writes text in pieces of every size: the output never has commands of a forge, and
// has all other text.
func TestForgeLog(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"::add-mask::x\n", "\\u003a:add-mask::x\n"},
		{"a\n \t::error::x", "a\n \t\\u003a:error::x"},
		{"std::vector and ::x\n", "std::vector and ::x\n"},
		{"x ##[group]y\n", "x \\u0023#[group]y\n"},
		{"##vso[task.setvariable]\n", "\\u0023#vso[task.setvariable]\n"},
		{"## Title\n: colon\nends with #", "## Title\n: colon\nends with #"},
		{"section_start:1:x\r\x1b[0Kt\n", "section_start:1:x\\x0d\\x1b[0Kt\n"},
		{"é::\n\n::x", "é::\n\n\\u003a:x"},
		{"\x1b[1mbold\x1b[0m\n", "\x1b[1mbold\x1b[0m\n"},
	} {
		for size := 1; size <= len(tc.text); size++ {
			var out strings.Builder
			w := NewForgeLog(&out)
			for rest := tc.text; rest != ""; {
				n := min(size, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Fatalf("%q in pieces of %d: %q, want %q", tc.text, size, out.String(), tc.want)
			}
		}
	}
}
