package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Version is a git version. Text after the numbers, such as "-rc1" or " (Apple Git-154)", is
// ignored.
type Version struct {
	Major, Minor, Patch int
}

// ParseVersion parses the output of git version, or the number alone.
func ParseVersion(s string) (Version, error) {
	text := strings.TrimPrefix(strings.TrimSpace(s), "git version ")
	parts := strings.SplitN(text, ".", 4)
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("git version %q: expected two numbers", s)
	}
	var numbers [3]int
	for i := range min(len(parts), len(numbers)) {
		digits := leadingDigits(parts[i])
		n, err := strconv.Atoi(digits)
		if err != nil && i < 2 {
			return Version{}, fmt.Errorf("git version %q: %w", s, err)
		}
		numbers[i] = n
		if digits != parts[i] {
			break
		}
	}
	return Version{Major: numbers[0], Minor: numbers[1], Patch: numbers[2]}, nil
}

func leadingDigits(s string) string {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return s[:i]
		}
	}
	return s
}

// AtLeast reports whether v is w or newer.
func (v Version) AtLeast(w Version) bool {
	if v.Major != w.Major {
		return v.Major > w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor > w.Minor
	}
	return v.Patch >= w.Patch
}

// String returns the three numbers.
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Version asks git for its version.
func (r *Runner) Version(ctx context.Context) (Version, error) {
	out, err := r.Run(ctx, Command{Args: []string{"version"}})
	if err != nil {
		return Version{}, fmt.Errorf("ask git for its version: %w", err)
	}
	return ParseVersion(string(out))
}
