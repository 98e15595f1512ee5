package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/git-jp/git-jp"

// testOnly are packages that only tests may import, from anywhere.
var testOnly = []string{"internal/gittest", "internal/realdata", "internal/scripts"}

// topLevel lists everything that the repository's root may contain.
var topLevel = []string{
	".ci", ".git", ".gitignore", ".golangci.yml", ".pre-commit-hooks.yaml", "CHANGELOG.md", "CONTRIBUTING.md",
	"LICENSE", "Makefile", "README.md", "SECURITY.md", "action.yml", "blobs", "cmd", "compact", "dedup", "docs",
	"events", "gc", "gitint", "go.mod", "go.sum", "hooks", "internal", "testdata",
}

// A source is one parsed file.
type source struct {
	path, dir string
	test      bool
	file      *ast.File
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// top is the directory of the repository.
var top = filepath.Join("..", "..")

// sources returns all files of Go. No test changes them, so they are parsed once.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no sources found")
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{
			path: rel, dir: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), file: file,
		})
		return nil
	})
	return all, err
})

func imports(f *ast.File) []string {
	var paths []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// forAll may be imported anywhere, like the standard library: they know nothing of this program.
var forAll = []string{"internal/exact", "internal/lists"}

func TestImportsFollowTheTable(t *testing.T) {
	for _, src := range sources(t) {
		r, ok := roomOf(src.dir)
		if !ok {
			t.Errorf("%s: package %s has no row in the table", src.path, src.dir)
			continue
		}
		for _, p := range imports(src.file) {
			dir, inside := strings.CutPrefix(p, module+"/")
			if !inside || dir == src.dir {
				continue
			}
			allowed := slices.Contains(forAll, dir) || slices.Contains(r.imports, dir) ||
				slices.Contains(r.imports, "*")
			switch {
			case slices.Contains(testOnly, dir):
				if !src.test && !slices.Contains(testOnly, src.dir) {
					t.Errorf("%s imports %s, which is for tests", src.path, dir)
				}
			case !allowed && !src.test:
				t.Errorf("%s: %s may not import %s", src.path, src.dir, dir)
			}
		}
	}
}

func TestOnlySomeStartProcesses(t *testing.T) {
	for _, src := range sources(t) {
		r, _ := roomOf(src.dir)
		if src.test || r.processes != "" {
			continue
		}
		if slices.Contains(imports(src.file), "os/exec") || mentions(src.file, "os", "StartProcess") ||
			mentions(src.file, "syscall", "Exec") || mentions(src.file, "syscall", "ForkExec") {
			t.Errorf("%s: %s may not start processes", src.path, src.dir)
		}
	}
}

func TestOnlySomeOpenTheNetwork(t *testing.T) {
	for _, src := range sources(t) {
		r, _ := roomOf(src.dir)
		if src.test || r.network != "" {
			continue
		}
		for _, p := range imports(src.file) {
			if p == "net" || p == "crypto/tls" || p == "net/http" || strings.HasPrefix(p, "net/http/") {
				t.Errorf("%s: %s may not import %s", src.path, src.dir, p)
			}
		}
	}
}

// TestOneDoorToGit checks that only gitint imports a library for git repositories. The second
// opinion must not use gitint: it runs git itself.
func TestOneDoorToGit(t *testing.T) {
	for _, src := range sources(t) {
		for _, p := range imports(src.file) {
			if strings.Contains(p, "go-git/") || strings.Contains(p, "git2go") {
				t.Errorf("%s imports %s", src.path, p)
			}
		}
	}
}

func TestPackagesHaveOneDocComment(t *testing.T) {
	docs, dirs := map[string][]string{}, map[string]bool{}
	for _, src := range sources(t) {
		if src.test {
			continue
		}
		dirs[src.dir] = true
		if src.file.Doc != nil {
			docs[src.dir] = append(docs[src.dir], src.path)
		}
	}
	for dir := range dirs {
		if len(docs[dir]) != 1 || path.Base(docs[dir][0]) != "doc.go" {
			t.Errorf("%s: want one package comment, in doc.go; have %q", dir, docs[dir])
		}
	}
}

func TestExportedNamesHaveDocComments(t *testing.T) {
	for _, src := range sources(t) {
		if src.test {
			continue
		}
		for _, decl := range src.file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no doc comment", src.path, name)
			}
		}
	}
}

