package gitint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/owner"
)

// Owns reports whether a file belongs to the user by git's rule: the superuser may also use those
// of the user who became it. What is missing belongs to all.
func Owns(name string, env []string) bool { return owner.Owns(name, env) }

// Safe returns an *UnsafeError if dir, which is outside of the repository, belongs to another user:
// a user who may write above the directories of others could otherwise put a workspace there for
// them. The rule is git's for repositories: the names must belong to the user, except where
// safe.directory allows it, in the configuration of the system and of the user, and on the command
// line.
func Safe(ctx context.Context, o Options, dir string, names ...string) error {
	own := !slices.Contains(o.Env, environ.AssumeOther)
	for _, name := range names {
		own = own && owner.Owns(name, o.Env)
	}
	if own {
		return nil
	}
	r := o.git()
	r.Env = r.Env.Placeless()
	out, err := r.Run(ctx, git.Command{Args: []string{
		"config", "--null", "--show-scope", "--type=path", "--get-all", "safe.directory",
	}})
	if git.ExitCode(err) == configAbsent {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read safe.directory: %w", err)
	}
	if !owner.IsSafe(dir, strings.Split(string(out), "\x00")) {
		return &UnsafeError{Dir: dir}
	}
	return nil
}
