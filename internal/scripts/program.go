package scripts

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/rogpeppe/go-internal/testscript"
)

// programEnv says that the directory of the program is on PATH: to a test that runs once more, as
// another user.
const programEnv = "GIT_JP_TEST_PROGRAM"

// top is the directory of the repository, from that of any package below this one.
var top = filepath.Join("..", "..", "..")

// Main runs the tests of a package with the program on PATH, so that real git calls it as
// subcommand and hook. dir has the program's sources; others are programs that the test binary can
// act as.
func Main(m *testing.M, dir string, others map[string]func()) {
	commands := map[string]func(){"mcp-server": mcpServer}
	maps.Copy(commands, others)
	testscript.Main(withProgram{m, dir}, commands)
}

// withProgram builds the program before the tests run. The test binary could act as it, as it does
// as the mcp-server, but starts more slowly, thousands of times.
type withProgram struct {
	*testing.M
	sources string
}

// Run implements [testscript.TestingM].
func (m withProgram) Run() int {
	if os.Getenv(programEnv) != "" {
		return m.M.Run()
	}
	dir, err := place(m.sources)
	defer os.RemoveAll(dir) // it is only a temporary directory
	if err == nil {
		path := dir + string(filepath.ListSeparator) + os.Getenv("PATH")
		err = errors.Join(os.Setenv("PATH", path), os.Setenv(programEnv, dir))
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	return m.M.Run()
}

// place builds the program in a new directory: on a disk that allows running programs, if there is
// one. There the system maps several pages at once, which it does not do in memory, where temporary
// files of tests are: a twelfth of the processor time of scripts.
func place(sources string) (dir string, err error) {
	for _, at := range []string{"/var/tmp", ""} {
		if dir, err = os.MkdirTemp(at, "git-jp-program-"); err != nil {
			continue
		}
		name := filepath.Join(dir, "git-jp")
		err = os.Chmod(dir, 0o755) // other users run it
		if err == nil {
			err = build(sources, name+".built")
		}
		if err == nil {
			err = writeAtOnce(name, name+".built")
		}
		if err == nil {
			err = exec.Command(name, "version").Run()
		}
		if err == nil {
			break
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return dir, err
}

// writeAtOnce moves a program to a new name by one write. The system then caches its pages in large
// pieces, which it maps as such, where a linker or cp leaves single pages: a fifth of the page
// faults of each start, of which the scripts have thousands, and a millisecond.
func writeAtOnce(name, from string) error {
	program, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(name, program, 0o755) // other users run it
	}
	if err == nil {
		err = os.Remove(from)
	}
	return err
}

// build builds the program like 'make build'; if this binary has the race detector, the program has
// it too. Go caches what it has run, so that the program is linked once for all packages: its "run"
// copies the program here.
func build(sources, name string) error {
	flags := gittest.BuildFlags()
	args := append([]string{"run", "-buildvcs=false", "-ldflags=-s -w", "-exec=cp"}, flags...)
	cmd := exec.Command("go", append(args, sources, name)...)
	if !slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}

// DependOnSources lists all directories of sources: go test caches a result with the files that the
// test has opened, and does not know that the program is built from them.
func DependOnSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && name != top
		if err == nil && d.IsDir() && (hidden || d.Name() == "testdata") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
