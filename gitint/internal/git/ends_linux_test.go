package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/gitint/internal/environ"
)

// TestGitEndsWithUs kills a process whose git waits for a remote that does not answer: the
// connection is closed, so git does not stay behind.
func TestGitEndsWithUs(t *testing.T) {
	if ssh := os.Getenv("GIT_SSH"); filepath.Base(ssh) == "stalls" {
		r := &Runner{Dir: filepath.Dir(ssh), Env: environ.List(os.Environ())}
		_, err := r.Run(t.Context(), Command{Args: []string{"ls-remote", "h:x"}, Remote: true})
		t.Fatal(err)
	}
	dir := t.TempDir()
	stalls := filepath.Join(dir, "stalls")
	script := "#!/bin/sh\n: >\"$0.began\"\ntimeout 60 cat >\"$0.heard\"\n: >\"$0.ended\"\n"
	if err := os.WriteFile(stalls, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGitEndsWithUs$")
	cmd.Env = append(os.Environ(), "GIT_SSH="+stalls, "GIT_SSH_VARIANT=simple")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := appears(stalls + ".began")
	if err := cmd.Process.Kill(); err != nil || !began {
		t.Fatalf("began: %v, %v", began, err)
	}
	_ = cmd.Wait()
	if !appears(stalls + ".ended") {
		t.Error("git still waits for the remote")
	}
}
