package gfm_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// theirs is the extension for the comparison.
func theirs() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.TaskList))
}

// read returns the kinds and positions of the tree of a text, and its HTML.
func read(t rapid.TB, md goldmark.Markdown, source string) string {
	t.Helper()
	src := []byte(source)
	doc := md.Parser().Parse(text.NewReader(src))
	var b bytes.Buffer
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			fmt.Fprintf(&b, "%s %d\n", n.Kind(), n.Pos())
		}
		return ast.WalkContinue, nil
	})
	if err == nil {
		err = md.Renderer().Render(&b, src, doc)
	}
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return b.String()
}

func same(t rapid.TB, source string) {
	t.Helper()
	want := read(t, theirs(), source)
	if got := read(t, gfm.New(false), source); got != want {
		t.Errorf("%q\n%s\nwant\n%s", source, got, want)
	}
}

func TestSame(t *testing.T) {
	for source, has := range map[string]string{
		"a | b\n--- | ---\n1 | 2\n":                    "<table>",
		"| a | b | c | d |\n|:-|-:|:-:|---|\n| 1 |":    `<th align="center">`,
		"before\n| a |\n| - |\n| 1 | 2 | 3\n":          "<p>before</p>\n<table>",
		"| a |\n| - |":                                 "</thead>\n</table>",
		"| a | b |\n| - |\n":                           "<p>",
		"| `a\\|b` | c\\|d |\n|-|-|\n|`x\\|y\\|z`|*w*": "<code>a|b</code>",
		"a\n---":                     "<h2>",
		"a\n |-- \n":                 "<table>",
		"a\n    |--\n":               "<p>",
		"a\n|:-x|\n":                 "<p>",
		"~a~ ~~b~~ ~~~c~~~ ~~d~ e~~": "<del>b</del>",
		"- [ ] a\n- [x] b\n- [X]\n- [y] c\n- d [ ]\n": `<input checked="" disabled="" type="checkbox"> b`,
		"> | a |\n> |---|\n> | ~~b~~ |\n":             "<del>b</del>",
	} {
		same(t, source)
		if got := read(t, gfm.New(false), source); !strings.Contains(got, has) {
			t.Errorf("%q has no %s:\n%s", source, has, got)
		}
	}
}

// TestSameOfAny compares texts that consist of the characters that the extension handles.
func TestSameOfAny(t *testing.T) {
	pieces := []string{
		"|", "|", "-", "--", ":", "`", "\\", "\\|", "~", "~~", "[ ]", "[x]", "[\t]", "a", "é", " ", "\t",
		"\n", "\n", "\n\n", "- ", "> ", "    ", "| a | b |\n|---|:-:|\n", "\v", "\f", "*", "\r\n", "1. ",
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 40).Draw(t, "pieces")
		same(t, strings.Join(words, ""))
	})
}
