package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
)

// maxAlternateDepth is the nesting of alternates that git follows.
const maxAlternateDepth = 5

// alternates collects object directories in the order in which git looks.
type alternates struct {
	dirs   []string
	broken []string // named, but missing
	seen   map[string]bool
}

// Dirs returns the object directories that start at main, as git looks into them: itself, those in
// the environment's list, which are relative to base, and those named in info/alternates. Broken
// ones are named, but missing.
func Dirs(main, envList, base string) (dirs, broken []string, err error) {
	a := alternates{seen: map[string]bool{}}
	if err := a.add(main, 0); err != nil {
		return nil, nil, err
	}
	for _, dir := range splitAlternates(envList, os.PathListSeparator) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		if err := a.add(dir, 1); err != nil {
			return nil, nil, err
		}
	}
	return a.dirs, a.broken, nil
}

func (a *alternates) add(dir string, depth int) error {
	path := realDir(dir)
	switch {
	case path == "":
		a.broken = append(a.broken, dir)
		return nil
	case a.seen[path]:
		return nil
	}
	a.seen[path] = true
	a.dirs = append(a.dirs, path)
	if depth > maxAlternateDepth {
		return nil
	}
	return a.follow(path, depth)
}

// realDir returns the real path of a directory, "" if it is none.
func realDir(dir string) string {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	return path
}

// follow adds the directories in dir's alternates file. Relative names are relative to dir, not to
// the file.
func (a *alternates) follow(dir string, depth int) error {
	data, err := gitfile.Read(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read alternates: %w", err)
	}
	for _, next := range splitAlternates(string(data), '\n') {
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		if err := a.add(next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// splitAlternates parses a list as git does: an entry that begins with # is a comment, one that
// begins with a quote is quoted as in C.
func splitAlternates(list string, sep rune) []string {
	var dirs []string
	for list != "" {
		if quoted, err := strconv.QuotedPrefix(list); err == nil && list[0] == '"' {
			if dir, err := strconv.Unquote(quoted); err == nil {
				dirs = append(dirs, dir)
				list = strings.TrimPrefix(list[len(quoted):], string(sep))
				continue
			}
		}
		entry, rest, _ := strings.Cut(list, string(sep))
		if entry != "" && entry[0] != '#' {
			dirs = append(dirs, entry)
		}
		list = rest
	}
	return dirs
}
