package house

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makeValue = regexp.MustCompile(`(?m)^([A-Z_]+) *=(.*)$`)
	makeRun   = regexp.MustCompile(`-run '\$\(([A-Z_]+)\)'((?:[ \t]|\\\n|\./[\w./]+)+)`)
	oneOf     = regexp.MustCompile(`\^Test\(([^()]*)\)\$\$`)
)

// TestMakefileRunsTests verifies that the tests named in the Makefile exist in the packages that it
// lists: a pattern that matches nothing passes.
func TestMakefileRunsTests(t *testing.T) {
	text := readText(t, filepath.Join("..", "..", "Makefile"))
	values := map[string]string{}
	for _, m := range makeValue.FindAllStringSubmatch(text, -1) {
		values[m[1]] = m[2]
	}
	looked := 0
	for _, run := range makeRun.FindAllStringSubmatch(text, -1) {
		all := oneOf.FindStringSubmatch(values[run[1]])
		if all == nil || strings.Contains(run[2], "...") {
			continue // scripts, which are identified by their names
		}
		var tests []string
		for _, dir := range strings.Fields(strings.ReplaceAll(run[2], "\\\n", "")) {
			tests = append(tests, testsOf(t, filepath.Join("..", "..", dir))...)
		}
		for _, name := range strings.Split(all[1], "|") {
			looked++
			is := regexp.MustCompile("^Test" + strings.TrimSuffix(name, "$$") + "$")
			if !slices.ContainsFunc(tests, is.MatchString) {
				t.Errorf("%s names %s, which is not in%s", run[1], name, run[2])
			}
		}
	}
	if looked == 0 {
		t.Error("no name of a test was found")
	}
}

// TestVetIsRunOnce verifies that golangci-lint runs the analyzers of go vet, with tests, as go test in
// the Makefile does not.
func TestVetIsRunOnce(t *testing.T) {
	settings := readText(t, filepath.Join("..", "..", ".golangci.yml"))
	for _, line := range []string{"  tests: true", "    - govet"} {
		if !strings.Contains(settings, line+"\n") {
			t.Errorf(".golangci.yml has no line %q", line)
		}
	}
	if strings.Contains(settings, "    govet:\n") {
		t.Error(".golangci.yml chooses other analyzers than go vet has")
	}
}

var directive = regexp.MustCompile(`^//nolint:([a-z,]+)`)

// TestDirectivesNameLinters verifies that comments switch off only linters that are on: nolintlint
// finds those that have nothing to switch off, but not those of a linter that does not run.
func TestDirectivesNameLinters(t *testing.T) {
	settings := readText(t, filepath.Join("..", "..", ".golangci.yml"))
	if !strings.Contains(settings, "    - nolintlint\n") {
		t.Error(".golangci.yml does not enable nolintlint")
	}
	seen := 0
	for _, src := range sources(t) {
		for _, group := range src.file.Comments {
			for _, c := range group.List {
				m := directive.FindStringSubmatch(c.Text)
				if m == nil {
					continue
				}
				seen++
				for _, name := range strings.Split(m[1], ",") {
					if !strings.Contains(settings, "    - "+name+"\n") {
						t.Errorf("%s: %s: %s does not run", src.path, c.Text, name)
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no directive was found")
	}
}

// testsOf returns the tests of one package.
func testsOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
	}
	for _, f := range files {
		for _, m := range testNamed.FindAllStringSubmatch(readText(t, f), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
