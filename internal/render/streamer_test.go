package render

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// streamed writes a text in pieces and returns what was written for each, and in the end.
func streamed(
	t interface{ Fatal(args ...any) }, o Output, pieces ...string,
) (steps []string, whole string) {
	var out strings.Builder
	s := NewStreamer(&out, o)
	for _, piece := range pieces {
		before := out.Len()
		if _, err := s.WriteString(piece); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, out.String()[before:])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return steps, out.String()
}

// TestStreamerWritesWords tests what is visible of a text while it comes.
func TestStreamerWritesWords(t *testing.T) {
	for _, tt := range []struct {
		name          string
		pieces, steps []string
		whole         string
	}{
		{
			"words",
			[]string{"one tw", "o three", " four"},
			[]string{"one", " two", " three"},
			"one two three four\n",
		},
		{
			"blocks",
			[]string{"# Ti", "tle\n", "\ntext that", " goes on\n", "- item\n"},
			[]string{"", "# Title", "\n\ntext", " that goes on", "\n\n• item"},
			"# Title\n\ntext that goes on\n\n• item\n",
		},
		{
			"a span waits for its end",
			[]string{"a **bo", "ld wo", "rd** b ", "c "},
			[]string{"a", "", " **bold word** b", " c"},
			"a **bold word** b c\n",
		},
		{
			"a span that nothing closes",
			[]string{"a **bold word\n", "b** c "},
			[]string{"a **bold word", "\nb** c"},
			"a **bold word\nb** c\n",
		},
		{
			"code by lines",
			[]string{"```go\nfunc ", "main() {\n", "}\n", "```\n", "x "},
			[]string{"```go", "\nfunc main() {", "\n}", "", "\n```\n\nx"},
			"```go\nfunc main() {\n}\n```\n\nx\n",
		},
		{
			"empty lines of code",
			[]string{"```\n", "\n", "\n", "a\n", "\n", "b\n```\n"},
			[]string{"```", "\n", "\n", "\na", "\n", "\nb"},
			"```\n\n\na\n\nb\n```\n",
		},
		{
			"items as they stand",
			[]string{"1. a\n1. b\n", "\n1. c ", "d\n"},
			[]string{"1. a\n2. b", "\n\n3. c", " d"},
			"1. a\n2. b\n\n3. c d\n",
		},
		{
			"code in an item",
			[]string{"- a\n  ```\n  x\n", "  y\n", "  ```\n", "- b "},
			[]string{"• a\n  ```\n  x", "\n  y", "", "\n  ```\n• b"},
			"• a\n  ```\n  x\n  y\n  ```\n• b\n",
		},
		{
			"a table by rows",
			[]string{"| a | b |\n", "|---|---|\n", "| 1 | long ", "|\n", "| 2 | longer |\n"},
			[]string{
				"", "", "", "a       │ b\n────────┼─────────\n1       │ long", "\n2       │ longer",
			},
			"",
		},
		{
			"no table",
			[]string{"| a | b |\n", "text "},
			[]string{"", "| a | b |\ntext"},
			"| a | b |\ntext\n",
		},
		{
			"a link with its destination",
			[]string{"see [the pa", "ge](https://e.org", "/x) and [that] ", "too "},
			[]string{"see", "", " the page (https://e.org/x) and\n[that]", " too"},
			"see the page (https://e.org/x) and\n[that] too\n",
		},
		{
			"an underline is a line",
			[]string{"Title\n", "=====\n", "text\n"},
			[]string{"Title", "\n=====", "\ntext"},
			"Title\n=====\ntext\n",
		},
		{
			"a rule",
			[]string{"a\n\n- ", "- ", "-\n", "b "},
			[]string{"a", "", "\n\n" + strings.Repeat("─", 40), "\n\nb"},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Output{Terminal: true, Width: 40}
			if tt.name == "a table by rows" {
				o.Width = 18
			}
			steps, whole := streamed(t, o, tt.pieces...)
			if diff := cmp.Diff(tt.steps, steps); diff != "" {
				t.Errorf("steps (-want +got)\n%s", diff)
			}
			if tt.whole != "" && whole != tt.whole {
				t.Errorf("got  %q\nwant %q", whole, tt.whole)
			}
		})
	}
}

