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

// A Space names the files inside and outside one workspace.
type Space struct {
	root string // absolute, links resolved
}

// NewSpace returns a space for the workspace whose root is dir, an absolute path.
func NewSpace(dir string) (*Space, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("name files of %q: %w", dir, err)
	}
	return &Space{root: root}, nil
}

// Root returns the root as an absolute path without links.
func (s *Space) Root() string { return s.root }

// Canonical returns the canonical form of any URI of a file: absolute or relative, with $WORKSPACE
// or without.
func (s *Space) Canonical(uri string) (string, error) {
	real, fragment, err := s.locate(uri)
	if err != nil {
		return "", err
	}
	return s.name(real) + fragment, nil
}

// Tidy returns the canonical form of the URI of a file. Any other stays as it is, and an invalid
// one: that only means that its resource has an identity of its own. A nil space changes none.
func (s *Space) Tidy(uri string) string {
	if s == nil || !IsURI(uri) {
		return uri
	}
	if canonical, err := s.Canonical(uri); err == nil {
		return canonical
	}
	return uri
}

// Path returns the absolute path, without links, of a file's URI, and its fragment without '#'.
func (s *Space) Path(uri string) (path, fragment string, err error) {
	path, fragment, err = s.locate(uri)
	return path, strings.TrimPrefix(fragment, "#"), err
}

// Expand replaces $WORKSPACE in uri by the absolute path of the root.
func (s *Space) Expand(uri string) string { return Expand(s.root, uri) }

func (s *Space) locate(uri string) (real, fragment string, err error) {
	if !IsURI(uri) {
		return "", "", fmt.Errorf("read URI %q: it is not the URI of a file", uri)
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

// join does not clean the path: only the file system knows what ".." after a link is.
func (s *Space) join(rel string) string { return s.root + string(filepath.Separator) + rel }

// Below converts a resolved absolute path to a slash path relative to the root, "." for the root
// itself, and reports whether it is below the root.
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

// resolve resolves links in the existing part of an absolute path. The rest is used unchanged.
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

// dangling returns the target of a dangling link: writing through the link would create that file,
// so the path names it.
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

// settle joins a resolved path and a rest that does not exist. If the rest has "..", the result may
// contain links again, which are resolved.
func settle(real, missing string) (string, error) {
	joined := filepath.Join(real, missing)
	for _, name := range strings.Split(missing, string(filepath.Separator)) {
		if name == ".." {
			return resolve(joined)
		}
	}
	return joined, nil
}
