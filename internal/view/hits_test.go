package view_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/view"
	"golang.org/x/net/html"
)

// TestHitsAreText checks that words and texts of a search are text, and that a link keeps both the
// words and the key of the event, whatever they are.
func TestHitsAreText(t *testing.T) {
	const bad = `<script>alert(1)</script>"&#`
	var b strings.Builder
	err := view.Hits{Words: "a&b #c?" + bad, All: []view.Hit{
		{Title: bad, Page: "1.html", Key: "k#?&" + bad, Turn: 2, Scope: bad, Text: bad},
	}}.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(find(root, "script", "")); n > 1 {
		t.Errorf("%d scripts in %s", n, b.String())
	}
	const want = "1.html?q=a%26b+%23c%3F%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22%26%23#e-" +
		"k%23%3F&%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22&%23"
	links := find(find(root, "ul", "hits")[0], "a", "")
	if len(links) != 1 || attribute(links[0], "href") != want || words(links[0]) != bad+", turn 2" {
		t.Errorf("links are %s", b.String())
	}
}
