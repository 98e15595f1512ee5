package render

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked shows the styles of a line as letters in braces.
func marked(language, line string) string {
	names := strings.NewReplacer("\x1b[34m", "{k ", "\x1b[32m", "{s ", "\x1b[35m", "{n ",
		"\x1b[2m", "{c ", "\x1b[33m", "{y ", "\x1b[31m", "{- ", "\x1b[36m", "{@ ", "\x1b[m", "}")
	return names.Replace(Output{Terminal: true, Color: true}.codeLine(language, line))
}

func TestCodeLines(t *testing.T) {
	for _, tt := range []struct{ language, line, want string }{
		{"go", `return f("a // b", 'x', 0x1F) // why`, `{k return} f({s "a // b"}, {s 'x'}, {n 0x1F}) {c // why}`},
		{"Go", "returned := map[string]int{}", "returned := {k map}[string]int{}"},
		{"go", `s := "it \"is\""`, `s := {s "it \"is\""}`},
		{"rust", "fn f<'a>(x: &'a str) {}", "{k fn} f<'a>(x: &'a str) {}"},
		{"python", "def f(): # it's", "{k def} f(): {c # it's}"},
		{"sh", "echo $# 'a b' # c", "echo $# {s 'a b'} {c # c}"},
		{"sh", "curl http://x/#y", "curl http://x/#y"},
		{"js", "import x from 'http://a'", "{k import} x {k from} {s 'http://a'}"},
		{"sql", "select 1 -- one", "{k select} {n 1} {c -- one}"},
		{"json", `{"a": true, "b": 12}`, `{{s "a"}: {k true}, {s "b"}: {n 12}}`},
		{"toml", `a = "x" # y`, `a = {s "x"} {c # y}`},
		{"diff", "-old", "{- -old}"},
		{"diff", "+new", "{s +new}"},
		{"diff", "@@ -1 +1 @@", "{@ @@ -1 +1 @@}"},
		{"", "return 1", "{y return 1}"},
		{"brainfuck", "return 1", "{y return 1}"},
		{"go", "über := 1", "über := {n 1}"},
		{"go", "", ""},
		{"js", `it's "b" x`, `it's {s "b"} x`},
		{"js", `a "b' 'c' d`, `a "b{s ' '}c' d`},
	} {
		if got := marked(tt.language, tt.line); got != tt.want {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.language, tt.line, got, tt.want)
		}
	}
}

// TestHostileCode highlights code that would otherwise take so long that the test would not end.
func TestHostileCode(t *testing.T) {
	const size = 4 << 20
	for _, unit := range []string{`'\`, `"\`, "`\\", `"'\`, " /", "# "} {
		line := strings.Repeat(unit, size/len(unit))
		n := 0
		Tokens("js", line, func(_ TokenKind, text string) { n += len(text) })
		if n != len(line) {
			t.Errorf("%s: %d bytes of %d", unit, n, len(line))
		}
	}
}

// The colours change no text, and a hostile line stays harmless.
func TestCodeLinesKeepTheText(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9;]*m")
	rapid.Check(t, func(t *rapid.T) {
		line := strings.ReplaceAll(hostileText().Draw(t, "line"), "\n", " ")
		language := rapid.SampledFrom([]string{"go", "sh", "json", "diff", "sql", "x"}).Draw(t, "language")
		plain, colours := Output{Terminal: true}, Output{Terminal: true, Color: true}
		want := plain.codeLine(language, line)
		got := colours.codeLine(language, line)
		if text := sgr.ReplaceAllString(got, ""); text != want {
			t.Fatalf("%q became %q", want, text)
		}
		harmless(t, colours, got)
	})
}
