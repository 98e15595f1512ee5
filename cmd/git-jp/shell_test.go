package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/rogpeppe/go-internal/testscript"
)

// A shell is where a test types commands as a person does, with a home of its own.
type shell struct {
	*testing.T
	env *testscript.Env
	dir string // where commands are typed
}

func newShell(t *testing.T) shell {
	t.Helper()
	env := &testscript.Env{WorkDir: gittest.TempDir(t), Vars: os.Environ()}
	if err := setUpScript(env); err != nil {
		t.Fatal(err)
	}
	return shell{T: t, env: env, dir: env.WorkDir}
}

// repository goes to a new one, which has these files.
func (s *shell) repository(name string, files map[string]string) {
	s.Helper()
	s.dir = filepath.Join(s.env.WorkDir, name)
	for file, text := range files {
		s.write(filepath.Join(s.dir, file), text)
	}
	s.must("git init -q -b main " + s.dir)
	s.must("git add . && git commit -q --allow-empty -m first")
}

// write adds to a file, which need not be there.
func (s *shell) write(name, text string) {
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

// must runs what has to work.
func (s *shell) must(line string) string {
	s.Helper()
	out, code := s.run(line)
	if code != 0 {
		s.Fatalf("%s ends with %d\n%s", line, code, out)
	}
	return out
}

// run has a shell run a line where nobody can be asked.
func (s *shell) run(line string) (out string, code int) {
	s.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = s.env.Vars
	if _, err := os.Stat(s.dir); err == nil {
		cmd.Dir = s.dir
	}
	data, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.Fatalf("%s: %v", line, err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}
