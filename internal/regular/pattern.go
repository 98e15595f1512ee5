package regular

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Limits of foreign patterns for names.
const (
	maxPattern = 1024 // bytes
	maxChoices = 64   // alternatives of all its braces together
	maxStars   = 8
	maxDeep    = 4 // "**"
)

// ErrPattern is the error for a pattern that takes long to match.
var ErrPattern = errors.New("the pattern is too complex")

// CheckPattern refuses a pattern that takes long to match: each alternative is a pattern of its
// own, and each star tries the complete rest of a name.
func CheckPattern(pattern string) error {
	choices := 1
	for group := range strings.SplitSeq(pattern, "{") {
		choices *= 1 + strings.Count(group, ",")
		if choices > maxChoices {
			return ErrPattern
		}
	}
	deep := strings.Count(pattern, "**")
	stars := strings.Count(pattern, "*") - 2*deep
	if len(pattern) > maxPattern || deep > maxDeep || stars > maxStars {
		return ErrPattern
	}
	return nil
}

// Glob returns the paths of the files below a directory that match a pattern with slashes. Unlike
// in the pattern of [filepath.Glob], the name of the directory may have any characters.
func Glob(dir, pattern string) (paths []string, err error) {
	names, err := fs.Glob(Dir(dir), pattern)
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths, err
}

// Literal returns a pattern with slashes that matches only the name, also where braces have a
// meaning.
func Literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(name)
}
