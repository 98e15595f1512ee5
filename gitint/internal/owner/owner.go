package owner

import (
	"path/filepath"
	"strings"
)

// IsSafe evaluates pairs of scopes and values, of safe.directory, the weakest first. An empty value
// resets those before it. The repository's own configuration is ignored.
func IsSafe(dir string, said []string) bool {
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
