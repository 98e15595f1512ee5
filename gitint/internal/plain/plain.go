package plain

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/owner"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
)

// gitDirName is the git directory in a working tree.
const gitDirName = ".git"

// A Repository is a plain one.
type Repository struct{ Root, GitDir, Index string }

// A Config reports whether the value of a key is one that this program knows. The key is as git
// prints it.
type Config func(key, value string) bool

// Find finds the repository of a directory, a real path, if it is a plain one. False means that git
// must be asked, also if isKnown is false for a value of its configuration: whoever reads that
// reports it.
func Find(dir string, env environ.List, isKnown Config) (r Repository, ok bool) {
	if !env.IsPlain() {
		return r, false
	}
	root, ok := findRoot(dir)
	if !ok || root != dir && env.Get(environ.Ceilings) != "" {
		return r, false
	}
	gitDir := filepath.Join(root, gitDirName)
	if !owner.Owns(root, env) || !owner.Owns(gitDir, env) || !isPlain(gitDir, isKnown) {
		return r, false
	}
	index := filepath.Join(gitDir, "index")
	if name, ok := env.Lookup(environ.IndexFile); ok {
		if index = name; !filepath.IsAbs(name) {
			index = filepath.Join(root, name)
		}
	}
	// Git resolves the real path of an index.
	if filepath.Dir(index) != gitDir || !isFileOrNone(index) {
		return r, false
	}
	return Repository{Root: root, GitDir: gitDir, Index: index}, true
}

// findRoot searches upwards from a directory for the first with .git, and reports whether that is
// a directory. Like git it stays on one file system. A directory that may be a bare repository is
// left to git.
func findRoot(dir string) (root string, ok bool) {
	device, ok := deviceOf(dir)
	for ok {
		switch info, err := os.Lstat(filepath.Join(dir, gitDirName)); {
		case err == nil:
			return dir, info.IsDir()
		case !errors.Is(err, fs.ErrNotExist) || !isVacant(filepath.Join(dir, refstore.Head)):
			return "", false
		}
		up := filepath.Dir(dir)
		on, known := deviceOf(up)
		ok = known && on == device && up != dir
		dir = up
	}
	return "", false
}

// isPlain reports whether git recognizes a directory as a repository, and no part of it is
// elsewhere.
func isPlain(gitDir string, isKnown Config) bool {
	head, target, err := refstore.Files(refstore.Place{
		GitDir: gitDir, CommonDir: gitDir, IDSize: object.SHA1Size,
	}).Loose(refstore.Head)
	if err != nil || head.IsZero() && !strings.HasPrefix(target, "refs/") {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if !searchable(filepath.Join(gitDir, name)) {
			return false
		}
	}
	for _, name := range []string{"commondir", "shallow"} {
		if !isVacant(filepath.Join(gitDir, name)) {
			return false
		}
	}
	text, err := gitfile.Read(filepath.Join(gitDir, "config"))
	return err == nil && isPlainConfig(string(text), isKnown)
}

// isVacant reports whether a name certainly does not exist.
func isVacant(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// isFileOrNone reports whether a name is a regular file or missing.
func isFileOrNone(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// isPlainConfig reports whether the configuration of a repository is that of a plain one. Git reads
// only this file for that, without includes. Lines are parsed one by one: any form that git does
// not write is left to git.
func isPlainConfig(text string, isKnown Config) bool {
	section, version := "", ""
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n")
		switch {
		case strings.HasSuffix(line, `\`): // it continues on the next line
			return false
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			var ok bool
			if section, ok = parseSection(line); !ok {
				return false
			}
		default:
			name, value, _ := strings.Cut(line, "=")
			name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
			if !isConfigName(name, "-") || name[0] < 'A' || !isConfigValue(value) {
				return false
			}
			switch key := section + "." + strings.ToLower(name); {
			case key == "core.repositoryformatversion":
				version = value
			case key == "core.worktree", key == "core.bare" && value != "false",
				section == "extensions" && !isPlainExtension(key),
				!isKnown(key, value):
				return false
			}
		}
	}
	return version == "0" || version == "1"
}

// parseSection parses the line that begins a section. With a subsection the name is "", which
// matches no key.
func parseSection(line string) (name string, ok bool) {
	line, ok = strings.CutSuffix(line[1:], "]")
	name, second, hasSecond := strings.Cut(line, " ")
	name = strings.ToLower(name)
	if !ok || !isConfigName(name, "-.") {
		return "", false
	}
	if !hasSecond {
		return name, true
	}
	second, begins := strings.CutPrefix(second, `"`)
	second, ends := strings.CutSuffix(second, `"`)
	return "", begins && ends && !strings.ContainsAny(second, `"\`) && name != "extensions"
}

// isConfigName reports whether a name has only letters, digits and the other characters.
func isConfigName(name, others string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
		return !isLetter && (c < '0' || c > '9') && !strings.ContainsRune(others, c)
	})
}

// isConfigValue reports whether git would accept a value.
func isConfigValue(value string) bool {
	quoted := false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\':
			if i++; i == len(value) || !strings.ContainsRune(`"\ntb`, rune(value[i])) {
				return false
			}
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return true
		}
	}
	return !quoted
}

// isPlainExtension reports whether an extension does not change how any git stores a repository: in
// a partial clone objects may be missing, which is noticed when they are read.
func isPlainExtension(key string) bool {
	return key == "extensions.noop" || key == "extensions.preciousobjects" ||
		key == "extensions.partialclone"
}
