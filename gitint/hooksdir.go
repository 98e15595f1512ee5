package gitint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// HooksKey names the setting for where git looks for hooks.
const HooksKey = "core.hookspath"

// HooksDir returns the absolute directory where git looks for hooks, and the scope of the
// core.hooksPath that sets it: system, global, local, worktree or command, or "" if it is the
// repository's default. It need not exist. The settings are those of [HooksKey].
func (r *Repo) HooksDir(ctx context.Context, settings []Setting) (dir, scope string, err error) {
	if len(settings) == 0 {
		return filepath.Join(r.commonDir, "hooks"), "", nil
	}
	last := settings[len(settings)-1]
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"rev-parse", "--path-format=absolute", "--git-path", "hooks",
	}})
	switch {
	case err == nil:
		dir = string(bytes.TrimSuffix(out, []byte("\n")))
	case last.Value == "":
		// With an empty core.hooksPath git looks for /pre-commit.
		dir = string(filepath.Separator)
	default:
		// Git makes no path absolute that leads through a file.
		dir, err = r.hooksPath(ctx)
	}
	if dir == "" {
		return "", "", fmt.Errorf("find the hooks directory: %w", err)
	}
	return filepath.Clean(dir), last.Scope, nil
}

// hooksPath returns core.hooksPath as an absolute path.
func (r *Repo) hooksPath(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"config", "--type=path", "core.hooksPath",
	}})
	if err != nil {
		return "", err
	}
	dir := string(bytes.TrimSuffix(out, []byte("\n")))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cmp.Or(r.Root(), r.GitDir()), dir)
	}
	return dir, nil
}
