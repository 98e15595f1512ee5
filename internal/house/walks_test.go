package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedFunction matches `room.Function` and `room.Type.method` in a text.
var namedFunction = regexp.MustCompile("`([a-z0-9/-]+(?:\\.[A-Za-z]+){1,2})`")

// TestWalks verifies that CONTRIBUTING.md leads through existing functions, at least ten in each
// walk.
func TestWalks(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walks, _ := strings.Cut(string(data), "## Five walks")
	walks, _, _ = strings.Cut(walks, "\n## ")
	there := functions(t)
	const want, atLeast = 5, 10
	found := 0
	for _, walk := range strings.Split(walks, "\n\n**")[1:] {
		found++
		title, _, _ := strings.Cut(walk, "**")
		names := namedFunction.FindAllStringSubmatch(walk, -1)
		if len(names) < atLeast {
			t.Errorf("%s: got %d functions, want %d", title, len(names), atLeast)
		}
		for _, name := range names {
			if !there[name[1]] {
				t.Errorf("%s: there is no function %s", title, name[1])
			}
		}
	}
	if found != want {
		t.Errorf("got %d walks, want %d", found, want)
	}
}

// functions returns all functions except tests, by room, receiver and name.
func functions(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, src := range sources(t) {
		for _, decl := range src.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && !src.test {
				all[src.dir+"."+receiver(f)+f.Name.Name] = true
			}
		}
	}
	return all
}

// receiver returns the type of a method with a dot after it, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
