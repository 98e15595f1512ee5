package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
)

// TestHooksThatHangSayWhoTheyAre makes a hook wait for input that does not come.
func TestHooksThatHangSayWhoTheyAre(t *testing.T) {
	repo := gittest.Repo(t)
	input, endInput := io.Pipe()
	said, say := io.Pipe()
	w := &environment{
		env: gittest.Env(t), dir: repo.Dir, stdin: input, stdout: io.Discard, stderr: say,
		now: time.Now, patience: time.Millisecond, version: "v0",
	}
	a := newApp(w, globals{})
	ended := make(chan error, 1)
	go func() { ended <- hookCmd{Name: "pre-push", Args: []string{"origin", "url"}}.Run(t.Context(), a) }()
	line := make([]byte, 1<<10)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	const want = "warning: git jp: the pre-push hook is still running; Ctrl-C stops it, " +
		"and --no-verify skips it\n"
	if got := string(line[:n]); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if err := endInput.Close(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestHooksThatAreTooOldSaySo runs the hook of a later version.
func TestHooksThatAreTooOldSaySo(t *testing.T) {
	repo := gittest.Repo(t)
	var said bytes.Buffer
	a := newApp(&environment{
		env: gittest.Env(t), dir: repo.Dir, stdin: strings.NewReader(""), stdout: io.Discard,
		stderr: &said, now: time.Now, patience: time.Hour, version: "v0",
	}, globals{})
	if err := (hookCmd{Name: "pre-frobnicate"}).Run(t.Context(), a); err != nil {
		t.Error(err)
	}
	const want = "warning: git jp v0 is too old for the pre-frobnicate hook of this repository, " +
		"which does nothing; install a newer one\n"
	if said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
