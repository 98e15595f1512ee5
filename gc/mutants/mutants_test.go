package mutants

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/git-jp/git-jp/gc" // its source decides the result of these tests
	"github.com/git-jp/git-jp/internal/gittest"
)

// withoutEnv names the kind of root that the mark leaves out, for a binary of gc's tests that was
// built with mutations.
const withoutEnv = "GC_WITHOUT"

// mutantSource is a file of package gc that only such binaries have.
const mutantSource = `package gc

import "os"

func without(kind string) bool { return os.Getenv("` + withoutEnv + `") == kind }
`

// A mutation makes the mark leave out a kind of root, or several that a value selects.
type mutation struct {
	file, old, new string // the old text occurs once in the file
}

var mutations = []mutation{
	{
		"marker.go", "\tfor _, root := range m.roots.Names {\n\t\tid, kind, err :=",
		"\tfor _, root := range m.roots.Names {\n" +
			"\t\tif without(fmt.Sprint(\"root \", root.Kind)) {\n\t\t\tcontinue\n\t\t}\n" +
			"\t\tid, kind, err :=",
	},
	{
		"marker.go", "if len(all) > 0 {\n\t\t\tfound := m.references.number",
		"if len(all) > 0 && !without(\"operations\") {\n\t\t\tfound := m.references.number",
	},
	{"marker.go", "return ok && ", "return ok && !without(\"everything\") && "},
	{"history.go", "return h.found[n].needed", "return h.found[n].needed && !without(\"everything\")"},
	{
		"plan.go", "if len(sorted) == 0 || m.o.UserLocal {",
		"if len(sorted) == 0 || m.o.UserLocal || without(\"history\") {",
	},
	{"quarantined.go", "len(all) > 0 {", "len(all) > 0 && !without(\"quarantine\") {"},
	{
		"indexes.go", "\tm.tips = append(m.tips, t)\n",
		"\tif without(\"indexes\") {\n\t\tt.files = nil\n\t}\n\tm.tips = append(m.tips, t)\n",
	},
	{
		"workspaces.go", "\tws.readID(jp)\n\tws.m.onDisk(d, jp)\n",
		"\tws.readID(jp)\n\tif !without(\"working trees\") {\n\t\tws.m.onDisk(d, jp)\n\t}\n",
	},
	{
		"workspaces.go", "found, err := workspace.FindAll(w.Root)\n",
		"found, err := workspace.FindAll(w.Root)\n" +
			"\t\tif without(\"other workspaces\") {\n\t\t\tfound = nil\n\t\t}\n",
	},
	{
		"workspaces.go", "for dir := range ws.tracked {\n",
		"for dir := range ws.tracked {\n" +
			"\t\t\tif without(\"tracked places\") {\n\t\t\t\tcontinue\n\t\t\t}\n",
	},
	{
		"workspaces.go", "\tws.userDirs = dirs\n",
		"\tif without(\"user-local directories\") {\n\t\tdirs = nil\n\t}\n\tws.userDirs = dirs\n",
	},
	{
		"workspaces.go", "\tws.m.onDisk(d, dir)\n",
		"\tif !without(\"user-local copies\") {\n\t\tws.m.onDisk(d, dir)\n\t}\n",
	},
	{"places.go", "if n.isConversation() {", "if n.isConversation() && !without(\"parts of .jp\") {"},
	{
		"mentions.go", "number(m refs.Mentions) mentions {\n",
		"number(m refs.Mentions) mentions {\n" +
			"\tif without(\"loose hashes\") {\n\t\tm.Loose = nil\n\t}\n",
	},
}

// TestMarkWithoutEachRoot runs gc's test of that name with every mutation in the binary.
func TestMarkWithoutEachRoot(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), build(t),
		"-test.run=^TestMarkWithoutEachRoot$", "-test.v", "-test.timeout="+left(t))
	cmd.Dir = collector
	cmd.Env = append(os.Environ(), withoutEnv+"=each")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestMarkWithoutEachRoot/everything")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// left returns the remaining time of a test.
func left(t *testing.T) string {
	t.Helper()
	if end, ok := t.Deadline(); ok {
		return time.Until(end).String()
	}
	return "0"
}

// collector is the directory of the mutated package.
const collector = ".."

// sources reads that package and its tests, by name: go test then knows on which files a cached
// result depends.
func sources(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(collector, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has %d files, %v", collector, len(names), err)
	}
	all := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(data)
	}
	return all
}

// dependOn reads what the package and its tests import of this module, for the same reason: the
// linker leaves what nothing here calls out of this program.
func dependOn(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}`+
			`{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, collector).Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		file := strings.TrimSpace(name)
		if filepath.Ext(file) != ".go" {
			continue // the generated main program of the tests
		}
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
}

// build builds the package and its tests with every mutation.
func build(t *testing.T) string {
	t.Helper()
	dependOn(t)
	texts := map[string]string{"mutant.go": mutantSource}
	all := sources(t)
	for _, m := range mutations {
		if n := strings.Count(all[m.file], m.old); n != 1 {
			t.Fatalf("%s has %d times %q, want it once", m.file, n, m.old)
		}
		all[m.file] = strings.Replace(all[m.file], m.old, m.new, 1)
		texts[m.file] = all[m.file]
	}
	program := filepath.Join(t.TempDir(), "gc.test")
	args := append([]string{
		"test", "-vet=off", "-c", "-ldflags=-s -w", gittest.Overlay(t, collector, texts),
		"-o", program,
	}, gittest.BuildFlags()...)
	if out, err := exec.CommandContext(t.Context(), "go", append(args, collector)...).
		CombinedOutput(); err != nil {
		t.Fatalf("build with mutations: %v\n%s", err, out)
	}
	return program
}
