package render

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSanitize(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"text", "plain Grüße 你好 👩‍👩‍👧\n\ttab\n", "plain Grüße 你好 👩‍👩‍👧\n\ttab\n"},
		{"colour goes", "\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m", "red x"},
		{"title", "a\x1b]0;owned\x07b", `a\x1b]0;owned\x07b`},
		{"clear", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"device control", "\x1bP+q\x1b\\", `\x1bP+q\x1b\`},
		{"incomplete colour", "a\x1b[31", `a\x1b[31`},
		{"nested colour", "\x1b\x1b[0m[2J", `\x1b[2J`},
		{"carriage return", "real\rfake", `real\x0dfake`},
		{"line ends of Windows", "a\r\nb\r\n", "a\nb\n"},
		{"backspace", "a\bb", `a\x08b`},
		{"C1 as UTF-8", "a\u009b31mb\u0085", `a\u009b31mb\u0085`},
		{"C1 as a byte", "a\x9b31mb", `a\x9b31mb`},
		{"not UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
		{"override", "a\u202eb\u202c\u2066c\u2069", `a\u202eb\u202c\u2066c\u2069`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"separator", "a\u2028b", `a\u2028b`},
		{"delete", "a\x7f", `a\x7f`},
		{"emoji", "✔️ 1️⃣ 👨🏽‍🔧 ❤️‍🔥", "✔️ 1️⃣ 👨🏽‍🔧 ❤️‍🔥"},
		{"ideographs", "葛\U000e0100城", "葛\U000e0100城"},
		{"joiners", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		{"selectors", "a\ufe0f 😀\ufe0f\ufe0f\U000e0141", `a\ufe0f 😀` + "\ufe0f" + `\ufe0f\U000e0141`},
		{"carried selectors", "é\u200b\ufe0e", "é\u200b" + `\ufe0e`},
		{"invisible", "a\u3164\u115f\u2062\u034f\uffa0b", `a\u3164\u115f\u2062\u034f\uffa0b`},
		{"selector of nothing", "\ufe0fx", `\ufe0fx`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sanitize(tt.in); got != tt.want {
				t.Errorf("Sanitize(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestOutputTextKeepsPipesLossless(t *testing.T) {
	const hostile = "a\x1b]0;x\x07\xff\r\n"
	if got := (Output{}).Text(hostile); got != hostile {
		t.Errorf("a pipe got %q, want the text unchanged", got)
	}
	for _, o := range []Output{{Terminal: true}, {Color: true}} {
		if got := o.Text(hostile); got != Sanitize(hostile) {
			t.Errorf("%+v got %q", o, got)
		}
	}
}

func TestLine(t *testing.T) {
	got, want := Output{}.Line(" two\r\n lines\tand\u2028more "), "two lines and more"
	if got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func TestSignals(t *testing.T) {
	tty := Signals{Terminal: true, Columns: 100, Term: "xterm"}
	with := func(change func(*Signals)) Signals {
		s := tty
		change(&s)
		return s
	}
	tests := []struct {
		name string
		in   Signals
		want Output
	}{
		{"terminal", tty, Output{Terminal: true, Color: true, Width: 100}},
		{
			"unknown width", with(func(s *Signals) { s.Columns = 0 }),
			Output{Terminal: true, Color: true, Width: 80},
		},
		{"pipe", Signals{Term: "xterm"}, Output{}},
		{
			"NO_COLOR", with(func(s *Signals) { s.NoColor = "1"; s.ClicolorForce = "1" }),
			Output{Terminal: true, Width: 100},
		},
		{
			"--no-color", with(func(s *Signals) { s.ColorOff = true; s.ClicolorForce = "1" }),
			Output{Terminal: true, Width: 100},
		},
		{"dumb", with(func(s *Signals) { s.Term = "dumb" }), Output{Terminal: true, Width: 100}},
		{
			"CLICOLOR=0", with(func(s *Signals) { s.Clicolor = "0" }),
			Output{Terminal: true, Width: 100},
		},
		{"forced pipe", Signals{ClicolorForce: "1"}, Output{Color: true}},
		{"not forced", Signals{ClicolorForce: "0"}, Output{}},
		{"always", Signals{ColorUI: "always"}, Output{Color: true}},
		{"auto in a pipe", Signals{ColorUI: "auto"}, Output{}},
		{"true", with(func(s *Signals) { s.ColorUI = "true" }), tty.Output()},
		{"never", with(func(s *Signals) { s.ColorUI = "never" }), Output{Terminal: true, Width: 100}},
		{"false", with(func(s *Signals) { s.ColorUI = "false" }), Output{Terminal: true, Width: 100}},
		{"NO_COLOR over always", Signals{ColorUI: "always", NoColor: "1"}, Output{}},
		{"forced", Signals{ColorUI: "never", ClicolorForce: "1"}, Output{Color: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.Output(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// harmless fails the test when out holds a control that is not a colour of ours.
func harmless(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, o Output, out string,
) {
	t.Helper()
	rest := out
	if o.Color {
		rest = ours.ReplaceAllString(rest, "")
	}
	if !utf8.ValidString(rest) {
		t.Fatalf("output is not UTF-8: %q", out)
	}
	for _, r := range rest {
		if unsafe(r) || unicode.Is(blank, r) {
			t.Fatalf("output holds %U: %q", r, out)
		}
	}
}

var ours = regexp.MustCompile(`\x1b\[(m|(1;)?(2;)?(3;)?(4;)?(9;)?[0-9]+m)`)

// hostileText draws text with many characters that terminals and Markdown obey.
func hostileText() *rapid.Generator[string] {
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\x1b[31m", "\x1b]8;;http://x\x07", "\x1b[2J", "\x1b", "\x9b", "\u009b", "\x07",
			"\r", "\r\n", "\u202e", "\u2066", "\xff", "\x00", "&#27;", "&#x9b;", "&#x1b;[2J",
			"&Tab;", "&NewLine;", "\\", "\u3164", "\ufe0f", "\U000e0141", "\u200d", "\u200b", "葛",
			"# ", "- ", "1. ", "> ", "```\n", "~~~", "    ", "\n", "\n\n",
			"*", "**", "_", "~~", "`", "``", "[a](b)", "[x]: http://y\n", "[x]", "![i](\x1b[2J)",
			"<b>", "<!--", "| a | b |\n|---|:-:|\n", "| 你好 | c |\n", "---\n", "===\n", "- [x] ",
			"https://e.org", "\t", " ", "word", "👩‍👩‍👧", "é", "0\ufe0f", "1\ufe0f\u20e3",
		}),
		rapid.StringN(0, 6, 12),
	)
	return rapid.Map(rapid.SliceOfN(atom, 0, 40), func(parts []string) string {
		return strings.Join(parts, "")
	})
}

