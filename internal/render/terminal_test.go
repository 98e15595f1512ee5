package render

import (
	"bytes"
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	tests := []struct {
		in, want string
		moves    bool
	}{
		{in: "text\n\twith \x1b[1;31mcolour\x1b[m 日本\n", want: "text\n\twith \x1b[1;31mcolour\x1b[m 日本\n"},
		{in: "\x1b]0;title\a", want: `\x1b]0;title\x07`},
		{in: "\x1b[2J\x1b[31m\x1b[H", want: `\x1b[2J` + "\x1b[31m" + `\x1b[H`},
		{in: "a\u009bb\u202ec\x7f\xff", want: `a\u009bb\u202ec\x7f\xff`},
		{in: "over\rwritten", want: `over\x0dwritten`},
		{in: "\r| 12 %\r", want: "\r| 12 %\r", moves: true},
		{in: "✔️ 葛\u3164 👩‍👧", want: "✔️ 葛" + `\u3164` + " 👩‍👧"},
		{in: "end \x1b", want: `end \x1b`},
		{in: "end \x1b[3", want: `end \x1b[3`},
		{in: "end \xe6\x97", want: `end \xe6\x97`},
		{in: "\x1b[" + strings.Repeat("1;", 100) + "2J", want: `\x1b[` + strings.Repeat("1;", 100) + "2J"},
	}
	for _, tt := range tests {
		// Cut anywhere, the output is the same.
		for cut := range len(tt.in) {
			var out bytes.Buffer
			w := NewTerminal(&out, tt.moves)
			for _, part := range []string{tt.in[:cut], tt.in[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("wrote %d of %d (%v)", n, len(part), err)
				}
			}
			if err := w.Flush(); err != nil || out.String() != tt.want {
				t.Errorf("%q cut at %d: got %q, want %q (%v)", tt.in, cut, out.String(), tt.want, err)
			}
		}
	}
}