func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		return undocumentedSpecs(d)
	}
	return nil
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// undocumentedSpecs accepts one comment for a whole group of constants or
// variables, as the standard library does.
func undocumentedSpecs(d *ast.GenDecl) []string {
	var names []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				names = append(names, s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// TestOneWayToTheTerminal verifies that only the beginning of a program uses its standard streams:
// all other code writes to the sanitised writers made from them.
func TestOneWayToTheTerminal(t *testing.T) {
	for _, src := range sources(t) {
		if src.test || path.Base(src.path) == "main.go" {
			continue
		}
		for _, name := range []string{"Stdout", "Stderr"} {
			if mentions(src.file, "os", name) {
				t.Errorf("%s: os.%s: write to what main was given", src.path, name)
			}
		}
		for _, name := range []string{"Print", "Printf", "Println"} {
			if mentions(src.file, "fmt", name) {
				t.Errorf("%s: fmt.%s writes to standard output", src.path, name)
			}
		}
	}
}

func TestNoInitAndNoExit(t *testing.T) {
	for _, src := range sources(t) {
		if src.test {
			continue
		}
		for _, decl := range src.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init functions hide state", src.path)
			}
		}
		if path.Base(src.path) != "main.go" && mentions(src.file, "os", "Exit") {
			t.Errorf("%s: only a main.go may end the process", src.path)
		}
	}
}

// asksForRoot are the tests that may ask which user runs them. The others run again as a user
// (gittest.RanAsUser): a check that is skipped for root would never be made if root always runs the
// suite.
var asksForRoot = []string{
	"blobs/access_test.go",               // needs two users
	"internal/atomicfile/access_test.go", // the same
}

func TestTestsRunForEverybody(t *testing.T) {
	for _, src := range sources(t) {
		if !src.test || src.dir == "internal/gittest" || slices.Contains(asksForRoot, src.path) {
			continue
		}
		for _, name := range []string{"Geteuid", "Getuid"} {
			if mentions(src.file, "os", name) {
				t.Errorf("%s: os.%s: use gittest.RanAsUser", src.path, name)
			}
		}
	}
}

func TestTopLevelHoldsNoMore(t *testing.T) {
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}

// readsAsIs are the files that open or read without [regular]: files that neither a clone nor
// another user can write, or that are not regular files.
var readsAsIs = map[string]string{
	"hooks/amends.go":                   "asks /proc",
	"cmd/git-jp/age_linux.go":           "asks /proc",
	"gc/move.go":                        "opens directories, to sync them",
	"gitint/internal/gitlock/holder.go": "asks /proc",
	"gitint/internal/odb/db.go":         "objects, of which it looks for sizes itself",
	"gitint/internal/odb/pack.go":       "packs of git's own making",
	"internal/llm/wire/client.go":       "reads the request that it has made",
	"internal/tools/release/sums.go":    "reads programs that were built just now",
	"internal/recheck/git.go":           "reads what git says about names",
}

// TestFilesAreReadThroughOneDoor verifies that sizes come before bytes: only internal/regular opens
// and reads a file that someone else may have written, because it limits the size. Everything that
// is read to its end has a bound.
func TestFilesAreReadThroughOneDoor(t *testing.T) {
	used := make(map[string]bool)
	for _, src := range sources(t) {
		r, _ := roomOf(src.dir)
		tools := r.network != "" && r.processes != "" || src.dir == "internal/gittest" || src.dir == "internal/llm/llmtest"
		if src.test || tools || src.dir == "internal/regular" {
			continue
		}
		for _, name := range unboundedReads(src.file) {
			if readsAsIs[src.path] == "" {
				t.Errorf("%s: %s: use internal/regular", src.path, name)
			}
			used[src.path] = true
		}
	}
	for name := range readsAsIs {
		if !used[name] {
			t.Errorf("%s need not be listed any more", name)
		}
	}
}

