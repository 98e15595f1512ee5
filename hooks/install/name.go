package install

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/gitint"
)

// DefaultNames returns the hooks that are installed by default.
func DefaultNames() []string {
	return []string{
		"pre-commit", "post-commit", "pre-merge-commit", "post-merge", "post-checkout",
		"post-rewrite", "pre-push",
	}
}

// TrailerNames returns the hooks that name the conversations in the messages of commits.
func TrailerNames() []string { return []string{"prepare-commit-msg"} }

// ServerNames returns the hooks of a repository that is pushed to.
func ServerNames() []string { return []string{"pre-receive"} }

// NamesFor returns the hooks that a clone needs. A bare repository is pushed to, unless it has
// linked worktrees: then people commit in these, and it has their hooks.
func NamesFor(ctx context.Context, repo *gitint.Repo) ([]string, error) {
	if repo.Root() != "" {
		return DefaultNames(), nil
	}
	all, err := repo.Worktrees(ctx)
	if slices.ContainsFunc(all, func(w gitint.Worktree) bool { return w.Name != "" && !w.Gone }) {
		return DefaultNames(), err
	}
	return ServerNames(), err
}

// AllNames returns every hook that this package can install, which includes every hook that a
// release ever installed.
func AllNames() []string {
	return []string{
		"pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit", "post-merge",
		"post-checkout", "post-rewrite", "pre-push", "pre-receive",
	}
}

// Known reports whether name is one of [AllNames].
func Known(name string) bool { return slices.Contains(AllNames(), name) }

// speaks reports whether the hook says that git-jp is not installed. Among the hooks that run in
// one git command only the first does. Hooks that look at a checkout do not, since nothing
// important is skipped.
func speaks(name string) bool {
	switch name {
	case "pre-commit", "pre-merge-commit", "pre-push", "pre-receive":
		return true
	}
	return false
}

// readsInput reports whether git writes to the hook's standard input.
func readsInput(name string) bool {
	return name == "pre-push" || name == "post-rewrite" || name == "pre-receive"
}

// canRefuse reports whether git stops when the hook fails. After the others it is too late, so
// their failure must not end a script that they are chained into.
func canRefuse(name string) bool {
	switch name {
	case "pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-push", "pre-receive":
		return true
	}
	return false
}
