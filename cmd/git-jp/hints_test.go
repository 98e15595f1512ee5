package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// commandForm finds text that looks like a command of ours: quoted, indented as an example, or a
// complete text.
var commandForm = regexp.MustCompile("(?:\x00|['`\"]|[$:;&|] |\n    )git jp ([a-z]+(?:-[a-z]+)*)\\b((?: --[a-z-]+(?:[= ][a-zA-Z0-9.<%]+)?)*)")

var flagForm = regexp.MustCompile(` (--[a-z-]+)([= ][a-zA-Z0-9.<%]+)?`)

// TestHintsNameCommandsThatExist reads every text of the program and of its
// documentation: a hint that names a command which does not exist is worse than none.
func TestHintsNameCommandsThatExist(t *testing.T) {
	known := commandFlags(t)
	seen := 0
	for name, text := range texts(t, filepath.Join("..", "..")) {
		for _, m := range commandForm.FindAllStringSubmatch(text, -1) {
			seen++
			flags, ok := known[m[1]]
			if !ok {
				t.Errorf("%s: no command 'git jp %s'", name, m[1])
			}
			for _, f := range flagForm.FindAllStringSubmatch(m[2], -1) {
				switch wantsValue, exists := flags[f[1]]; {
				case ok && !exists:
					t.Errorf("%s: 'git jp %s' has no flag %s", name, m[1], f[1])
				case ok && wantsValue && f[2] == "":
					t.Errorf("%s: 'git jp %s %s' lacks a value", name, m[1], f[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands found", seen)
	}
}

// commandFlags returns the flags of each command, by each of its names, and whether
// they take a value.
func commandFlags(t *testing.T) map[string]map[string]bool {
	t.Helper()
	parser, err := kong.New(&cli{}, kongOptions(&environment{})...)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{"conversation": {}, "c": {}} // prefixes of all
	for _, node := range parser.Model.Children {
		flags := map[string]bool{}
		for _, group := range node.AllFlags(false) {
			for _, f := range group {
				flags["--"+f.Name] = !f.IsBool()
			}
		}
		for _, child := range node.Children {
			for _, f := range child.Flags {
				flags["--"+f.Name] = !f.IsBool()
			}
		}
		known[node.Name] = flags
		for _, alias := range node.Aliases {
			known[alias] = flags
		}
	}
	return known
}

// texts returns the string literals of the program, the documentation and the demo.
func texts(t *testing.T, root string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	addSources(t, root, "cmd/git-jp", all)
	for _, pattern := range []string{
		"*.md", "docs/*.md", "testdata/demo.sh", "action.yml", ".pre-commit-hooks.yaml",
	} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(data)
		}
	}
	return all
}

// addSources adds the literals of a package, and of those of the module that it imports: text that
// is not linked is never printed.
func addSources(t *testing.T, root, dir string, all map[string]string) {
	t.Helper()
	const module = "github.com/git-jp/git-jp/"
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, known := all[name]; known || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = literals(file)
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if path, ok := strings.CutPrefix(path, module); ok {
				addSources(t, root, path, all)
			}
		}
	}
}

func literals(file *ast.File) string {
	var text strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, _ := strconv.Unquote(lit.Value)
			text.WriteString("\x00" + s)
		}
		return true
	})
	return text.String()
}
