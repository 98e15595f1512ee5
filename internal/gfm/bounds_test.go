package gfm_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// html returns the HTML of a text, and whether some of its markup stayed text.
func html(t *testing.T, source string) (out string, short bool) {
	t.Helper()
	md := gfm.New(false)
	src := []byte(source)
	doc := md.Parser().Parse(text.NewReader(src))
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, src, doc); err != nil {
		t.Fatal(err)
	}
	return b.String(), gfm.IsShort(doc)
}

// TestHostileText parses texts that would otherwise take so long that the test would not end.
func TestHostileText(t *testing.T) {
	const size = 1 << 19
	var runs strings.Builder // of backticks, each of another length
	for i := 1; runs.Len() < size; i++ {
		fmt.Fprintf(&runs, "x%s ", strings.Repeat("`", i))
	}
	texts := []string{
		runs.String(),
		strings.Repeat("|x", size/4) + "\n" + strings.Repeat("|-", size/4) + "\n" + strings.Repeat("x\n", size/4),
		strings.Repeat("|x", 90) + "\n" + strings.Repeat("|-", 90) + "\n" + strings.Repeat("x\n", size/2),
	}
	for _, unit := range []string{
		"[x](", "![x](", "[x]: x\n", "[x]: x\n\"\n", "[^x]", "[x][b", "x*y_ ", "***x** b", ">", "- ", "1) - > ",
	} {
		texts = append(texts, strings.Repeat(unit, size/len(unit))+"x")
	}
	for _, source := range texts {
		out, short := html(t, source)
		if !short {
			t.Errorf("%.20q: everything was read", source)
		}
		if want, got := strings.Count(source, "x"), strings.Count(out, "x"); got < want && source[0] != '|' &&
			!strings.HasPrefix(source, "[x]:") {
			t.Errorf("%.20q: %d of %d are left", source, got, want)
		}
	}
}

// TestDeepest checks that lists and quotes nest as deep as anyone needs, and that deeper ones are
// text.
func TestDeepest(t *testing.T) {
	for _, mark := range []string{"> ", "- ", "1. "} {
		tag := map[string]string{"> ": "<blockquote>", "- ": "<ul>", "1. ": "<ol>"}[mark]
		for depth, want := range map[int]bool{39: false, 40: false, 41: true, 5000: true} {
			out, short := html(t, strings.Repeat(mark, depth)+"x\n\nafter *it*\n- a\n- b\n")
			if got := strings.Count(out, tag); got < min(depth, 40) || got > 41 || short != want {
				t.Errorf("%d times %q: %d of %s, short %v", depth, mark, got, tag, short)
			}
			if !strings.Contains(out, "<em>it</em>") || !strings.Contains(out, "<li>b</li>") {
				t.Errorf("%d times %q: %.80q…", depth, mark, out[max(len(out)-80, 0):])
			}
		}
	}
}

// TestRestIsRead checks that the markup before and after an expensive part is still parsed.
func TestRestIsRead(t *testing.T) {
	const line = "a *b* [c](http://d) `e`"
	out, short := html(t, line+"\n\n"+strings.Repeat("[a](", 1<<15)+"\n\n"+line+"\n")
	if want, _ := html(t, line); !short || !strings.HasPrefix(out, want) || !strings.HasSuffix(out, want) {
		t.Errorf("short %v, %.200q", short, out)
	}
}

// TestPlainTextIsRead checks that long texts with little markup are parsed.
func TestPlainTextIsRead(t *testing.T) {
	paragraph := strings.Repeat("Words *and* `code`, some_name and [a link](https://a.b/c).\n", 40)
	list := strings.Repeat("- [ ] an item, **bold**\n  - one in it\n", 200)
	table := "| a | b |\n| - | - |\n" + strings.Repeat("| `x` | y |\n| z |\n", 100)
	links := strings.Repeat("[1]: https://a.b/c 'title'\n", 100)
	md := strings.Repeat(paragraph+"\n"+list+"\n"+table+"\n", 10) + links
	doc := gfm.New(false).Parser().Parse(text.NewReader([]byte(md)))
	if gfm.IsShort(doc) || gfm.IsShort(ast.NewDocument()) {
		t.Error("something stayed text")
	}
}
