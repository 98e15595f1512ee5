package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// later are packages that were added after the limit of lines was set, and are counted separately.
var later = []string{
	"internal/agents", "internal/approval", "internal/attached", "internal/blame",
	"internal/capture", "internal/commandline", "internal/compactor", "internal/configure",
	"internal/doctor", "internal/edits", "internal/figures", "internal/gfm", "internal/grep",
	"internal/handover", "internal/harmless", "internal/house", "internal/importer",
	"internal/intake", "internal/leaks", "internal/listing", "internal/ondemand",
	"internal/outfile", "internal/prepare", "internal/question", "internal/recall",
	"internal/recheck", "internal/redact", "internal/register", "internal/regular",
	"internal/resolve", "internal/review", "internal/revisions", "internal/schema",
	"internal/scripts", "internal/secrets", "internal/sessions", "internal/setup",
	"internal/shelf", "internal/site", "internal/spare", "internal/sqlite", "internal/staging",
	"internal/stats", "internal/tool/command", "internal/update", "internal/upkeep",
	"internal/view", "internal/web",
}

// exempt are large types on purpose: entry points to other systems, values and readers, which many
// methods make no harder to read.
var exempt = []string{"Repo", "Workspace", "Stream", "Config", "reader"}

// A tree is the code without its tests.
type tree struct {
	fset  *token.FileSet
	files []file
}

type file struct {
	name, dir string
	lines     int
	syntax    *ast.File
}

func read(root string) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name == "internal/tools"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		return t.add(name)
	})
	return t, err
}

func (t *tree) add(name string) error {
	syntax, err := parser.ParseFile(t.fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.files = append(t.files, file{
		name: name, dir: filepath.ToSlash(filepath.Dir(name)), syntax: syntax,
		lines: t.fset.File(syntax.FileStart).LineCount(),
	})
	return nil
}

// lines counts the lines of a package, of all for "".
func (t *tree) lines(dir string) int {
	n := 0
	for _, f := range t.files {
		if dir == "" || f.dir == dir {
			n += f.lines
		}
	}
	return n
}

func (t *tree) firstRooms() int {
	n := 0
	for _, f := range t.files {
		in := func(room string) bool { return strings.HasPrefix(f.dir+"/", room+"/") }
		if !slices.ContainsFunc(later, in) {
			n += f.lines
		}
	}
	return n
}

// A figure is a number and its place.
type figure struct {
	value int
	where string
}

func (f *figure) raise(value int, where string) {
	if value > f.value {
		*f = figure{value, where}
	}
}

func (t *tree) longestFile() figure {
	var most figure
	for _, f := range t.files {
		most.raise(f.lines, f.name)
	}
	return most
}

// A size says how large the largest types are.
type size struct{ fields, methods figure }

// largestType looks at the types that have both fields and methods: objects with behaviour, not
// plain data.
func (t *tree) largestType() size {
	fields, methods := map[string]int{}, map[string]int{}
	t.declarations(func(dir string, d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if name := receiver(d); name != "" {
				methods[dir+"."+name]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && !slices.Contains(exempt, s.Name.Name) {
					if st, ok := s.Type.(*ast.StructType); ok {
						fields[dir+"."+s.Name.Name] = st.Fields.NumFields()
					}
				}
			}
		}
	})
	var most size
	for name, n := range fields {
		if methods[name] > 0 {
			most.fields.raise(n, name)
			most.methods.raise(methods[name], name)
		}
	}
	return most
}

func (t *tree) declarations(visit func(dir string, d ast.Decl)) {
	for _, f := range t.files {
		for _, d := range f.syntax.Decls {
			visit(f.dir, d)
		}
	}
}

// receiver returns the name of a method's type, "" for a function's.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	switch x := ast.Unparen(d.Recv.List[0].Type).(type) {
	case *ast.StarExpr:
		return base(x.X)
	default:
		return base(x)
	}
}

func base(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.IndexExpr:
		return base(x.X)
	case *ast.IndexListExpr:
		return base(x.X)
	}
	return ""
}

// mostNames counts the exported top-level names of a package.
func (t *tree) mostNames() figure {
	names := map[string]int{}
	t.declarations(func(dir string, d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				names[dir]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names[dir] += exported(spec)
			}
		}
	})
	var most figure
	for dir, n := range names {
		most.raise(n, dir)
	}
	return most
}

func exported(spec ast.Spec) int {
	n := 0
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			n++
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				n++
			}
		}
	}
	return n
}

// singleCallers counts the unexported functions whose name occurs once in the package besides their
// declaration, and all functions.
func (t *tree) singleCallers() (single, all int) {
	uses, declared := map[string]int{}, map[string]int{}
	for _, f := range t.files {
		for n := range ast.Preorder(f.syntax) {
			switch n := n.(type) {
			case *ast.FuncDecl:
				all++
				if !n.Name.IsExported() {
					declared[f.dir+"."+n.Name.Name]++
				}
			case *ast.Ident:
				uses[f.dir+"."+n.Name]++
			}
		}
	}
	for name, n := range declared {
		if n == 1 && uses[name] == 2 {
			single++
		}
	}
	return single, all
}

// functionLengths returns the lines of all functions, sorted.
func (t *tree) functionLengths() []int {
	var lengths []int
	t.declarations(func(_ string, d ast.Decl) {
		if d, ok := d.(*ast.FuncDecl); ok {
			lengths = append(lengths, t.fset.Position(d.End()).Line-t.fset.Position(d.Pos()).Line+1)
		}
	})
	slices.Sort(lengths)
	return lengths
}
