package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// A site is a directory in which git looks for hooks.
type site struct {
	dir   string // absolute
	rel   string // slash path below the common directory, "" when it is elsewhere
	where string // for people: what is special about it, "" for the repository's own
	scope string // of the setting that names it, "" without one
	off   string // why there can be no hooks, "" when there can
}

// kind classifies the file at a hook's place.
type kind int

const (
	kindAbsent   kind = iota
	kindOurs          // our script, this or an older text
	kindChained       // a user's script with our block
	kindByHand        // a user's script that calls our hook
	kindManaged       // a hook manager's script
	kindShell         // a user's shell script
	kindInert         // not executable: git does not run it, whatever is in it
	kindOpaque        // anything else: a program, a link
	kindLegacy        // a manager's script that runs ours
	kindUnproved      // it has our marks but not our words
)

// found describes the file at a hook's place.
type found struct {
	name    string
	site    site
	kind    kind
	text    string
	perm    fs.FileMode
	version int  // index of the known text, 0 for the newest
	beside  bool // with a script of ours: it does nothing if git runs the hook of the configuration
	manager manager
	by      string // file that calls our hook
	detail  string // description of a kindOpaque file
	room    string // with kindManaged, a name under which the manager runs a hook beside its own
}

// inspect reads the values of our keys, and finds the directory where git looks for hooks.
func (in *Installer) inspect(ctx context.Context) (all settings, s site, err error) {
	if all, err = readSettings(ctx, in.repo); err == nil {
		s, err = in.site(ctx, all)
	}
	return all, s, err
}

// site returns the directory where git looks for hooks.
func (in *Installer) site(ctx context.Context, all settings) (site, error) {
	dir, scope, err := in.repo.HooksDir(ctx, all[gitint.HooksKey])
	if err != nil {
		return site{}, fmt.Errorf("inspect hooks: %w", err)
	}
	s := site{dir: dir, rel: below(in.repo.CommonDir(), dir), scope: scope, off: blocked(dir)}
	if s.off != "" {
		s.off = cmp.Or(s.setting(), filepath.Join(in.repo.CommonDir(), "hooks")) + s.off
	}
	switch root := in.repo.Root(); {
	case s.rel != "" && scope == "":
	case s.rel != "":
		s.where = fmt.Sprintf("core.hooksPath (%s)", scope)
	case root != "" && below(root, dir) != "":
		const tracked = "core.hooksPath (%s) is %s in the working tree"
		s.where = fmt.Sprintf(tracked, scope, below(root, dir))
	default:
		s.where = s.setting() + " outside of the repository"
	}
	if scope == "" && s.rel == "" {
		s.where = fmt.Sprintf("%s leads out of the repository",
			filepath.Join(in.repo.CommonDir(), "hooks"))
	}
	return s, nil
}

// setting says what core.hooksPath is, "" if it is not set.
func (s site) setting() string {
	if s.scope == "" {
		return ""
	}
	return fmt.Sprintf("core.hooksPath (%s) is %s", s.scope, s.dir)
}

// blocked returns why a hooks directory is not one and cannot become one, "" if it is or can.
// People turn hooks off with /dev/null.
func blocked(dir string) string {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist):
		return ""
	case err == nil:
		return ", which is not a directory"
	}
	return fmt.Sprintf(", which cannot be used (%v)", regular.Cause(err))
}

// own returns the repository's own hooks directory, whether or not git looks there.
func (in *Installer) own() site {
	dir := filepath.Join(in.repo.CommonDir(), "hooks")
	return site{dir: dir, rel: below(in.repo.CommonDir(), dir), off: blocked(dir)}
}

// below returns the slash path of dir below base, "" if it is not below it, after following
// symbolic links: a hooks directory that is a link into the working tree is not ours.
func below(base, dir string) string {
	rel, err := filepath.Rel(resolve(base), resolve(dir))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// resolve follows the symbolic links of a path whose last parts may not exist.
func resolve(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		return real
	}
	parent := filepath.Dir(name)
	if parent == name {
		return name
	}
	return filepath.Join(resolve(parent), filepath.Base(name))
}

