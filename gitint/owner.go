package gitint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
)

// Safe returns an *UnsafeError if dir, which is outside of the repository, belongs to another user:
// a user who may write above the directories of others could otherwise put a workspace there for
// them. The rule is git's for repositories: the names must belong to the user, except where
// safe.directory allows it, in the configuration of the system and of the user, and on the command
// line.
func Safe(ctx context.Context, o Options, dir string, names ...string) error {
	own := !slices.Contains(o.Env, environ.AssumeOther)
	for _, name := range names {
		own = own && owned(name, o.Env)
	}
	if own {
		return nil
	}
	r := o.git()
	r.Env = r.Env.Placeless()
	out, err := r.Run(ctx, git.Command{Args: []string{
		"config", "--null", "--show-scope", "--type=path", "--get-all", "safe.directory",
	}})
	if exit := new(ExitError); errors.As(err, &exit) && exit.Code == configAbsent {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read safe.directory: %w", err)
	}
	if !isSafe(dir, strings.Split(string(out), "\x00")) {
		return &UnsafeError{Dir: dir}
	}
	return nil
}

// isSafe evaluates pairs of scopes and values, the weakest first. An empty value resets those
// before it. The repository's own configuration is ignored.
func isSafe(dir string, said []string) bool {
	safe := false
	for i := 0; i+1 < len(said); i += 2 {
		scope, value := said[i], said[i+1]
		switch {
		case scope != "system" && scope != "global" && scope != "command":
		case value == "":
			safe = false
		case value == "*", samePlace(dir, value):
			safe = true
		default:
			if above, ok := strings.CutSuffix(value, "*"); ok && isBelow(dir, above) {
				safe = true
			}
		}
	}
	return safe
}

func samePlace(a, b string) bool { return filepath.IsAbs(b) && realPath(a) == realPath(b) }

func isBelow(dir, above string) bool {
	rel, err := filepath.Rel(realPath(above), realPath(dir))
	return err == nil && filepath.IsAbs(above) && strings.HasSuffix(above, "/") &&
		rel != "." && filepath.IsLocal(rel)
}

func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return filepath.Clean(name)
}
