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

// TestGoldenHelp compares what 'git jp help' says of each command, to be read as prose.
func TestGoldenHelp(t *testing.T) {
	var out bytes.Buffer
	w := &world{stdout: &out, stderr: &out}
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

// adviceFiles have the hints.
var adviceFiles = []string{"report.go", "advice*.go", "meant.go"}

// TestGoldenHints compares all sentences that help: the texts of the functions which make hints,
// with … for what they are filled with.
func TestGoldenHints(t *testing.T) {
	var got strings.Builder
	n := 0
	for _, pattern := range adviceFiles {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if hints := sentences(decl); len(hints) > 0 {
					n += len(hints)
					fmt.Fprintf(&got, "%s\n  %s\n\n", nameOf(decl), strings.Join(hints, "\n  "))
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d sentences", n)
	}
	compareGolden(t, "testdata/hints.golden", got.String())
}

func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
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

// spoken is the text of an expression, with … for what is no literal.
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
