package render

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMarkdown(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", " \n\n", ""},
		{"heading", "Title\n=====\n\n### Sub\n", "# Title\n\n### Sub\n"},
		{"paragraph wraps", "one two three four five six", "one two three four\nfive six\n"},
		{"line breaks stay", "one\ntwo", "one\ntwo\n"},
		{"emphasis", "*a* **b** ~~c~~ `d`", "*a* **b** ~~c~~ `d`\n"},
		{
			"code", "```go\nfunc  main() { /* long line that stays */ }\n```",
			"```go\nfunc  main() { /* long line that stays */ }\n```\n",
		},
		{"code with fences", "~~~~\n```\nx\n```\n~~~~", "~~~~\n```\nx\n```\n~~~~\n"},
		{"tight list", "- a\n- b\n  - c\n", "• a\n• b\n  • c\n"},
		{"loose list", "1. a\n\n2. b\n\n   more\n", "1. a\n\n2. b\n\n   more\n"},
		{"list wraps", "- one two three four five", "• one two three four\n  five\n"},
		{"tasks", "- [x] done\n- [ ] open\n", "• [x] done\n• [ ] open\n"},
		{"quote", "> a\n> b\n>\n> c", "│ a\n│ b\n│ \n│ c\n"},
		{"link", "[text](https://e.org)", "text (https://e.org)\n"},
		{"link of itself", "<https://e.org>", "https://e.org\n"},
		{"reference", "[t]\n\n[t]: /u\n", "t (/u)\n\n[t]: /u\n"},
		{"definition", "[a]: /u 'b'\n\n[^c]: d\n", "[a]: /u 'b'\n\n[^c]: d\n"},
		{"titles", "[a](/u 'b') ![](p \"c\")", "a (/u \"b\") [] (p\n\"c\")\n"},
		{"words beside a fence", "~~~go a=\"b\"\nc\n~~~", "~~~go a=\"b\"\nc\n~~~\n"},
		{"more cells", "| a | b |\n|---|---|\n| 1 | 2 | 3 |4|", "a │ b\n──┼─────────\n1 │ 2 | 3 |4\n"},
		{"image", "![alt](p.png)", "[alt] (p.png)\n"},
		{"links in an image", "![a [b](/u) *[c](/v)*\n<http://e> ![](f)](p.png)", "[a b (/u) c (/v)\nhttp://e (f)]\n(p.png)\n"},
		{"rule", "a\n\n***\n", "a\n\n────────────────────\n"},
		{"entities", `&lt;b&gt; &amp;lt; \&lt; AT&T a&copy=1`, "<b> &lt; &lt; AT&T\na&copy=1\n"},
		{"forged line", "a&NewLine;# b&Tab;c", "a # b c\n"},
		{"html", "<div>\nx\n</div>\n", "<div>\nx\n</div>\n"},
		{"raw html", "a<br>b", "a<br>b\n"},
		{"table", "| a | right |\n|---|--:|\n| b | 1 |\n", "a │ right\n──┼──────\nb │     1\n"},
		{
			"wide table", "| one | two |\n|---|---|\n| aaa bbb ccc ddd | eee fff ggg hhh |\n",
			"one      │ two\n─────────┼──────────\naaa bbb  │ eee fff\nccc ddd  │ ggg hhh\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Output{Terminal: true, Width: 20}.Markdown(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestMarkdownColour(t *testing.T) {
	got := Output{Terminal: true, Color: true, Width: 12}.Markdown("a **bold words here** `c`\n")
	want := "a \x1b[1mbold words\x1b[m\n\x1b[1mhere\x1b[m \x1b[33mc\x1b[m\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Every line ends without a style in force, so that a prefix or a pager cannot
// show one where it does not belong.
func TestMarkdownLinesCloseTheirStyle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostileText().Draw(t, "in")
		for line := range strings.SplitSeq((Output{Color: true, Width: 17}).Markdown(in), "\n") {
			at := strings.LastIndex(line, "\x1b[")
			if at >= 0 && !strings.HasPrefix(line[at:], "\x1b[m") {
				t.Fatalf("line %q leaves a style on", line)
			}
		}
	})
}

func TestMarkdownParagraphsFitTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "word", "**bold**", "`code`", "*it*", "你好", "👩‍👩‍👧", "é",
			"long-compound-word-that-must-break",
		}), 1, 60).Draw(t, "words")
		width := rapid.IntRange(leastWidth, 90).Draw(t, "width")
		out := Output{Color: rapid.Bool().Draw(t, "color"), Width: width}
		in := rapid.SampledFrom([]string{"", "- ", "> ", "# ", "> 1. "}).Draw(t, "in") +
			strings.Join(words, " ")
		for line := range strings.SplitSeq(out.Markdown(in), "\n") {
			if w := ansi.StringWidth(line); w > max(width, leastWidth+5) {
				t.Fatalf("line of %d columns, want at most %d: %q", w, width, line)
			}
		}
	})
}

// Wrapping may change white space and nothing else.
func TestMarkdownKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zäß你-]{1,30}`), 1, 40).Draw(t, "words")
		in := "x " + strings.Join(words, " ")
		got := Output{Color: true, Width: rapid.IntRange(16, 60).Draw(t, "width")}.Markdown(in)
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(ansi.Strip(got)) != squeeze(in) {
			t.Fatalf("in  %q\nout %q", in, got)
		}
	})
}

// TestHostileMarkdown renders texts that would otherwise take so long that the test would not end.
func TestHostileMarkdown(t *testing.T) {
	const size = 1 << 18
	for _, unit := range []string{
		"[x](", "![x](", "[x]: x\n", "*x **x ", ">", "- ", "[^x]", "x*y_ ", "~x ", "`` ` ",
	} {
		out := Output{Terminal: true, Color: true, Width: 80}.Markdown(strings.Repeat(unit, size/len(unit)) + "x")
		if !strings.Contains(out, gfm.Short) {
			t.Errorf("%q: nothing says that marks are left", unit)
		}
	}
}
