package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// maxExtends limits the depth of files that extend each other.
const maxExtends = 32

// Limits of one load, so that a small file cannot cause an expensive one.
const (
	maxFiles = 512     // counting each time that one is extended
	maxBytes = 8 << 20 // of all files together
	maxNames = 100_000 // of files that patterns are matched with, in the workspace
)

var (
	// ErrExtends is the error for files that extend each other in a circle, or too deeply.
	ErrExtends = errors.New("files extend each other in a cycle")
	// ErrTooMuch is the error for more files than any real configuration has.
	ErrTooMuch = fmt.Errorf("more than %d files of %d MiB together", maxFiles, maxBytes>>20)

	errTooManyNames = fmt.Errorf("patterns are compared with more than %d names", maxNames)
)

// extensions returns those of configuration files, in order of precedence.
func extensions() []string { return []string{".toml", ".json", ".json5", ".yaml", ".yml"} }

// A place is how a tree of files is read: the workspace through an [os.Root], so that no link leads
// outside it, or everything else.
type place struct {
	layer   Layer
	foreign bool
	open    func(name string) ([]byte, error)
	stat    func(name string) (fs.FileInfo, error)
	glob    func(dir, pattern string) ([]string, error)
}

// placeOf returns how the files of dir are read. Files of the user's own layers are the user's
// wherever they are, even if the workspace is a home directory.
func (l *loader) placeOf(dir string, layer Layer) (place, error) {
	root := l.sources.Workspace
	if root == "" || layer == User || layer == UserWorkspace || !within(root, dir) {
		return outside(layer), nil
	}
	return l.workspace(layer)
}

// workspace returns how the files of the workspace are read.
func (l *loader) workspace(layer Layer) (place, error) {
	if l.root == nil {
		var err error
		if l.root, err = regular.OpenRoot(l.sources.Workspace); err != nil {
			return place{}, err
		}
	}
	return inside(counted{regular.In(l.root), &l.names}, l.root, layer), nil
}

// A counted file system counts the names that it returns, so that neither many patterns in a small
// file nor a large tree makes a load walk the workspace without end. A directory counts as many as
// its path has names: all are opened on the way to it.
type counted struct {
	fs.FS
	names *int
}

func (c counted) enough(more int) error {
	if *c.names += more; *c.names > maxNames {
		return errTooManyNames
	}
	return nil
}

// ReadDir counts its entries.
func (c counted) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := c.enough(1 + strings.Count(name, "/")); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(c.FS, name)
	if more := c.enough(len(entries)); more != nil {
		return nil, more
	}
	return entries, err
}

// Stat counts as one name.
func (c counted) Stat(name string) (fs.FileInfo, error) {
	if err := c.enough(1); err != nil {
		return nil, err
	}
	return fs.Stat(c.FS, name)
}

// matching returns the files that match a pattern, by one walk: [doublestar.Glob] walks once for
// each "**" and each choice, sorts by insertion, and follows links in circles. Only the names
// before the first wildcard may be links to directories.
func (c counted) matching(pattern string) (names []string, err error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, doublestar.ErrBadPattern
	}
	base, rest := doublestar.SplitPattern(pattern)
	if !strings.ContainsAny(rest, "*?[{") {
		names, err = doublestar.Glob(c, pattern, doublestar.WithFilesOnly())
		return names, errors.Join(err, c.enough(0)) // Glob ignores read errors
	}
	pattern = path.Join(regular.Literal(base), rest)
	err = fs.WalkDir(c, base, func(name string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(name, base+"/")
		switch {
		case errors.Is(err, errTooManyNames):
			return err
		case err == nil && d.IsDir() && name != base && (isData(name) || tooDeep(rest, below)):
			return fs.SkipDir
		case err == nil && doublestar.MatchUnvalidated(pattern, name) && !c.isDir(name, d):
			names = append(names, name)
		}
		return nil // what cannot be read is skipped
	})
	return names, err
}

// tooDeep reports whether no file below a directory matches a pattern.
func tooDeep(pattern, dir string) bool {
	return !strings.Contains(pattern, "**") &&
		strings.Count(dir, "/") >= strings.Count(pattern, "/")
}

// isData reports whether a directory of the workspace has what git or jp stores and no
// configuration, perhaps in very many files.
func isData(dir string) bool {
	return path.Base(dir) == ".git" || dir == ".jp/blobs" || dir == ".jp/conversations"
}

// isDir reports whether an entry is a directory, or a link to one.
func (c counted) isDir(name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir()
	}
	info, err := c.Stat(name)
	return err == nil && info.IsDir()
}

// strays reports whether a file that is read without a root is in the workspace nevertheless, as
// when a user's file extends it.
func (l *loader) strays(name string) bool {
	s := l.sources
	own := s.User != "" && within(s.User, name) ||
		s.UserWorkspace != "" && within(s.UserWorkspace, name)
	return s.Workspace != "" && !own && within(s.Workspace, regular.Resolved(name))
}

