package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/rogpeppe/go-internal/testscript"
)

// A Shell runs commands as a person types them, with its own home.
type Shell struct {
	*testing.T
	Env *testscript.Env
	Dir string // where commands are typed
}

// NewShell returns a shell in an empty directory.
func NewShell(t *testing.T) *Shell {
	t.Helper()
	DependOnSources(t)
	env := &testscript.Env{WorkDir: gittest.TempDir(t), Vars: os.Environ()}
	if err := SetUp(env); err != nil {
		t.Fatal(err)
	}
	return &Shell{T: t, Env: env, Dir: env.WorkDir}
}

// Repository changes to a new one, which has these files.
func (s *Shell) Repository(name string, files map[string]string) {
	s.Helper()
	s.Dir = filepath.Join(s.Env.WorkDir, name)
	for file, text := range files {
		s.Write(filepath.Join(s.Dir, file), text)
	}
	s.Must("git init -q -b main " + s.Dir)
	s.Must("git add . && git commit -q --allow-empty -m first")
}

// Write appends to a file, which need not exist.
func (s *Shell) Write(name, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil || f.Close() != nil {
		s.Fatalf("write %s: %v", name, err)
	}
}

// Must runs a line that has to succeed.
func (s *Shell) Must(line string) string {
	s.Helper()
	out, code := s.Run(line)
	if code != 0 {
		s.Fatalf("%s ends with %d\n%s", line, code, out)
	}
	return out
}

// Run runs a line in a shell without a terminal.
func (s *Shell) Run(line string) (out string, code int) {
	s.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = s.Env.Vars
	if _, err := os.Stat(s.Dir); err == nil {
		cmd.Dir = s.Dir
	}
	data, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.Fatalf("%s: %v", line, err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}
