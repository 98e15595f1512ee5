package view_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/view"
	"golang.org/x/net/html"
)

// TestLongTextIsCut verifies that long text shows its beginning and how much more there is, all of
// it in the page.
func TestLongTextIsCut(t *testing.T) {
	line := strings.Repeat("0123456789", 1_000_000)
	many := strings.Repeat("line\n", 1000)
	for _, text := range []string{line, many, "short"} {
		_, root := page(t, view.Document{}, newTalk().ask("q").
			call("x", map[string]any{}, text, false).say("a").conversation(1))
		result := find(root, "div", "result")[0]
		var got strings.Builder
		for _, pre := range find(result, "pre", "") {
			for n := range pre.Descendants() {
				if n.Type == html.TextNode {
					got.WriteString(n.Data)
				}
			}
		}
		if strings.TrimSuffix(text, "\n") != got.String() {
			t.Errorf("got %d bytes, want %d", got.Len(), len(text))
		}
		closed := len(find(result, "details", "rest"))
		if (text == "short") != (closed == 0) {
			t.Errorf("%d bytes: got %d closed pieces", len(text), closed)
		}
	}
	_, root := page(t, view.Document{}, newTalk().ask("q").
		call("x", map[string]any{}, many, false).say("a").conversation(1))
	if got := words(find(find(root, "details", "rest")[0], "summary", "")...); got != "970 more lines, 4.8 kB" {
		t.Errorf("got %q", got)
	}
}

// TestPagesAreBounded verifies that text for which a page has no room is on a page beside it, for
// results and for prompts. Links lead there and back.
func TestPagesAreBounded(t *testing.T) {
	k := newTalk().ask(strings.Repeat("prompt\n", 100_000))
	for range 4 {
		k.call("x", map[string]any{}, strings.Repeat("result\n", 50_000), false)
	}
	rest := view.NewRest(1)
	text, root := page(t, view.Document{Rest: rest}, k.say("a").conversation(1))
	if len(text) > 700_000 || rest.IsEmpty() {
		t.Errorf("the page has %d bytes", len(text))
	}
	var beside strings.Builder
	if err := rest.Write(&beside, "./", "t"); err != nil {
		t.Fatal(err)
	}
	there, err := html.Parse(strings.NewReader(beside.String()))
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int{"prompt\n": 100_000, "result\n": 4 * 50_000} {
		if got := strings.Count(text, word) + strings.Count(beside.String(), word); got < want-4 {
			t.Errorf("%q is there %d times, want %d", word, got, want)
		}
	}
	links, sections := find(root, "p", "rest"), find(there, "section", "span")
	if len(links) != len(sections) || len(links) < 2 {
		t.Fatalf("got %d links to %d sections", len(links), len(sections))
	}
	for i, s := range sections {
		at := attribute(s, "id")
		to, back := attribute(links[i].FirstChild, "href"), attribute(find(s, "a", "")[0], "href")
		if attribute(links[i], "id") != at || to != "1-rest.html#"+at || back != "1.html#"+at {
			t.Errorf("section %q: got links %q and %q", at, to, back)
		}
	}
}

// TestPagesAreAsLargeAsTheirText verifies that a page takes 1.3 times its text at most, and code in
// colours three times.
func TestPagesAreAsLargeAsTheirText(t *testing.T) {
	empty, _ := page(t, view.Document{}, newTalk().ask("q").say("a").conversation(1))
	line := "a line of what a tool has read: if x < 3 && y > \"4\" { return nil }\n"
	said := strings.Repeat(strings.Repeat("An answer of a few words. ", 7)+"It has `code`.\n\n", 15)
	k, text := newTalk(), 0
	for range 50 {
		result := strings.Repeat(line, 200)
		k.ask("question").call("Bash", map[string]any{"command": "cat a.txt"}, result, false).say(said)
		text += len(result) + len(said)
	}
	got, _ := page(t, view.Document{}, k.conversation(1))
	if ratio := float64(len(got)-len(empty)) / float64(text); ratio > 1.3 {
		t.Errorf("the page of %d bytes of text is %.2f times as large", text, ratio)
	} else {
		t.Logf("text: %.2f", ratio)
	}
	code, err := os.ReadFile("page.go")
	if err != nil {
		t.Fatal(err)
	}
	got, _ = page(t, view.Document{}, newTalk().ask("q").
		call("Read", map[string]any{"path": "page.go"}, string(code), false).say("a").conversation(1))
	if ratio := float64(len(got)-len(empty)) / float64(len(code)); ratio > 3 || !strings.Contains(got, `<i class="k">func</i>`) {
		t.Errorf("the page of %d bytes of code is %.2f times as large", len(code), ratio)
	} else {
		t.Logf("code: %.2f", ratio)
	}
}
