package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestGoldenHelp compares the output of 'git jp help' for each command, to be read as prose.
func TestGoldenHelp(t *testing.T) {
	var out bytes.Buffer
	w := &environment{stdout: &out, stderr: &out}
	parser, err := kong.New(&cli{}, kongOptions(w)...)
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{""}
	_ = kong.Visit(parser.Model, func(v kong.Visitable, next kong.Next) error {
		node, ok := v.(*kong.Node)
		if ok && node.Hidden {
			return nil
		}
		if ok && node.Type == kong.CommandNode {
			commands = append(commands, strings.TrimPrefix(nodePath(node), " "))
		}
		return next(nil)
	})
	var got strings.Builder
	for i, command := range commands {
		out.Reset()
		w.args = append([]string{"help"}, strings.Fields(command)...)
		if code := run(t.Context(), w); code != 0 {
			t.Errorf("help %s: exit code %d: %s", command, code, &out)
		}
		text := out.String()
		if i > 0 { // the flags of all commands are read once
			text = globalFlags.ReplaceAllString(text, "")
		}
		fmt.Fprintf(&got, "$ git jp help %s\n\n%s\n", command, text)
	}
	compareGolden(t, "testdata/help.golden", got.String())
}

var globalFlags = regexp.MustCompile(`(?s)Flags:\n  -h, --help.*?(\n\n|$)`)

func nodePath(node *kong.Node) string {
	if node.Parent == nil {
		return ""
	}
	return nodePath(node.Parent) + " " + node.Name
}

// TestGoldenHints compares all hints: the texts of the room that makes hints, and those that errors
// of other rooms have themselves, with … for inserted values.
func TestGoldenHints(t *testing.T) {
	var got strings.Builder
	n := 0
	all := declarations(t, "../../internal/report")
	for _, dir := range append([]string{"."}, rooms(t)...) {
		all = append(all, slices.DeleteFunc(
			declarations(t, dir), func(d ast.Decl) bool { return !isHint(d) })...)
	}
	for _, decl := range all {
		if hints := sentences(decl); len(hints) > 0 {
			n += len(hints)
			fmt.Fprintf(&got, "%s\n  %s\n\n", nameOf(decl), strings.Join(hints, "\n  "))
		}
	}
	if n < 80 {
		t.Errorf("only %d sentences", n)
	}
	compareGolden(t, "testdata/hints.golden", got.String())
}

// rooms returns the packages below internal except the one whose declarations are all searched.
func rooms(t *testing.T) []string {
	files, err := filepath.Glob("../../internal/*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, file := range files {
		if dir := filepath.Dir(file); filepath.Base(dir) != "report" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// declarations returns the declarations of a package, without its tests, in the order of files.
func declarations(t *testing.T, dir string) (all []ast.Decl) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file.Decls...)
	}
	return all
}

// isHint reports whether a command says here itself what can be done about an error.
func isHint(decl ast.Decl) (found bool) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		return f.Name.Name == "Hints"
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			name, ok := lit.Type.(*ast.Ident)
			found = found || ok && name.Name == "situation"
		}
		return true
	})
	return found
}

func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			if star, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
				return fmt.Sprint(star.X, ".", d.Name.Name)
			}
		}
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return ""
}

// sentences returns the texts of a declaration that have several words.
func sentences(decl ast.Decl) (all []string) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if text := spoken(n); strings.Contains(text, " ") {
				all = append(all, text)
				return false
			}
		case *ast.BasicLit:
			if text := spoken(n); strings.Contains(strings.TrimSpace(text), " ") {
				all = append(all, text)
			}
		}
		return true
	})
	return slices.Compact(all)
}

// spoken returns the text of an expression, with … for anything but literals.
func spoken(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return spoken(e.X) + spoken(e.Y)
		}
		return ""
	}
	return "…"
}
