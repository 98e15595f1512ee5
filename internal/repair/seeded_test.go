package repair_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// seededEnv names the fault that is active in a test program that was built with faults.
const seededEnv = "GIT_JP_SEEDED"

// A seed is a plausible one-line fault in the code that merges directories, with a test that finds
// it.
type seed struct {
	name           string
	file, old, new string // the old text occurs once in the file; the new one calls seeded(name)
	test           string
	usual          bool // it is tried in every run
}

const (
	counting = "^TestUnitingLosesNothing$"
	finished = "^TestUniteFinishedMerge$"
)

// seeds are in three packages: finding the commits, merging the versions, writing the result.
var seeds = []seed{
	{
		"nothing has to be there", "internal/repair/account.go",
		"return max(0, most-removed)", "if SEEDED {\n\t\treturn 0\n\t}\n\treturn max(0, most-removed)",
		counting, true,
	},
	{
		"every element is excused", "internal/repair/account.go",
		"case a.decided[e.Sum()]:", "case SEEDED || a.decided[e.Sum()]:", counting, false,
	},
	{
		"compactions are excused", "internal/repair/account.go",
		"a.result.elements[key] == 0 {", "(SEEDED || a.result.elements[key] == 0) {",
		counting, false,
	},
	{
		"members are not counted", "internal/repair/account.go",
		"if result[name] == value ||", "if SEEDED || result[name] == value ||", counting, true,
	},
	{
		"what gives way is not said", "internal/repair/account.go",
		"gaveWay = append(gaveWay, name+\" \"+value)",
		"if !SEEDED {\n\t\t\t\t\tgaveWay = append(gaveWay, name+\" \"+value)\n\t\t\t\t}",
		counting, false,
	},
	{
		"their side is left out", "internal/repair/union.go",
		"if u.theirs == nil ||", "if SEEDED || u.theirs == nil ||", "^TestUniteConflict$", true,
	},
	{
		"a conflict is ours", "internal/repair/union.go",
		"if len(u.chosen) != len(res.Conflicts) {",
		"if SEEDED {\n\t\treturn res.Stream, nil\n\t}\n\tif len(u.chosen) != len(res.Conflicts) {",
		"^TestUniteConflict$", false,
	},
	{
		"a version is left out", "internal/repair/union.go",
		"for _, c := range versions[1:] {\n",
		"for i, c := range versions[1:] {\n\t\tif SEEDED && i == len(versions)-2 {\n" +
			"\t\t\tcontinue\n\t\t}\n",
		finished, false,
	},
	{
		"what was live is archived", "internal/repair/duplicate.go",
		"case known && before:", "case !SEEDED && known && before:", "^TestUniteArchived$", false,
	},
	{
		"what was archived is live", "internal/repair/duplicate.go",
		"case !live || !archived:",
		"case SEEDED && live:\n\t\treturn false, \"\"\n\tcase !live || !archived:",
		"^TestUniteArchived$", false,
	},
	{
		"nothing is put into the quarantine", "internal/repair/keeper.go",
		"for _, name := range c.Files {\n",
		"for _, name := range c.Files {\n\t\tif SEEDED {\n\t\t\tcontinue\n\t\t}\n",
		"^TestUniteUnrelated$", true,
	},
	{
		"other files are left behind", "internal/workspace/unite.go",
		"if IsManaged(name) {", "if SEEDED || IsManaged(name) {", finished, true,
	},
	{
		"one of two other files is left behind", "internal/workspace/unite.go",
		"case err == nil && bytes.Equal(now, data):",
		"case err == nil && (SEEDED || bytes.Equal(now, data)):", finished, false,
	},
	{
		"links are left behind", "internal/workspace/unite.go",
		"if err == nil && !d.IsDir() && !d.Type().IsRegular() {",
		"if err == nil && !SEEDED && !d.IsDir() && !d.Type().IsRegular() {",
		"^TestUniteLeavesWhatItCannotKeep$", false,
	},
	{
		"the result is not saved", "internal/workspace/unite.go",
		"if err := w.save(keep); err != nil {",
		"var saved error\n\tif !SEEDED {\n\t\tsaved = w.save(keep)\n\t}\n" +
			"\tif err := saved; err != nil {",
		finished, false,
	},
	{
		"one of several bases counts", "internal/merge/sides.go",
		"if len(bases) == 1 &&", "if (len(bases) == 1 || SEEDED) &&",
		"^TestUniteCrissCross$", true,
	},
	{
		"a pick has the base of a merge", "internal/merge/sides.go",
		"if head.base == \"\" {", "if head.base == \"\" || SEEDED {", "^TestUniteWaiting$", true,
	},
	{
		"a pick has no base", "internal/merge/sides.go",
		"return &Sides{Ours: ours, Theirs: theirs, Base: base, Waits: true}, err",
		"if SEEDED {\n\t\t\tbase = gitint.OID{}\n\t\t}\n" +
			"\t\treturn &Sides{Ours: ours, Theirs: theirs, Base: base, Waits: true}, err",
		"^TestUniteWaiting$", false,
	},
	{
		"a stash is its own base", "internal/merge/sides.go",
		"{stashRef + \"^1\", &s.Base}", "{stashRef + seededText(SEEDED, \"^0\", \"^1\"), &s.Base}",
		"^TestUniteStash$", false,
	},
	{
		"a squash of long ago counts", "internal/merge/sides.go",
		"err != nil || !has {", "err != nil || !has && !SEEDED {", "^TestUniteSquash$", false,
	},
	{
		"a finished merge is not looked back from", "internal/merge/sides.go",
		"return SidesBetween(ctx, repo, parents[0], theirs)",
		"if SEEDED {\n\t\t\treturn &Sides{Ours: head, Theirs: theirs, Base: theirs, Waits: true}, " +
			"nil\n\t\t}\n\t\treturn SidesBetween(ctx, repo, parents[0], theirs)",
		finished, true,
	},
	{
		"the base counts for a third directory", "internal/merge/split.go",
		"!sameNames(had, at.In) {", "!SEEDED && !sameNames(had, at.In) {",
		"^TestUniteRemoved$", false,
	},
	{
		"one of two directories is the base", "internal/merge/split.go",
		"if err != nil || len(h.dirs[id]) != 1 {",
		"if SEEDED && err == nil && len(h.dirs[id]) > 1 {\n\t\th.dirs[id] = h.dirs[id][:1]\n\t}\n" +
			"\tif err != nil || len(h.dirs[id]) != 1 {",
		"^TestUniteTwiceBefore$", false,
	},
}

