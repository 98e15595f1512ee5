package hooks

import "slices"

// DefaultNames returns the hooks that an installation has.
func DefaultNames() []string { return []string{"pre-commit", "post-commit"} }

// AllNames returns every hook that this package can install, which is every hook
// that a release may ever have installed.
func AllNames() []string {
	return []string{
		"pre-commit", "pre-merge-commit", "prepare-commit-msg", "post-commit", "post-merge",
		"post-checkout", "post-rewrite", "pre-push", "pre-receive",
	}
}

// Known reports whether name is one of [AllNames].
func Known(name string) bool { return slices.Contains(AllNames(), name) }

// readsInput reports whether git writes to the hook's standard input.
func readsInput(name string) bool {
	return name == "pre-push" || name == "post-rewrite" || name == "pre-receive"
}

// canRefuse reports whether git stops when the hook fails. After the others it is too
// late, so their failure must not keep a script that they are chained into from going
// on.
func canRefuse(name string) bool {
	switch name {
	case "pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-push", "pre-receive":
		return true
	}
	return false
}
