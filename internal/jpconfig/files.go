package jpconfig

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// Limits of the files that a command runs.
const (
	maxRun     = 64 << 20 // bytes of a file that claims cover
	maxRecipes = 1 << 20  // bytes of a file that is searched for includes
	maxRuns    = 256      // files of a command
	maxLinks   = 40       // that lead from one to another
	maxTried   = 1 << 20  // names of all commands that are tried
)

// A tree has the files that commands of a workspace run. It is used by one goroutine.
type tree struct {
	repo   string // absolute path of the repository around the workspace
	prefix string // of the workspace in it, with slashes
	place  command.Place

	recipes map[string]recipe
	listed  map[string]map[string]bool // names of a directory in lower case, nil if there is none
}

// A recipe is a file that a command runs, as read.
type recipe struct {
	sum      string // "" if it does not exist
	includes []string
}

// Around returns the root of the repository around a workspace, the workspace if there is none: a
// name that leads out of the workspace but not out of it is one that others can commit, too. That
// of a submodule is its superproject. The working tree is one that the environment names, "" for
// none.
func Around(workspace, workTree string) string {
	found, gitDir := workspace, ""
	for dir := workspace; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		if err == nil && (gitDir == "" || regular.PrefixOf(gitDir, git) != "") {
			found, gitDir = dir, cmp.Or(gitDir, leadsTo(git))
		}
		if err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			break
		}
	}
	return cmp.Or(regular.PrefixOf(found, workTree), found)
}

// leadsTo returns the directory to which a file .git leads.
func leadsTo(git string) string {
	data, err := regular.ReadFile(git, regular.MaxNote)
	if err != nil {
		return git
	}
	to := filepath.FromSlash(strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(git), to)
	}
	return to
}

// newTree returns the tree of a workspace in a repository, for a value of PATH.
func newTree(workspace, repo, programs string) *tree {
	t := &tree{
		repo: repo, recipes: map[string]recipe{}, listed: map[string]map[string]bool{},
	}
	rel, err := filepath.Rel(t.repo, workspace)
	if err != nil {
		t.repo, rel = workspace, "."
	}
	t.prefix = filepath.ToSlash(rel)
	t.place = command.Place{Root: workspace, List: t.list, Has: t.has, Left: new(int)}
	*t.place.Left = maxTried
	if t.prefix != "." {
		t.place.Up = strings.Count(t.prefix, "/") + 1
	}
	for _, dir := range filepath.SplitList(programs) {
		real := regular.Resolved(dir)
		if root := regular.PrefixOf(real, repo); root != "" {
			dir = filepath.Join(repo, strings.TrimPrefix(real, root))
			dir, _ = filepath.Rel(workspace, dir) // both are absolute
		}
		if _, ok := t.inside(dir); ok && dir != "" {
			t.place.Path = append(t.place.Path, path.Clean(filepath.ToSlash(dir)))
		}
	}
	return t
}

// inside returns the path of a name in the repository, ok false if it is not in it.
func (t *tree) inside(name string) (string, bool) {
	name = path.Join(t.prefix, filepath.ToSlash(name))
	return name, filepath.IsLocal(name) && !filepath.IsAbs(name)
}

// names returns the names in a directory, in lower case.
func (t *tree) names(dir string) map[string]bool {
	if names, ok := t.listed[dir]; ok {
		return names
	}
	t.listed[dir] = nil
	at, ok := t.inside(dir)
	root, err := regular.OpenRoot(t.repo)
	if err != nil || !ok {
		return nil
	}
	defer func() { _ = root.Close() }() // opened for reading
	entries, err := readDir(regular.In(root), at)
	if err != nil {
		if at, err = leads(t.repo, at); err == nil {
			entries, err = readDir(regular.Dir(at), ".")
		}
	}
	if err != nil {
		return nil
	}
	t.listed[dir] = map[string]bool{}
	for _, e := range entries {
		t.listed[dir][e.Name()] = true
		t.listed[dir][strings.ToLower(e.Name())] = true
	}
	return t.listed[dir]
}

// readDir is [fs.ReadDir], and opens nothing but a directory.
func readDir(fsys fs.FS, name string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", name, err)
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "list", Path: name, Err: regular.ErrNot}
	}
	return fs.ReadDir(fsys, name)
}

// list implements List of a [command.Place].
func (t *tree) list(dir string) (names []string, ok bool) {
	all := t.names(path.Clean(dir))
	return slices.Sorted(maps.Keys(all)), all != nil
}

// isAlias reports whether a system may find a file by a name that no list has: in another form of
// Unicode, shortened as by Windows, or with what Windows takes from the end.
func isAlias(name string) bool {
	other := func(r rune) bool { return r >= utf8.RuneSelf || r == '~' }
	return strings.ContainsFunc(name, other) || strings.TrimRight(name, ". ") != name
}

// has implements Has of a [command.Place]: it looks into one directory for many names.
func (t *tree) has(name string) bool {
	if _, ok := t.inside(name); !ok {
		return false
	}
	first, rest, more := strings.Cut(name, "/")
	dir := "."
	for first == ".." && more {
		dir = path.Join(dir, first)
		first, rest, more = strings.Cut(rest, "/")
	}
	return first == ".." || isAlias(first) || t.names(dir)[strings.ToLower(first)]
}