func drawOutput(t *rapid.T) Output {
	return Output{
		Terminal: true,
		Color:    rapid.Bool().Draw(t, "color"),
		Width:    rapid.SampledFrom([]int{0, 1, 17, 40, 80}).Draw(t, "width"),
	}
}

func testTerminalOutputIsHarmless(t *rapid.T) {
	o := drawOutput(t)
	in := hostileText().Draw(t, "in")
	for _, out := range []string{
		Sanitize(in), o.Text(in), o.styled(bold|red, in), o.Line(in), o.Markdown(in),
	} {
		harmless(t, o, out)
	}
	if s := Sanitize(in); Sanitize(s) != s {
		t.Fatalf("sanitising %q twice changes it", s)
	}
}

func TestTerminalOutputIsHarmless(t *testing.T) { rapid.Check(t, testTerminalOutputIsHarmless) }

func FuzzTerminalOutputIsHarmless(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(testTerminalOutputIsHarmless))
}

// FuzzMarkdown takes arbitrary bytes, without a generator's bias.
func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n\n- b\n\n| c |\n|---|\n| &#27;[2J |\n", uint8(20))
	f.Fuzz(func(t *testing.T, in string, width uint8) {
		o := Output{Terminal: true, Color: width%2 == 0, Width: int(width)}
		harmless(t, o, o.Markdown(in))
	})
}

// Pieces of a hostile line are as harmless as the line, wherever the spans cut it.
func TestMarkedLines(t *testing.T) {
	line := "a\x1b[31mb\x1b]0;x\x07\tc"
	for at := range len(line) {
		got := Output{Terminal: true, Color: true}.Marked(line, [][]int{{at, at + 1}})
		got = strings.NewReplacer("\x1b[1;31m", "", "\x1b[m", "").Replace(got)
		if strings.ContainsAny(got, "\x1b\x07") {
			t.Errorf("cut at %d: %q", at, got)
		}
	}
	if got := (Output{}).Marked(line, [][]int{{0, 1}}); got != line {
		t.Errorf("a file is given %q", got)
	}
	got := Output{Color: true}.Marked("one two", [][]int{{0, 3}, {4, 4}, {4, 7}})
	if want := "\x1b[1;31mone\x1b[m \x1b[1;31mtwo\x1b[m"; got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
}