// within reports whether an absolute path is root or below it.
func within(root, name string) bool {
	rel, err := filepath.Rel(root, name)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

func outside(layer Layer) place {
	open := func(name string) ([]byte, error) {
		return regular.ReadFile(name, regular.MaxSettings)
	}
	if layer == Option {
		open = func(name string) ([]byte, error) { // a user who names a pipe means it
			return regular.ReadNamed(name, regular.MaxSettings)
		}
	}
	return place{
		layer: layer, open: open,
		stat: os.Stat,
		glob: func(dir, pattern string) ([]string, error) {
			if !filepath.IsAbs(filepath.FromSlash(pattern)) {
				pattern = path.Join(regular.Literal(filepath.ToSlash(dir)), pattern)
			}
			return doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		},
	}
}

func inside(fsys counted, r *os.Root, layer Layer) place {
	root := r.Name()
	rel := func(name string) (string, error) {
		name, err := filepath.Rel(root, name)
		return filepath.ToSlash(name), err
	}
	return place{
		layer: layer, foreign: true,
		open: func(name string) ([]byte, error) {
			name, err := rel(name)
			if err != nil {
				return nil, err
			}
			return regular.Read(fsys.FS, name, regular.MaxSettings)
		},
		stat: func(name string) (fs.FileInfo, error) {
			name, err := rel(name)
			if err != nil {
				return nil, err
			}
			return r.Stat(name)
		},
		glob: func(dir, pattern string) ([]string, error) {
			dir, err := rel(dir)
			if err != nil {
				return nil, err
			}
			pattern = path.Join(regular.Literal(dir), pattern)
			if !fs.ValidPath(pattern) {
				return nil, fs.ErrPermission // outside the workspace
			}
			names, err := fsys.matching(pattern)
			for i, name := range names {
				names[i] = filepath.Join(root, filepath.FromSlash(name))
			}
			return names, err
		},
	}
}

// has reports whether a name exists: also one that is no file, leads outside the workspace or
// cannot be read, for which reading returns an error.
func (p place) has(name string) bool {
	_, err := p.stat(name)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// names reports whether a name that could be short for another one exists itself, and is not a
// directory.
func (p place) names(name string) bool {
	info, err := p.stat(name)
	return p.has(name) && (err != nil || !info.IsDir())
}

// find reads the file base.* of dir, with the first extension that exists.
func (l *loader) find(layer Layer, dir, base string) (part, bool, error) {
	pl, err := l.placeOf(dir, layer)
	if err != nil {
		return part{}, false, ignoreMissing(err)
	}
	for _, ext := range extensions() {
		name := filepath.Join(dir, base+ext)
		if pl.has(name) {
			p, err := l.file(pl, name, nil)
			return p, err == nil, err
		}
	}
	return part{}, false, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// file reads a file and those that it extends. Above are the files that led here.
func (l *loader) file(pl place, name string, above []string) (part, error) {
	if slices.Contains(above, name) || len(above) >= maxExtends {
		return part{}, fmt.Errorf("%s: %w", strings.Join(append(above, name), " → "), ErrExtends)
	}
	if !pl.foreign && l.strays(name) {
		var err error
		if pl, err = l.workspace(pl.layer); err != nil {
			return part{}, err
		}
		name = regular.Resolved(name)
	}
	data, err := pl.open(name)
	if err != nil {
		return part{}, err
	}
	l.read += len(data)
	if l.opened++; l.opened > maxFiles || l.read > maxBytes {
		return part{}, fmt.Errorf("%s: %w", l.shown(name), ErrTooMuch)
	}
	f, err := config.Decode(name, data)
	if err != nil {
		return part{}, err
	}
	o := Origin{Layer: pl.layer, File: l.shown(name), Foreign: pl.foreign, line: f.Line}
	text, err := json.Marshal(f.Values)
	if err != nil {
		return part{}, fmt.Errorf("%s: %w", o.At(), err)
	}
	if f.Values == nil {
		text = []byte("{}")
	}
	l.judgeTable(o, nil, f.Values)
	own, err := l.parse(text, o)
	if err != nil {
		return part{}, err
	}
	base := strings.TrimPrefix(filepath.Base(name), ".")
	if base == config.BesideFile+filepath.Ext(base) {
		return own, nil
	}
	before, after := l.extends(o, f.Values)
	above = append(slices.Clone(above), name)
	p, err := l.all(pl, o, before, above)
	if err != nil {
		return part{}, err
	}
	rest, err := l.all(pl, o, after, above)
	return p.merge(own).merge(rest), err
}

// shown returns a file name for messages.
func (l *loader) shown(name string) string {
	rel, err := filepath.Rel(l.sources.Workspace, name)
	if err != nil || l.sources.Workspace == "" || !filepath.IsLocal(rel) {
		return name
	}
	return filepath.ToSlash(rel)
}

// extends returns the patterns of a file's extends: of files merged before it, and of files merged
// after it.
func (l *loader) extends(o Origin, tree map[string]any) (before, after []string) {
	v, said := tree["extends"]
	if table, ok := v.(map[string]any); ok {
		v = table["value"]
	}
	entries, ok := v.([]any)
	if !said {
		return []string{"config.d/**/*"}, nil
	}
	if !ok {
		l.warn(o.At("extends"), "extends", "want a list")
	}
	for _, entry := range entries {
		switch entry := entry.(type) {
		case string:
			before = append(before, entry)
		case map[string]any:
			pattern, _ := entry["path"].(string)
			if entry["strategy"] == "after" {
				after = append(after, pattern)
			} else {
				before = append(before, pattern)
			}
		default:
			l.warn(o.At("extends"), "extends", "want paths")
		}
	}
	return before, after
}

// all reads the files that match the patterns of a file, merged in order.
func (l *loader) all(pl place, o Origin, patterns, above []string) (part, error) {
	var joined part
	dir := filepath.Dir(above[len(above)-1])
	for _, pattern := range patterns {
		names, err := expand(pl, dir, pattern)
		switch {
		case errors.Is(err, regular.ErrPattern):
			l.warn(o.At("extends"), "extends", "%q: %v", shortened(pattern), err)
			continue
		case errors.Is(err, errTooManyNames):
			return part{}, fmt.Errorf("%s: %w", o.At("extends"), err)
		}
		if err != nil || names == nil && !strings.ContainsAny(pattern, "*?[{") {
			l.warn(o.At("extends"), "extends", "no file %q", pattern)
			continue
		}
		for _, name := range names {
			p, err := l.file(pl, name, above)
			if err != nil {
				return part{}, err
			}
			joined = joined.merge(p)
		}
	}
	return joined, nil
}

// expand returns the configuration files that match a pattern, sorted.
func expand(pl place, dir, pattern string) ([]string, error) {
	if err := regular.CheckPattern(pattern); err != nil {
		return nil, err
	}
	names, err := pl.glob(dir, pattern)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(extensions(), path.Ext(filepath.ToSlash(name)))
	})
	slices.Sort(names)
	return names, err
}

// shortened shortens a pattern for a message.
func shortened(pattern string) string {
	const enough = 60
	if len(pattern) > enough {
		return pattern[:enough] + "…"
	}
	return pattern
}

// named reads a file that the user named, relative to the working directory.
func (l *loader) named(name string) (part, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.sources.Dir, name)
	}
	name = filepath.Clean(name)
	pl, err := l.placeOf(name, Option)
	if err != nil {
		return part{}, err
	}
	return l.file(pl, name, nil)
}

