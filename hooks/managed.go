package hooks

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/gitint"
)

// The manager pre-commit, and prek like it, do not pass what git gives to a hook on to the hooks of
// their configuration, and put some of it into these variables instead.
const (
	byPreCommit    = "PRE_COMMIT"
	messageSource  = "PRE_COMMIT_COMMIT_MSG_SOURCE"
	fromRef        = "PRE_COMMIT_FROM_REF"
	toRef          = "PRE_COMMIT_TO_REF"
	checkoutType   = "PRE_COMMIT_CHECKOUT_TYPE"
	squashMerge    = "PRE_COMMIT_IS_SQUASH_MERGE"
	rewriteCommand = "PRE_COMMIT_REWRITE_COMMAND"
	pushedBranch   = "PRE_COMMIT_LOCAL_BRANCH"
	remoteName     = "PRE_COMMIT_REMOTE_NAME"
	remotePlace    = "PRE_COMMIT_REMOTE_URL"
)

// given returns the arguments that git gave to the hook, also if a manager is between.
func (r *run) given() []string {
	if r.Getenv(byPreCommit) == "" {
		return r.args
	}
	var names []string
	switch r.name {
	case "post-checkout":
		names = []string{fromRef, toRef, checkoutType}
	case "post-merge":
		names = []string{squashMerge}
	case "post-rewrite":
		names = []string{rewriteCommand}
	case "pre-push":
		names = []string{remoteName, remotePlace}
	case "prepare-commit-msg":
		names = []string{messageSource}
	}
	// Git itself gives all or no arguments, except for the message, whose file the manager gives
	// too.
	if len(r.args) > 0 && (r.name != "prepare-commit-msg" || len(r.args) > 1) {
		return r.args
	}
	args := slices.Clone(r.args)
	for _, name := range names {
		if value := r.Getenv(name); value != "" {
			args = append(args, value)
		}
	}
	return args
}

// pushedByManager reads the variables that pre-commit sets for a push. It looks at the first ref
// alone, and names no commit if all of them are new.
func (r *run) pushedByManager(
	ctx context.Context, repo *gitint.Repo, d *gitint.PushRange,
) error {
	if r.Getenv(byPreCommit) == "" || r.Getenv(remoteName) == "" {
		return nil
	}
	if to := r.Getenv(toRef); to != "" {
		d.Tips = []string{to}
		d.Not = []string{r.Getenv(fromRef)}
		return nil
	}
	tip, err := repo.Resolve(ctx, r.Getenv(pushedBranch))
	if err == nil {
		d.Tips = []string{tip.String()}
	}
	return err
}