// unboundedReads names the calls that open any file, or read all of it.
func unboundedReads(f *ast.File) []string {
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, _ := sel.X.(*ast.Ident)
		switch name := sel.Sel.Name; {
		case name == "FS" && len(call.Args) == 0 && (pkg == nil || pkg.Name != "t"):
			found = append(found, "FS of a directory")
		case name == "OpenRoot" && (pkg == nil || pkg.Name != "regular"):
			found = append(found, "OpenRoot of package os")
		case pkg == nil:
		case pkg.Name == "os" && slices.Contains(
			[]string{"ReadFile", "Open", "DirFS"}, name),
			pkg.Name == "fs" && name == "ReadFile",
			pkg.Name == "io" && name == "ReadAll" && !isLimited(call.Args[0]):
			found = append(found, pkg.Name+"."+name)
		}
		return true
	})
	return found
}

// isLimited reports whether an expression is a call of io.LimitReader.
func isLimited(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "LimitReader"
}

// mentions reports whether the file uses pkg.name.
func mentions(f *ast.File, pkg, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
				found = true
			}
		}
		return !found
	})
	return found
}

// writesUnseen are the files that write without saying what they replace: no other program writes
// there.
var writesUnseen = map[string]string{
	"blobs/write.go":               "content, named by its hash",
	"gc/historycache.go":           "a cache",
	"gc/journal.go":                "the collector's own",
	"gc/move.go":                   "the collector's own",
	"hooks/install/apply.go":       "what was made, a list of ours",
	"internal/capture/note.go":     "notes of ours",
	"internal/handover/keep.go":    "a session, named by its id",
	"internal/merge/answer.go":     "answers of ours, in Git's directory",
	"internal/merge/record.go":     "records of ours, in Git's directory",
	"internal/quarantine/item.go":  "a directory that was just made",
	"internal/redact/entry.go":     "an entry, named by its hash",
	"internal/refs/shard.go":       "a cache",
	"internal/site/site.go":        "a folder of ours",
	"internal/stage/note.go":       "notes of ours, in Git's directory",
	"internal/trust/approvals.go":  "under a lock that only we write under",
	"internal/workspace/active.go": "what a session has open, the last one counts",
	"internal/workspace/store.go":  "a note of ours",
	"internal/workspace/wsid.go":   "a file that was not there",
}

// TestWhatOthersWriteIsReplacedAsItWas verifies that a file which another program can change
// meanwhile is written by [atomicfile.Replace].
func TestWhatOthersWriteIsReplacedAsItWas(t *testing.T) {
	onlyListed(t, writesUnseen, "use atomicfile.Replace", func(f *ast.File) bool {
		return mentions(f, "atomicfile", "Write") || mentions(f, "atomicfile", "WriteIn")
	})
}

// onlyListed verifies that exactly the listed files of the program do something.
func onlyListed(t *testing.T, list map[string]string, advice string, does func(*ast.File) bool) {
	t.Helper()
	used := make(map[string]bool)
	for _, src := range sources(t) {
		if src.test || slices.Contains(testOnly, src.dir) || src.dir == "internal/bench" ||
			!does(src.file) {
			continue
		}
		if list[src.path] == "" {
			t.Errorf("%s: %s", src.path, advice)
		}
		used[src.path] = true
	}
	for name := range list {
		if !used[name] {
			t.Errorf("%s need not be listed any more", name)
		}
	}
}

// makesOpenDirs are the files that make directories by the umask, since these belong to the working
// tree or are not our own.
var makesOpenDirs = map[string]string{
	"blobs/store.go":                    "a store of the working tree",
	"internal/config/file.go":           "jp's configuration",
	"cmd/git-jp/init.go":                "a workspace",
	"gc/journal.go":                     "the store of the working tree; else private",
	"internal/atomicfile/private.go":    "makes private ones",
	"internal/atomicfile/atomicfile.go": "makes what it is told to",
	"internal/merge/kept.go":            "the working tree",
	"internal/merge/resolve.go":         "the working tree",
	"internal/site/site.go":             "a folder to be published",
	"internal/workspace/store.go":       "the working tree; else private",
	"internal/workspace/wsid.go":        "a workspace",
}

// TestDirectoriesOfOursAreClosed verifies that all code that stores data makes its directory by
// [atomicfile.MkdirPrivate].
func TestDirectoriesOfOursAreClosed(t *testing.T) {
	onlyListed(t, makesOpenDirs, "use atomicfile.MkdirPrivate", func(f *ast.File) bool {
		return calls(f, "Mkdir") || calls(f, "MkdirAll")
	})
}

// calls reports whether the file calls something of that name, of whatever it is.
func calls(f *ast.File, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == name
		}
		return !found
	})
	return found
}