// look describes the file in s for the hook name.
func (in *Installer) look(s site, name string) (found, error) {
	f := found{name: name, site: s}
	file := filepath.Join(s.dir, name)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		in.lookManaged(&f)
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("inspect hook %s: %w", name, err)
	}
	f.perm = info.Mode().Perm()
	if !info.Mode().IsRegular() {
		f.kind, f.detail = kindOpaque, describe(file, info)
		return f, nil
	}
	data, err := regular.ReadFile(file, regular.MaxNote)
	if _, ok := errors.AsType[*regular.SizeError](err); ok {
		f.kind, f.detail = kindOpaque, notShell
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("inspect hook %s: %w", name, err)
	}
	f.text = string(data)
	in.classify(&f)
	return f, nil
}

// notShell describes a file to which no line can be added.
const notShell = "a program that is not a shell script"

// classify finds out whose text a hook file has.
func (in *Installer) classify(f *found) {
	if f.version = is(f.text, f.name, in.texts.scripts); f.version >= 0 {
		f.kind = kindOurs
		return
	}
	if f.version = is(f.text, f.name, in.texts.besides); f.version >= 0 {
		f.kind, f.beside = kindOurs, true
		return
	}
	if _, f.version = unchain(f.text, f.name, in.texts.blocks); f.version >= 0 {
		f.kind = kindChained
		return
	}
	f.version = 0
	if callsHook(f.text, f.name) {
		f.by = filepath.Join(f.site.dir, f.name)
	}
	switch {
	case strings.Contains(f.text, blockMark):
		f.kind = kindUnproved
	case !f.executable():
		f.kind = kindInert
	case f.by != "":
		f.kind = kindByHand
	case f.isManaged():
		in.lookManaged(f)
	case isShell(firstLine(f.text)):
		f.kind = kindShell
	default:
		f.kind, f.detail = kindOpaque, notShell
	}
}

// blockMark begins every block that was ever written.
const blockMark = "# >>> git jp >>>"

func (f *found) isManaged() bool {
	_, ok := managerOf(f.site.dir, f.text, f.name)
	return ok
}

// lookManaged finds out whether the manager of a hook file runs our hook.
func (in *Installer) lookManaged(f *found) {
	m, ok := managerOf(f.site.dir, f.text, f.name)
	if !ok {
		return
	}
	f.kind, f.manager = kindManaged, m
	if f.text == "" {
		// Git ignores its files: a new working tree has none before the manager ran.
		f.detail = m.name + " has no hook in this working tree"
		return
	}
	if f.by = m.calledBy(in.repo.Root(), f.name); f.by != "" {
		f.kind = kindByHand
		return
	}
	if m.runsIt {
		in.lookLegacy(f, f.name+m.backup)
	}
}

// lookLegacy finds out whether backup, which the manager runs before its own hooks if it is
// executable, is ours.
func (in *Installer) lookLegacy(f *found, backup string) {
	file := filepath.Join(f.site.dir, backup)
	text, err := regular.ReadFile(file, regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		f.room = backup
	}
	if err != nil || !in.texts.wrote(string(text), f.name) {
		return
	}
	if info, err := os.Stat(file); err != nil || !executable(info.Mode()) {
		f.detail = backup + " is not executable"
		return
	}
	f.kind, f.by = kindLegacy, backup
	f.beside = is(string(text), f.name, in.texts.besides) >= 0
}

// executable reports whether git runs the file.
func (f *found) executable() bool { return executable(f.perm) }

// executable reports whether a file of this mode is run as a hook. Windows has no such permission.
func executable(mode fs.FileMode) bool { return runtime.GOOS == "windows" || mode&0o111 != 0 }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func describe(file string, info fs.FileInfo) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(file)
		if err == nil {
			return "a symbolic link to " + target
		}
	}
	return "no regular file"
}
