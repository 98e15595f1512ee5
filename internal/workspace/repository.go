package workspace

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

// IsRepository reports whether git considers dir the root of a working tree because of its ".git",
// so that the files below are not part of a surrounding working tree. It follows git's own test. In
// doubt it returns false: the caller then searches one directory too many for content that is
// needed.
func IsRepository(dir string) bool {
	name := filepath.Join(dir, gitName)
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() {
		return isGitFile(name)
	}
	return isGitDir(name)
}

// isGitFile reports whether a file leads to the directory of a repository.
func isGitFile(name string) bool {
	data, err := regular.ReadFile(name, regular.MaxNote)
	if err != nil {
		return false
	}
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	target = strings.TrimRight(target, "\r\n")
	if !ok || target == "" {
		return false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(name), target)
	}
	return isGitDir(target)
}

// isGitDir reports whether git recognizes a directory as a git directory: by its HEAD, its objects
// and its refs.
func isGitDir(dir string) bool {
	if !isHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common, err := commonDir(dir)
	return err == nil && isDir(filepath.Join(common, "objects")) &&
		isDir(filepath.Join(common, "refs"))
}

// commonDir returns the part of a git directory that its worktrees share.
func commonDir(dir string) (string, error) {
	data, err := regular.ReadFile(filepath.Join(dir, "commondir"), regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	common := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common, err
}

// isHead reports whether a file has the content of a HEAD: a ref, or a commit.
func isHead(name string) bool {
	if target, err := os.Readlink(name); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := regular.ReadFile(name, regular.MaxNote)
	if err != nil {
		return false
	}
	if ref, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(ref, " \t\n\r\v\f"), []byte("refs/"))
	}
	const digits = 40 // of the shortest id
	if len(data) < digits {
		return false
	}
	_, err = hex.DecodeString(string(data[:digits]))
	return err == nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
