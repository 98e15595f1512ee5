package blame

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// ParseLines parses FROM[,TO], the numbers of lines; 0 and 0 for "".
func ParseLines(text string) (from, to int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, last, two := strings.Cut(text, ",")
	if from, err = strconv.Atoi(first); err == nil {
		to = from
		if two {
			to, err = strconv.Atoi(last)
		}
	}
	if err != nil || from < 1 || to < from {
		return 0, 0, fmt.Errorf("--lines %s: expected numbers of lines, as in 12,20", text)
	}
	return from, to, nil
}

// PathIn returns the path of an absolute file below the root of the repository. In a bare
// repository it is the path that was named.
func PathIn(repo *gitint.Repo, named, file string) (string, error) {
	if repo.Root() == "" {
		return filepath.ToSlash(named), nil
	}
	dir, name := filepath.Split(file)
	root := regular.Resolved(repo.Root())
	rel, err := filepath.Rel(root, filepath.Join(regular.Resolved(filepath.Clean(dir)), name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the repository %s", named, root)
	}
	return filepath.ToSlash(rel), nil
}

// PathNamed returns the path below the root of a file that a call names, "" if it is elsewhere.
// Agents name files by their absolute path, or from the root, which an import calls $WORKSPACE.
func PathNamed(repo *gitint.Repo, name string) string {
	name = filepath.FromSlash(strings.TrimPrefix(name, "$WORKSPACE/"))
	if filepath.IsAbs(name) {
		below, err := filepath.Rel(repo.Root(), name)
		if err != nil || repo.Root() == "" {
			return ""
		}
		name = below
	}
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}