// seededSource is a file that each package has in such a program.
const seededSource = `

import "os"

func seeded(name string) bool { return os.Getenv("` + seededEnv + `") == name }

func seededText(is bool, one, other string) string {
	if is {
		return one
	}
	return other
}

var _ = seededText
`

// TestSeededFaults puts faults one by one into the code that merges directories, and expects the
// named test to find each. The normal run tries some, GIT_JP_SOAK all.
func TestSeededFaults(t *testing.T) {
	if os.Getenv(seededEnv) != "" {
		t.Skip("this is a program with faults in it")
	}
	program := buildSeeded(t)
	run := func(t *testing.T, name, test string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), program, "-test.run="+test, "-rapid.nofailfile")
		cmd.Env = append(os.Environ(), seededEnv+"="+name)
		return cmd.CombinedOutput()
	}
	passed := make(map[string]bool)
	for _, s := range seeds {
		if !s.usual && os.Getenv("GIT_JP_SOAK") == "" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			if !passed[s.test] {
				if out, err := run(t, "none", s.test); err != nil {
					t.Fatalf("without a fault: %v\n%s", err, out)
				}
				passed[s.test] = true
			}
			out, err := run(t, s.name, s.test)
			if err == nil || !strings.Contains(string(out), "--- FAIL: ") {
				t.Errorf("%s did not find it: %v\n%s", s.test, err, out)
			}
		})
	}
}

// buildSeeded builds these tests with every fault in it, all inactive.
func buildSeeded(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	sources := make(map[string]string)
	for _, s := range seeds {
		pkg := filepath.Dir(filepath.FromSlash(s.file))
		sources[filepath.Join(pkg, "seeded.go")] = "package " + filepath.Base(pkg) + seededSource
		text, ok := sources[s.file]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, s.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if n := strings.Count(text, s.old); n != 1 {
			t.Fatalf("%s has %d times %q, want it once", s.file, n, s.old)
		}
		with := strings.ReplaceAll(s.new, "SEEDED", "seeded(\""+s.name+"\")")
		sources[s.file] = strings.Replace(text, s.old, with, 1)
	}
	program := filepath.Join(t.TempDir(), "repair.test")
	args := append([]string{
		"test", "-vet=off", "-c", "-ldflags=-s -w", gittest.Overlay(t, root, sources), "-o", program,
	}, gittest.BuildFlags()...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("build with faults: %v\n%s", err, out)
	}
	return program
}
