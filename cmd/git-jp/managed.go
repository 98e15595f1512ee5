package main

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/gitint"
)

// The manager pre-commit, and prek like it, keep from the hooks of their configuration what
// git gives to a hook, and tell some of it by these variables instead.
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

// given returns the arguments that git gave to the hook, also where a manager stands
// between.
func (c hookCmd) given(a *app) []string {
	if a.getenv(byPreCommit) == "" {
		return c.Args
	}
	var names []string
	switch c.Name {
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
	// Git itself gives all or none, but for the message, whose file the manager gives too.
	if len(c.Args) > 0 && (c.Name != "prepare-commit-msg" || len(c.Args) > 1) {
		return c.Args
	}
	args := slices.Clone(c.Args)
	for _, name := range names {
		if value := a.getenv(name); value != "" {
			args = append(args, value)
		}
	}
	return args
}

// pushedByManager is what pre-commit says of a push. It looks at the first ref alone, and
// names no commit where all of them are new.
func (a *app) pushedByManager(
	ctx context.Context, repo *gitint.Repo, d *gitint.Departure,
) error {
	if a.getenv(byPreCommit) == "" || a.getenv(remoteName) == "" {
		return nil
	}
	if to := a.getenv(toRef); to != "" {
		d.Tips = []string{to}
		d.Not = []string{a.getenv(fromRef)}
		return nil
	}
	tip, err := repo.Resolve(ctx, a.getenv(pushedBranch))
	if err == nil {
		d.Tips = []string{tip.String()}
	}
	return err
}
