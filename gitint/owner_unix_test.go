//go:build unix

package gitint_test

import (
	"errors"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestSafeOfRealUsers checks that a user is refused the superuser's files, whatever the environment
// says of sudo, and is allowed their own.
func TestSafeOfRealUsers(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	own := t.TempDir()
	for _, tc := range []struct {
		dir  string
		env  []string
		safe bool
	}{
		{dir: own, safe: true},
		{dir: "/usr"},
		{dir: "/usr", env: []string{"SUDO_UID=0"}},
		{dir: "/usr", env: []string{
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/usr",
		}, safe: true},
	} {
		o := gitint.Options{Dir: own, Env: append(gittest.Env(t), tc.env...)}
		err := gitint.Safe(t.Context(), o, tc.dir, tc.dir)
		if unsafe := new(gitint.UnsafeError); tc.safe != (err == nil) || err != nil && !errors.As(err, &unsafe) {
			t.Errorf("%s with %q: %v, want safe %v", tc.dir, tc.env, err, tc.safe)
		}
	}
}