// cutUp cuts a text into random pieces.
func cutUp(t *rapid.T, text string) (pieces []string) {
	for text != "" {
		n := rapid.IntRange(1, min(len(text), 40)).Draw(t, "n")
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// answers draws Markdown as models write it.
func answers() *rapid.Generator[string] {
	span := rapid.SampledFrom([]string{
		"word", "words that", "**bold words**", "*it*", "`a  b`", "[text of it](https://e.org/a_b)",
		"snake_case_name", "2 * 3", "a < b", "~~gone now~~", "***both***", "List<T>", "`*`", "x ** 2",
		"(see _that one_)", "**bold with `code` in it**", "ünï", "漢字", "&amp;", "C:\\dir", "a|b", "~5",
	})
	return rapid.Custom(func(t *rapid.T) string {
		line := func(label string) string {
			return strings.Join(rapid.SliceOfN(span, 1, 9).Draw(t, label), " ")
		}
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "blocks") {
			switch rapid.IntRange(0, 7).Draw(t, "block") {
			case 0:
				b.WriteString("## " + line("heading") + "\n\n")
			case 1:
				b.WriteString("so:\n\n- " + line("item") + "\n- " + line("item") + "\n  - " + line("item") + "\n\n")
			case 2:
				b.WriteString("```go\nif a *b {\n\n\t// [x\n}\n```\n\n")
			case 3:
				b.WriteString("> " + line("quote") + "\n> " + line("quote") + "\n\n")
			case 4:
				b.WriteString("so:\n\n1. " + line("item") + "\n2. " + line("item") + "\n   ```\n   x\n   ```\n\n")
			case 5:
				b.WriteString("---\n\n")
			default:
				b.WriteString(line("text") + "\n" + line("text") + "\n\n")
			}
		}
		return b.String()
	})
}

// TestStreamerShowsTheWhole verifies that models' text looks as [Output.Markdown] shows the
// complete text, however it was cut.
func TestStreamerShowsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, o := answers().Draw(t, "in"), drawOutput(t)
		_, got := streamed(t, o, cutUp(t, in)...)
		if diff := cmp.Diff(ansi.Strip(o.Markdown(in)), ansi.Strip(got)); diff != "" {
			t.Fatalf("of %q (-want +got)\n%s", in, diff)
		}
	})
}

// letters counts the characters of a text that are never marks of Markdown.
func letters(text string) map[rune]int {
	all := map[rune]int{}
	for _, r := range text {
		if unicode.IsLetter(r) {
			all[r]++
		}
	}
	return all
}

// within reports whether some letters are among others.
func within(some, all map[rune]int) bool {
	for r, n := range some {
		if n > all[r] {
			return false
		}
	}
	return true
}

// TestStreamerKeepsTheWords verifies that no text is lost or repeated, that no line leaves a style
// in force, and that the terminal gets nothing that it could obey.
func TestStreamerKeepsTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(hostileText(), answers()).Draw(t, "in")
		in = strings.ReplaceAll(in, "&", "+") // a reference is literal text in code
		// Whether a selector is shown as an escape depends on what is before it, perhaps a mark.
		in = strings.ReplaceAll(in, "\ufe0f", "")
		in += rapid.SampledFrom([]string{"", "**open", "[t](", "| a | b |\n", "<x ", "`` c ` "}).Draw(t, "tail")
		o := drawOutput(t)
		_, got := streamed(t, o, cutUp(t, in)...)
		harmless(t, o, got)
		whole := newLiveMarkdown(o)
		want := strings.Join(whole.blocks(whole.parse(Sanitize(in)), whole.width()), "\n")
		shown := letters(ansi.Strip(got))
		if !within(letters(ansi.Strip(want)), shown) || !within(shown, letters(Sanitize(in))) {
			t.Fatalf("in   %q\ngot  %q\nwant %q", in, got, want)
		}
		for line := range strings.Lines(got) {
			at := strings.LastIndex(line, "\x1b[")
			if at >= 0 && !strings.HasPrefix(line[at:], shut) {
				t.Fatalf("line %q leaves a style on", line)
			}
		}
	})
}

// TestStreamerIsLinear verifies that twice the text costs twice the work, in whatever block it is.
func TestStreamerIsLinear(t *testing.T) {
	for _, line := range []string{
		"words of a paragraph that does not end\n", "> words of a quotation that does not end\n",
		"- an item\n", "  - an item of an item\n", "| a | row |\n", "*a **b _c `d [e <f\n", "a **b ",
	} {
		head := map[byte]string{' ': "- a\n", '|': "| a | b |\n|---|---|\n"}[line[0]]
		cost := func(n int) uint64 {
			text := head + strings.Repeat(line, n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s := NewStreamer(io.Discard, Output{Terminal: true, Width: 80})
			for rest := text; rest != ""; {
				size := min(len(rest), 50)
				if _, err := s.WriteString(rest[:size]); err != nil {
					t.Fatal(err)
				}
				rest = rest[size:]
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		const n = 300
		if once, twice := cost(n), cost(2*n); twice > 3*once {
			t.Errorf("%q: %d lines take %d bytes, %d take %d", line, n, once, 2*n, twice)
		}
	}
}
