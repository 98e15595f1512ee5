package house

import (
	"go/ast"
	"slices"
	"testing"
)

// TestPropertiesSayTheirSeed verifies that no check of a property fails the test around it: the
// seed with which it can be repeated, and a shorter case, are only there if the check fails itself.
func TestPropertiesSayTheirSeed(t *testing.T) {
	properties := 0
	for _, src := range sources(t) {
		if !src.test {
			continue
		}
		for _, decl := range src.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			around := parameters(f.Type, "testing", "T", "TB", "F")
			for _, check := range checksIn(f.Body) {
				properties++
				own := parameters(check.Type, "rapid", "T")
				for _, name := range used(check.Body) {
					if slices.Contains(around, name) && !slices.Contains(own, name) {
						t.Errorf("%s, %s: a check uses %s of the test around it", src.path, f.Name, name)
					}
				}
			}
		}
	}
	if properties < 50 {
		t.Errorf("found %d properties", properties)
	}
}

// parameters returns the names of a function's parameters of some types of a package.
func parameters(f *ast.FuncType, pkg string, types ...string) (names []string) {
	for _, field := range f.Params.List {
		of := field.Type
		if pointer, ok := of.(*ast.StarExpr); ok {
			of = pointer.X
		}
		sel, ok := of.(*ast.SelectorExpr)
		if !ok || !slices.Contains(types, sel.Sel.Name) {
			continue
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// checksIn returns the functions in a body that check a case of a property.
func checksIn(body ast.Node) (all []*ast.FuncLit) {
	ast.Inspect(body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && len(parameters(f.Type, "rapid", "T")) > 0 {
			all = append(all, f)
		}
		return true
	})
	return all
}

// used returns the names that a body uses, except for the directories and the log of a test.
func used(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if slices.Contains([]string{"TempDir", "Logf"}, n.Sel.Name) {
				return false
			}
			names = append(names, used(n.X)...)
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}
