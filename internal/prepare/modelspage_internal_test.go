package prepare

import (
	"fmt"
	"os"
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

// TestModelsPageHasProviders checks that the page names every provider with its key.
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
	for _, from := range []string{"README.md", "internal/commandline/mantext.go"} {
		if !strings.Contains(readPage(t, from), "docs/models.md") {
			t.Errorf("%s does not link to the page", from)
		}
	}
	if !strings.Contains(modelsPage, "docs/models.md") {
		t.Errorf("the hint is %q", modelsPage)
	}
}
