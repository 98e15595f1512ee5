package house

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is generated from the tests into the documents")

// roomsHead is what docs/rooms.md has before its rows.
const roomsHead = `# Rooms

The packages of [architecture.md](architecture.md). One may import only what its row lists.
Generated from the table in internal/house/rooms_test.go, which that package's tests enforce:
` + "`go test ./internal/house -update`" + ` writes this page.

| package | is | may import | processes | network |
|---|---|---|---|---|
`

// TestRoomsPage verifies that the page shows the table of the tests; with -update it is written.
func TestRoomsPage(t *testing.T) {
	page := filepath.Join(top, "docs", "rooms.md")
	var want strings.Builder
	want.WriteString(roomsHead)
	for _, r := range rooms {
		want.WriteString(r.row())
	}
	if *update {
		if err := os.WriteFile(page, []byte(want.String()), 0o644); err != nil { // a document
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("docs/rooms.md shows another table; run the test with -update")
	}
}

// TestDocumentsStayShort counts the lines of the documents that are read from top to bottom.
func TestDocumentsStayShort(t *testing.T) {
	for name, limit := range map[string]int{"docs/architecture.md": 120, "CHANGELOG.md": 40} {
		data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "\n"); got > limit {
			t.Errorf("%s: got %d lines, want at most %d", name, got, limit)
		}
	}
}

// row returns a line of the table in Markdown.
func (r room) row() string {
	imports := make([]string, len(r.imports))
	for i, dir := range r.imports {
		imports[i] = "`" + dir + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", r.dir, r.is,
		cmp.Or(strings.ReplaceAll(strings.Join(imports, ", "), "`*`", "all"), "–"),
		cmp.Or(r.processes, "no"), cmp.Or(r.network, "no"))
}
