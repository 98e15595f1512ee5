package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/models"
)

// readPage returns a file of the checkout.
func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestModelsPageIsRun holds that a script runs every command and snippet of the page.
func TestModelsPageIsRun(t *testing.T) {
	page := readPage(t, "docs/models.md")
	script := readPage(t, "testdata/script/models_page.txtar")
	lines := strings.Split(script, "\n")
	n := 0
	blocks := regexp.MustCompile("(?s)```(\\w*)\n(.*?)```").FindAllStringSubmatch(page, -1)
	for _, block := range blocks {
		switch kind, text := block[1], block[2]; kind {
		case "sh":
			for command := range strings.Lines(text) {
				n++
				if !slices.Contains(lines, "exec "+strings.TrimSpace(command)) {
					t.Errorf("nothing runs %s", command)
				}
			}
		case "toml":
			n++
			if !strings.Contains(script, "--\n\n"+text+"-- ") {
				t.Errorf("nothing uses\n%s", text)
			}
		default:
			t.Errorf("a block of kind %q", kind)
		}
	}
	if n < 20 {
		t.Errorf("only %d commands and snippets were found", n)
	}
}

// TestModelsPageHasProviders holds that the page names every provider with its key.
func TestModelsPageHasProviders(t *testing.T) {
	page := readPage(t, "docs/models.md")
	for _, p := range models.Providers() {
		key := "none"
		if p.KeyEnv != "" {
			key = "`" + p.KeyEnv + "`"
		}
		if row := fmt.Sprintf("| `%s` | %s |", p.Name, key); !strings.Contains(page, row) {
			t.Errorf("the page has no row %s", row)
		}
	}
	for _, from := range []string{"README.md", "cmd/git-jp/mantext.go"} {
		if !strings.Contains(readPage(t, from), "docs/models.md") {
			t.Errorf("%s does not link to the page", from)
		}
	}
	if !strings.Contains(modelsPage, "docs/models.md") {
		t.Errorf("the hint is %q", modelsPage)
	}
}
