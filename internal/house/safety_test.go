package house

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promisesPage lists the promises about deleting content, each with its test.
const promisesPage = "docs/safety.md"

// promiseless are the sections of the page that promise nothing.
var promiseless = []string{"Why nothing is lost", "Words", "What is not promised"}

// namedTest matches the name of a test, with its package unless that is gc, or of a script.
var namedTest = regexp.MustCompile("`(?:([a-z0-9/-]+)\\.)?(Test[A-Z][A-Za-z0-9_]*)`|`([a-z0-9_]+\\.txtar)`")

// TestPromisesNameTheirTests verifies that each promise of the page names tests, and that these
// tests exist.
func TestPromisesNameTheirTests(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(promisesPage)))
	if err != nil {
		t.Fatal(err)
	}
	tests, section, named := allTests(t), "", 0
	for _, block := range blocks(string(data)) {
		if title, ok := strings.CutPrefix(block, "#"); ok {
			section = strings.Trim(title, "# ")
			continue
		}
		found := namedTest.FindAllStringSubmatch(block, -1)
		named += len(found)
		for _, m := range found {
			name := m[3]
			if m[2] != "" {
				name = path.Join(m[1], m[2])
				if m[1] == "" {
					name = "gc/" + m[2]
				}
			}
			if !tests[name] {
				t.Errorf("%s: there is no test %s", promisesPage, m[0])
			}
		}
		if len(found) == 0 && !isPromiseless(section) {
			t.Errorf("%s, %q: no test is named in %q", promisesPage, section, block)
		}
	}
	if named == 0 {
		t.Errorf("%s names no tests", promisesPage)
	}
}

func isPromiseless(section string) bool {
	return slices.Contains(promiseless, section)
}

// blocks splits a page into headings, items of lists, and paragraphs. A table, and a list, is a
// part of the paragraph that introduces it by a colon.
func blocks(page string) []string {
	var all []string
	introduced := ""
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		items := splitItems(paragraph)
		switch {
		case paragraph == "":
			continue
		case strings.HasPrefix(paragraph, "|"):
			items = []string{introduced + paragraph}
		case strings.HasSuffix(paragraph, ":"):
			introduced = paragraph + "\n"
			continue
		}
		introduced = ""
		all = append(all, items...)
	}
	return all
}

// item begins an item of a list.
var item = regexp.MustCompile(`(?m)^(\*|[0-9]+\.) `)

func splitItems(paragraph string) []string {
	at := item.FindAllStringIndex(paragraph, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return []string{paragraph}
	}
	var all []string
	for i, begin := range at {
		end := len(paragraph)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all = append(all, paragraph[begin[0]:end])
	}
	return all
}

// allTests returns the tests of all packages, by package and name, and the scripts.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, src := range sources(t) {
		for _, decl := range src.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && src.test && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				all[src.dir+"/"+f.Name.Name] = true
			}
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root(t), "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		all[filepath.Base(name)] = true
	}
	return all
}

// TestBlocks splits a page.
func TestBlocks(t *testing.T) {
	page := "# Title\n\nA paragraph\nof two lines.\n\n* one\n  more\n* two\n\n1. first\n2. second\n\n" +
		"A table:\n\n| a | b |\n| c | d |\n\nA list:\n\n* three\n"
	want := []string{
		"# Title", "A paragraph\nof two lines.", "* one\n  more\n", "* two", "1. first\n",
		"2. second", "A table:\n| a | b |\n| c | d |", "* three",
	}
	got := blocks(page)
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d: got %q, want %q", i, got[i], want[i])
		}
	}
}