// lookUp reads a file by its path, else by its name on the load paths of each root: the first match
// of each root, merged from low to high. A file of the working tree that has the name of one of the
// user's own does not replace it: both are read, unless the name begins with "./".
func (l *loader) lookUp(name string) (part, error) {
	direct := l.sources.Dir != "" && outside(Option).names(filepath.Join(l.sources.Dir, name))
	if !filepath.IsLocal(name) || direct && strings.HasPrefix(name, "./") {
		return l.named(name)
	}
	var joined part
	found := false
	for _, r := range l.roots() {
		if direct && r.layer == Option {
			continue
		}
		p, ok, err := l.onLoadPaths(r, name)
		if err != nil {
			return part{}, err
		}
		joined, found = joined.merge(p), found || ok
	}
	if direct {
		p, err := l.named(name)
		return joined.merge(p), err
	}
	if !found {
		return part{}, fmt.Errorf("%q on config_load_paths: %w", name, fs.ErrNotExist)
	}
	return joined, nil
}

// A loadRoot is a directory that load paths are relative to.
type loadRoot struct {
	dir   string
	layer Layer
}

func (l *loader) roots() []loadRoot {
	var roots []loadRoot
	if dir := l.sources.User; dir != "" {
		roots = append(roots, loadRoot{filepath.Join(dir, "config"), User})
	}
	if dir := l.sources.Workspace; dir != "" {
		roots = append(roots, loadRoot{dir, Option})
	}
	if dir := l.sources.UserWorkspace; dir != "" {
		roots = append(roots, loadRoot{filepath.Join(dir, "config"), UserWorkspace})
	}
	return roots
}

// loadPaths returns the load paths of a root. Foreign ones apply to the files of the workspace
// only.
func (l *loader) loadPaths(r loadRoot) (paths []string) {
	read := func(c settings.Config) {
		var more []string
		if s, ok := c.Setting("config_load_paths"); ok {
			_ = exact.Unmarshal(s.Value(), &more) // another type has no paths
		}
		paths = lists.Union(paths, more)
	}
	if r.layer == Option {
		read(l.config.all)
	}
	read(l.config.own)
	return paths
}

func (l *loader) onLoadPaths(r loadRoot, name string) (part, bool, error) {
	for _, load := range l.loadPaths(r) {
		if !filepath.IsLocal(filepath.FromSlash(load)) {
			continue
		}
		file := filepath.Join(r.dir, filepath.FromSlash(load), filepath.FromSlash(name))
		pl, err := l.placeOf(file, r.layer)
		if err != nil {
			return part{}, false, ignoreMissing(err)
		}
		for _, ext := range slices.Concat([]string{""}, extensions()) {
			if pl.names(file + ext) {
				p, err := l.file(pl, file+ext, nil)
				return p, err == nil, err
			}
		}
	}
	return part{}, false, nil
}
