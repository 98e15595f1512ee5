//go:build agents

package agents

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// root is where an agent lives and works during a test. It is the same everywhere, so that
// recordings name no directory of the recording machine.
const root = "/tmp/git-jp-agents"

// patience is how long an agent may take for a turn before it is considered hanging and ended.
const patience = 2 * time.Minute

// picture is a PNG of one red pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

// A world is a home directory, a repository and a provider for one agent.
type world struct {
	*testing.T
	agent    *agent
	bin      string
	home     string
	project  string
	provider *provider
	extra    []string // more environment
}

// inhabit makes a world for an agent. There is one at a time.
func inhabit(t *testing.T, a *agent) *world {
	t.Helper()
	w := &world{
		T: t, agent: a, bin: a.program(t), provider: serve(t),
		home: filepath.Join(root, "home"), project: filepath.Join(root, "project"),
	}
	alone(t)
	w.check(removeAll(root)) // files of a process that outlived its world
	t.Cleanup(func() { w.check(removeAll(root)) })
	for _, dir := range []string{root, w.home, w.project, filepath.Join(root, "tmp")} {
		w.check(os.Mkdir(dir, 0o755))
	}
	for name, text := range a.config(w) {
		w.write(filepath.Join(w.home, name), text)
	}
	w.write(filepath.Join(w.project, "notes.txt"), "one\ntwo\nthree\n")
	png, err := base64.StdEncoding.DecodeString(picture)
	w.check(err)
	w.write(filepath.Join(w.project, "dot.png"), string(png))
	w.git("init", "-q", "-b", "main")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "start")
	return w
}

// alone waits until no other process uses the root, and keeps others out until the test ends.
func alone(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(root+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// removeAll removes a directory in which a process that was just ended may still write.
func removeAll(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(text), 0o644))
}

// git runs git in the project, and returns its output.
func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir, cmd.Env = w.project, w.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// environ returns the complete environment of an agent.
func (w *world) environ() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + filepath.Join(root, "tmp"),
		"USER=somebody", "LOGNAME=somebody", "SHELL=/bin/bash", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb",
		"HTTP_PROXY=" + w.provider.URL, "HTTPS_PROXY=" + w.provider.URL,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Some Body", "GIT_AUTHOR_EMAIL=some@body.example",
		"GIT_COMMITTER_NAME=Some Body", "GIT_COMMITTER_EMAIL=some@body.example",
		"GIT_AUTHOR_DATE=2026-01-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T12:00:00Z",
	}
	return append(append(env, w.agent.env(w)...), w.extra...)
}

// command returns the command of the agent with a prompt, in its own process group.
func (w *world) command(t turn) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(w.Context(), w.bin, w.agent.args(w, t)...)
	cmd.Dir, cmd.Env = w.project, w.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if w.agent.input != nil {
		cmd.Stdin = strings.NewReader(w.agent.input(t))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// says gives the agent a prompt, with the answers to it, and returns its output. All answers must
// be requested.
func (w *world) says(t turn, script ...answer) string {
	w.Helper()
	w.provider.play(script...)
	cmd, out := w.command(t)
	w.check(cmd.Start())
	timer := time.AfterFunc(patience, func() { _ = cmd.Cancel() })
	err := cmd.Wait()
	timer.Stop()
	w.Logf("%s: %v\n%s", t.prompt, err, out)
	if left := w.provider.rest(); len(left) > 0 {
		w.Errorf("%s did not ask for %d answers, the first of which is %+v", w.agent.name, len(left), left[0])
	}
	return out.String()
}

// breaksOff gives the agent a prompt and sends it a signal when the last answer hangs.
func (w *world) breaksOff(sig syscall.Signal, t turn, script ...answer) {
	w.Helper()
	w.provider.play(script...)
	cmd, out := w.command(t)
	w.check(cmd.Start())
	timer := time.AfterFunc(patience, func() { _ = cmd.Cancel() })
	defer timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-w.provider.hung:
	case err := <-ended:
		w.Fatalf("%s ended before it was stopped: %v\n%s", w.agent.name, err, out)
	}
	time.Sleep(time.Second) // until it has recorded the answer
	target := cmd.Process.Pid
	if sig == syscall.SIGKILL {
		target = -target
	}
	w.check(syscall.Kill(target, sig))
	w.Logf("%s, %v: %v\n%s", t.prompt, sig, <-ended, out)
	w.provider.rest()
}

// files returns the session files that the agent has written, by their paths below the home
// directory.
func (w *world) files() []string {
	w.Helper()
	var found []string
	for _, prefix := range w.agent.sessions {
		prefix = filepath.Join(w.home, prefix)
		err := filepath.WalkDir(filepath.Dir(prefix), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasPrefix(p, prefix) {
				rel, _ := filepath.Rel(w.home, p)
				found = append(found, rel)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.Fatal(err)
		}
	}
	slices.Sort(found)
	return found
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// newest returns the id of the last session, if ids grow with time.
func (w *world) newest() string {
	files := w.files()
	if len(files) == 0 {
		w.Fatal("there is no session yet")
	}
	return uuid.FindString(files[len(files)-1])
}
