package refstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// maxSymrefDepth is how many symbolic refs git follows.
const maxSymrefDepth = 5

// errNoValue reports a ref file without a value that git accepts.
var errNoValue = errors.New("no object id")

// Files reads the refs of one working tree from files and packed-refs.
type Files Place

// perWorktree has the namespaces of per-worktree refs.
var perWorktree = [...]string{"refs/bisect", "refs/rewritten", "refs/worktree"}

// refSet has the refs found so far.
type refSet struct {
	direct map[string]Ref    // by name; Peeled is set if packed-refs has it
	sym    map[string]string // target by name
	broken map[string]string // reason by name, of a ref or of packed-refs
}

func newRefSet() *refSet {
	return &refSet{
		direct: map[string]Ref{}, sym: map[string]string{}, broken: map[string]string{},
	}
}

func (s *refSet) has(name string) bool {
	_, direct := s.direct[name]
	_, sym := s.sym[name]
	_, broken := s.broken[name]
	return direct || sym || broken
}

// List implements [Store]. It reads loose refs before packed ones: in the other order it would miss
// a ref that is packed meanwhile.
func (f Files) List(ctx context.Context) ([]Ref, []string, error) {
	set, err := f.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return set.result()
}

// result returns the refs and those without a value.
func (s *refSet) result() ([]Ref, []string, error) {
	refs := slices.Collect(maps.Values(s.direct))
	for name := range s.sym {
		if ref, ok := s.follow(name); ok {
			refs = append(refs, ref)
		}
	}
	broken := make([]string, 0, len(s.broken))
	for name, reason := range s.broken {
		broken = append(broken, name+": "+reason)
	}
	slices.Sort(broken)
	return refs, broken, nil
}

func (f Files) read(ctx context.Context) (*refSet, error) {
	set := newRefSet()
	if f.GitDir != f.CommonDir {
		for _, dir := range perWorktree {
			if err := f.walk(ctx, set, f.GitDir, dir); err != nil {
				return nil, err
			}
		}
	}
	if err := f.walk(ctx, set, f.CommonDir, "refs"); err != nil {
		return nil, err
	}
	return set, f.readPacked(set)
}

