package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const isWindows = runtime.GOOS == "windows"

// A Space names the files of one workspace, and those outside of it.
type Space struct {
	root string // absolute, links resolved
}

// NewSpace returns the names as seen from the workspace whose root is dir.
func NewSpace(dir string) (*Space, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("name files of %q: %w", dir, err)
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("name files of %q: %w", dir, err)
	}
	return &Space{root: root}, nil
}

// Root returns the root as an absolute path without links.
func (s *Space) Root() string { return s.root }

// URI returns the canonical URI of path, which need not exist: the links in what is
// there of it are resolved.
func (s *Space) URI(path string) (string, error) {
	real, err := s.resolve(path)
	if err != nil {
		return "", fmt.Errorf("name file %q: %w", path, err)
	}
	return s.name(real), nil
}

// Canonical returns the canonical form of any URI of a file: absolute or from the
// root, with $WORKSPACE or without.
func (s *Space) Canonical(uri string) (string, error) {
	real, fragment, err := s.locate(uri)
	if err != nil {
		return "", err
	}
	return s.name(real) + fragment, nil
}

// Path returns the absolute path without links of a URI of a file, and its fragment
// without '#'.
func (s *Space) Path(uri string) (path, fragment string, err error) {
	path, fragment, err = s.locate(uri)
	return path, strings.TrimPrefix(fragment, "#"), err
}

// Expand returns uri with the absolute path of the root in place of $WORKSPACE.
func (s *Space) Expand(uri string) string { return Expand(s.root, uri) }

func (s *Space) locate(uri string) (real, fragment string, err error) {
	if !IsURI(uri) {
		return "", "", fmt.Errorf("read URI %q: it is none of a file", uri)
	}
	f, err := parse(uri, isWindows)
	if err != nil {
		return "", "", fmt.Errorf("read URI %q: %w", uri, err)
	}
	p := filepath.FromSlash(f.path)
	if f.relative {
		p = s.join(p)
	}
	real, err = resolve(p)
	if err != nil {
		return "", "", fmt.Errorf("read URI %q: %w", uri, err)
	}
	return real, f.fragment, nil
}

// resolve returns the absolute path without links.
func (s *Space) resolve(path string) (string, error) {
	switch {
	case path == "":
		return "", errPath
	case strings.IndexByte(path, 0) >= 0:
		return "", errNUL
	case !filepath.IsAbs(path):
		path = s.join(path)
	}
	return resolve(path)
}

// join does not clean: what ".." after a link means only the file system knows.
func (s *Space) join(rel string) string { return s.root + string(filepath.Separator) + rel }

// Below returns the slash path of a resolved absolute path from the root, "." for the
// root itself, and whether it is there.
func (s *Space) Below(real string) (string, bool) {
	if real == s.root {
		return ".", true
	}
	prefix := s.root
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	rest, ok := strings.CutPrefix(real, prefix)
	return filepath.ToSlash(rest), ok
}

// name returns the canonical URI of a resolved path.
func (s *Space) name(real string) string {
	rel, inside := s.Below(real)
	switch {
	case !inside:
		return absolute(real, isWindows)
	case rel == ".":
		return anchored
	}
	return anchored + "/" + encode(rel)
}

// resolve resolves the links in as much of an absolute path as exists. What follows
// is taken as it stands.
func resolve(path string) (string, error) {
	missing := ""
	for p := path; ; {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return settle(real, missing)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", err
		}
		if target, ok := dangling(p); ok {
			return resolve(target + missing)
		}
		cut := strings.LastIndexByte(strings.TrimRight(p, string(filepath.Separator)),
			filepath.Separator)
		if cut < len(filepath.VolumeName(p)) {
			return "", err
		}
		missing = p[cut:] + missing
		if p = p[:cut]; p == filepath.VolumeName(p) {
			p += string(filepath.Separator)
		}
	}
}

// dangling returns where a link leads that leads to nothing: writing through it
// would make that file, so it is that file.
func dangling(p string) (string, bool) {
	target, err := os.Readlink(p)
	if err != nil {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(p) + string(filepath.Separator) + target
	}
	return target, true
}

// settle joins a resolved path and a rest that does not exist. A rest that climbs out
// of what does not exist reaches something that may be a link again.
func settle(real, missing string) (string, error) {
	joined := filepath.Join(real, missing)
	for _, name := range strings.Split(missing, string(filepath.Separator)) {
		if name == ".." {
			return resolve(joined)
		}
	}
	return joined, nil
}
