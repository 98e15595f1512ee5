package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSeedsNameWhatExists verifies that each package, test, script, page and decision in
// docs/seeds.md exists.
func TestSeedsNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	page := readText(t, filepath.Join(root, "docs", "seeds.md"))
	decisions := readText(t, filepath.Join(root, "docs", "decisions.md"))
	tests := testNames(t, root)
	named := 0
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || strings.Contains(cells[1], "---") || strings.Contains(cells[2], "built in") {
			continue
		}
		for _, word := range quotedWords.FindAllStringSubmatch(cells[2]+cells[3], -1) {
			named++
			name := word[1]
			switch {
			case strings.HasSuffix(name, ".txtar"):
				name = filepath.Join("testdata", "script", name)
			case strings.HasPrefix(name, "Test"):
				if !tests[name] {
					t.Errorf("there is no test %s", name)
				}
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
				t.Error(err)
			}
		}
		for _, link := range links.FindAllStringSubmatch(cells[4], -1) {
			named++
			if _, err := os.Stat(filepath.Join(root, "docs", link[2])); err != nil {
				t.Error(err)
			}
			if link[2] == "decisions.md" && !strings.Contains(decisions, "\n## "+link[1]+". ") {
				t.Errorf("there is no decision %s", link[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d names were found", named)
	}
}

var (
	quotedWords = regexp.MustCompile("`([^`]+)`")
	links       = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	testNamed   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, pattern := range []string{"*", "internal/*", "internal/*/*", "cmd/*"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, m := range testNamed.FindAllStringSubmatch(readText(t, f), -1) {
				all[m[1]] = true
			}
		}
	}
	return all
}