// walk reads the loose refs of a directory and its subdirectories.
func (f Files) walk(ctx context.Context, set *refSet, base, dir string) error {
	entries, err := os.ReadDir(filepath.Join(base, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err() // git removes directories that become empty
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Name()[0] == '.' || strings.HasSuffix(name, ".lock") || f.elsewhere(base, name) {
			continue
		}
		isDir, err := isDirectory(filepath.Join(base, filepath.FromSlash(name)), e)
		if err != nil {
			return err
		}
		if isDir {
			err = f.walk(ctx, set, base, name)
		} else {
			err = f.readLoose(set, base, name)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// elsewhere reports whether a directory of the common part has per-worktree refs of the main
// worktree, seen from a linked one.
func (f Files) elsewhere(base, name string) bool {
	return base != f.GitDir && IsPerWorktree(name)
}

// IsPerWorktree reports whether a ref below refs/ belongs to one working tree.
func IsPerWorktree(name string) bool {
	for _, dir := range perWorktree {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// isDirectory follows symlinks, by which some share a directory of refs.
func isDirectory(name string, e fs.DirEntry) (bool, error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir(), nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // perhaps a symbolic ref in the old form
	}
	return err == nil && info.IsDir(), err
}

func (f Files) readLoose(set *refSet, base, name string) error {
	if set.has(name) {
		return nil
	}
	id, target, err := f.value(base, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // deleted, or packed: then packed-refs has it
	case errors.Is(err, errNoValue):
		set.broken[name] = err.Error()
	case err != nil:
		return err
	case !validRefName(name):
		set.broken[name] = "not a valid name of a ref"
	case target != "":
		set.sym[name] = target
	default:
		set.direct[name] = Ref{Name: name, OID: id}
	}
	return nil
}

// value reads a loose ref below a directory.
func (f Files) value(base, name string) (id object.ID, target string, err error) {
	file := filepath.Join(base, filepath.FromSlash(name))
	if link, err := os.Readlink(file); err == nil && strings.HasPrefix(link, "refs/") {
		return object.ID{}, link, nil
	}
	var data []byte
	for range gitfile.Attempts {
		if data, err = gitfile.Read(file); err != nil || len(data) > 0 {
			break
		}
	}
	if err != nil {
		return object.ID{}, "", err
	}
	return f.parse(data)
}

// parse parses the content of a loose ref: "ref: <name>" or an object id, followed by white space
// if by anything.
func (f Files) parse(data []byte) (id object.ID, target string, err error) {
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		target = string(bytes.TrimSpace(rest))
		if target == "" {
			return object.ID{}, "", errNoValue
		}
		return object.ID{}, target, nil
	}
	if len(data) == 0 {
		return object.ID{}, "", fmt.Errorf("%w: the file is empty", errNoValue)
	}
	if len(data) < 2*f.IDSize || len(data) > 2*f.IDSize && !isSpace(data[2*f.IDSize]) {
		return object.ID{}, "", errNoValue
	}
	id, err = object.ParseID(string(data[:2*f.IDSize]))
	if err != nil || id.IsZero() {
		return object.ID{}, "", errNoValue
	}
	return id, "", nil
}

// follow resolves a symbolic ref within the set.
func (s *refSet) follow(name string) (Ref, bool) {
	first := s.sym[name]
	for target, steps := first, 0; steps < maxSymrefDepth; steps++ {
		if ref, ok := s.direct[target]; ok {
			return Ref{Name: name, Target: first, OID: ref.OID, Peeled: ref.Peeled}, true
		}
		next, ok := s.sym[target]
		if !ok {
			return Ref{}, false
		}
		target = next
	}
	s.broken[name] = "symbolic refs in a circle"
	return Ref{}, false
}

// Head implements [Store]. It does not read every other ref.
func (f Files) Head(context.Context) (Ref, error) {
	head := Ref{Name: Head}
	id, target, err := f.Loose(Head)
	if err != nil {
		return head, err
	}
	head.Target = target
	for steps := 0; target != "" && steps < maxSymrefDepth; steps++ {
		id, target, err = f.lookup(target)
		if errors.Is(err, fs.ErrNotExist) {
			return head, nil
		}
		if err != nil {
			return head, err
		}
	}
	head.OID = id
	return head, nil
}

// Loose reads one ref that is a file: its object, or the target of a symbolic ref. An empty one is
// read again, for a moment.
func (f Files) Loose(name string) (id object.ID, target string, err error) {
	if IsPerWorktree(name) || !strings.HasPrefix(name, "refs/") {
		return f.value(f.GitDir, name)
	}
	return f.value(f.CommonDir, name)
}

// LooseHead returns the object of HEAD if HEAD and its branch are files, and zero for a branch
// without a commit where no ref is packed. Git is to be asked otherwise: it finds a packed ref
// without reading them all, and says what is wrong with a broken one.
func (f Files) LooseHead() (id object.ID, ok bool) {
	id, target, err := f.Loose(Head)
	if err == nil && strings.HasPrefix(target, "refs/heads/") {
		id, target, err = f.Loose(target)
		if errors.Is(err, fs.ErrNotExist) { // git packs a ref before it removes the file
			_, err := os.Lstat(filepath.Join(f.CommonDir, packedRefsName))
			return object.ID{}, errors.Is(err, fs.ErrNotExist)
		}
	}
	return id, err == nil && target == ""
}

// lookup reads one ref, loose or packed.
func (f Files) lookup(name string) (object.ID, string, error) {
	id, target, err := f.Loose(name)
	if err == nil || !noSuchRef(err) {
		return id, target, err
	}
	set := newRefSet()
	if err := f.readPacked(set); err != nil {
		return object.ID{}, "", err
	}
	ref, ok := set.direct[name]
	if !ok {
		return object.ID{}, "", fmt.Errorf("ref %q: %w", name, fs.ErrNotExist)
	}
	return ref.OID, "", nil
}

// noSuchRef also treats a directory as a missing ref: refs/heads/a is one while only refs/heads/a/b
// exists.
func noSuchRef(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) ||
		errors.Is(err, syscall.ENOTDIR)
}

// Own implements [Store].
func (f Files) Own(ctx context.Context) ([]Ref, []string, error) {
	set := newRefSet()
	for _, dir := range perWorktree {
		if err := f.walk(ctx, set, f.GitDir, dir); err != nil {
			return nil, nil, err
		}
	}
	return set.result()
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