// filesOf returns the files of the repository that a command line runs, and those that they
// include, with their hashes. Missing files are left out: when one is created, the claim changes.
func (t *tree) filesOf(words []string, shell bool) map[string]string {
	type named struct {
		name   string
		syntax command.Syntax
	}
	var queue []named
	seen := map[string]bool{}
	add := func(name string, syntax command.Syntax) {
		if t.has(name) && !seen[name] {
			seen[name], queue = true, append(queue, named{name, syntax})
		}
	}
	names, dirs, more := t.place.Files(words, shell)
	for _, name := range names {
		add(name, command.SyntaxOf(name))
	}
	files := map[string]string{}
	for i := 0; i < len(queue); i++ {
		if len(files) == maxRuns || i == maxRuns*maxRuns {
			more = true
			break
		}
		r := t.recipe(queue[i].name, queue[i].syntax)
		if r.sum == "" {
			continue
		}
		files[queue[i].name] = r.sum
		for _, name := range r.includes {
			add(path.Join(path.Dir(queue[i].name), name), queue[i].syntax)
			for _, dir := range dirs { // as after make -C, or by make -I
				add(path.Join(dir, name), queue[i].syntax)
			}
		}
	}
	if more {
		files["…"] = trust.Unbound
	}
	return files
}

// recipe reads a file, once.
func (t *tree) recipe(name string, syntax command.Syntax) recipe {
	if r, ok := t.recipes[name]; ok {
		return r
	}
	at, _ := t.inside(name)
	sum, text := readRecipe(t.repo, at)
	r := recipe{sum, syntax.Includes(name, text)}
	t.recipes[name] = r
	return r
}

// readRecipe returns the hash of a file below dir, and its start, which may be the complete file.
// One that cannot be read completely, or to which a link leads in a way that depends on the reader,
// has no hash.
func readRecipe(dir, name string) (sum string, start []byte) {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return "", nil
	}
	defer func() { _ = root.Close() }() // opened for reading
	f, err := regular.OpenIn(root, name)
	switch {
	case isNone(err):
		return "", nil
	case err != nil:
		f, err = openOutside(dir, name)
	}
	if isNone(err) {
		return "", nil // a link to a directory, or to nothing
	}
	if err != nil {
		return trust.Unbound, nil
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	var text bytes.Buffer
	n, err := io.Copy(io.MultiWriter(h, &text), io.LimitReader(f, maxRecipes))
	if err == nil && n == maxRecipes {
		text.Reset()
		var more int64
		more, err = io.Copy(h, io.LimitReader(f, maxRun+1))
		n += more
	}
	if err != nil || n > maxRun {
		return trust.Unbound, nil
	}
	return hex.EncodeToString(h.Sum(nil)), text.Bytes()
}

// isNone reports whether an error says that no file can have a name.
func isNone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrNot) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.EINVAL)
}

var errBack = errors.New("it leads out of the repository and into it again")

// openOutside opens a file to which a link of a repository leads. One that leads back into the
// repository may do so by the directory of the process, as /proc/self/cwd does.
func openOutside(dir, name string) (*os.File, error) {
	at, err := leads(dir, name)
	if err != nil {
		return nil, err
	}
	return regular.OpenFile(at)
}

// leads returns the file outside dir to which a link in it leads. If there is nothing, the place
// where it would be decides.
func leads(dir, name string) (string, error) {
	at := filepath.Join(regular.Resolved(dir), filepath.FromSlash(name))
	for range maxLinks {
		real, err := filepath.EvalSymlinks(at)
		if err != nil && !isNone(err) {
			return "", fmt.Errorf("follow %q: %w", name, err)
		}
		there := at
		for err != nil {
			if to, failed := os.Readlink(there); failed == nil {
				if !filepath.IsAbs(to) {
					to = filepath.Join(filepath.Dir(there), to)
				}
				at = to + strings.TrimPrefix(at, there)
				break
			}
			if real, err = filepath.EvalSymlinks(there); err != nil {
				there = filepath.Dir(there)
			}
		}
		switch rel, local := filepath.Rel(dir, real); {
		case err != nil:
		case local != nil || filepath.IsLocal(rel):
			return "", fmt.Errorf("follow %q: %w", name, errBack)
		case there != at:
			return "", fmt.Errorf("follow %q: %w", name, fs.ErrNotExist)
		default:
			return real, nil
		}
	}
	return "", fmt.Errorf("follow %q: %w", name, errBack)
}

// A line is a command line of a claim.
type line struct {
	words []string
	shell bool
}

// files returns the files that lines run.
func (t *tree) files(lines []line) map[string]string {
	var files map[string]string
	for _, l := range lines {
		for name, sum := range t.filesOf(l.words, l.shell) {
			if files == nil {
				files = map[string]string{}
			}
			files[name] = sum
		}
	}
	return files
}

// tree returns the tree of the workspace, read once.
func (c *Config) tree() *tree {
	if c.runs == nil {
		c.runs = newTree(c.workspace, c.repo, c.programs)
	}
	return c.runs
}
