//go:build agents

package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program returns the path of the agent's program, which npm installs on first use below
// $GIT_JP_AGENTS, else in a cache of the user. If npm reaches no registry, the test is skipped.
func (a *agent) program(t *testing.T) string {
	t.Helper()
	root := os.Getenv("GIT_JP_AGENTS")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(cache, "git-jp-agents")
	}
	dir := filepath.Join(root, a.name+"-"+a.version)
	bin := filepath.Join(dir, "node_modules", ".bin", a.binary)
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return bin
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	// Of the packages' install scripts only the one that installs the program runs.
	out, err := runIn(ctx, dir, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefix", dir, a.pkg+"@"+a.version)
	if err != nil {
		t.Skipf("%s %s: npm cannot install %s: %v\n%s", a.name, a.version, a.pkg, err, out)
	}
	if a.finish != "" {
		at := filepath.Join(dir, "node_modules", a.pkg)
		if out, err := runIn(ctx, at, "node", a.finish); err != nil {
			t.Fatalf("%s: %v\n%s", a.finish, err, out)
		}
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return bin
}

func runIn(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}
