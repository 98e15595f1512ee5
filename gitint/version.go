package gitint

import (
	"context"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// A Version is a git version. Text after the numbers, such as "-rc1" or " (Apple Git-154)", is
// ignored.
type Version = git.Version

// MinVersion is the oldest supported git, the first with rev-parse --path-format.
func MinVersion() Version { return Version{Major: 2, Minor: 31} }

// ParseVersion parses the output of git version, or the number alone.
func ParseVersion(s string) (Version, error) { return git.ParseVersion(s) }

// Version asks git for its version.
func (r *Repo) Version(ctx context.Context) (Version, error) { return r.git.Version(ctx) }
