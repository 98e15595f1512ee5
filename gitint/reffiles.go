package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/gitint/internal/wholefile"
)

// maxSymrefDepth is how many symbolic refs git follows.
const maxSymrefDepth = 5

// errNoValue reports a ref file without a value that git accepts.
var errNoValue = errors.New("no object id")

// headName is git's name for the checked-out commit.
const headName = "HEAD"

// A refStore has the refs of one working tree.
type refStore interface {
	// list returns the refs below refs/, and those without a value.
	list(ctx context.Context) ([]Ref, []Incomplete, error)
	// own returns the per-worktree refs, also pseudo-refs if these are not files.
	own(ctx context.Context) ([]Ref, []Incomplete, error)
	// head returns HEAD with its target.
	head(ctx context.Context) (Ref, error)
}

// refFiles reads the refs of one working tree from files and packed-refs. go-git's reader is not
// usable: it fails on one empty file, accepts digits that are no object id, does not skip locks,
// drops the peeled ids of tags, and does not see the refs of a linked worktree.
type refFiles struct {
	gitDir, commonDir string
	idDigits          int // in an object id
}

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

// list returns the refs, and those without a value. It reads loose refs before packed ones: in the
// other order it would miss a ref that is packed meanwhile.
func (f refFiles) list(ctx context.Context) ([]Ref, []Incomplete, error) {
	set, err := f.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return set.result()
}

// result returns the refs and those without a value.
func (s *refSet) result() ([]Ref, []Incomplete, error) {
	refs := make([]Ref, 0, len(s.direct)+len(s.sym))
	for _, ref := range s.direct {
		refs = append(refs, ref)
	}
	for name := range s.sym {
		if ref, ok := s.follow(name); ok {
			refs = append(refs, ref)
		}
	}
	broken := make([]Incomplete, 0, len(s.broken))
	for name, reason := range s.broken {
		broken = append(broken, Incomplete{ReasonRef, name + ": " + reason})
	}
	sortIncomplete(broken)
	return refs, broken, nil
}

func (f refFiles) read(ctx context.Context) (*refSet, error) {
	set := newRefSet()
	if f.gitDir != f.commonDir {
		for _, dir := range perWorktree {
			if err := f.walk(ctx, set, f.gitDir, dir); err != nil {
				return nil, err
			}
		}
	}
	if err := f.walk(ctx, set, f.commonDir, "refs"); err != nil {
		return nil, err
	}
	return set, f.readPacked(set)
}

// walk reads the loose refs of a directory and its subdirectories.
func (f refFiles) walk(ctx context.Context, set *refSet, base, dir string) error {
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
func (f refFiles) elsewhere(base, name string) bool {
	return base != f.gitDir && isPerWorktree(name)
}

func isPerWorktree(name string) bool {
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

func (f refFiles) readLoose(set *refSet, base, name string) error {
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

// value reads one loose ref. An empty one is read again, for a moment.
func (f refFiles) value(base, name string) (id OID, target string, err error) {
	file := filepath.Join(base, filepath.FromSlash(name))
	if link, err := os.Readlink(file); err == nil && strings.HasPrefix(link, "refs/") {
		return OID{}, link, nil
	}
	var data []byte
	for range wholefile.Attempts {
		if data, err = wholefile.Read(file); err != nil || len(data) > 0 {
			break
		}
	}
	if err != nil {
		return OID{}, "", err
	}
	return f.parse(data)
}

// parse parses the content of a loose ref: "ref: <name>" or an object id, followed by white space
// if by anything.
func (f refFiles) parse(data []byte) (id OID, target string, err error) {
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		target = string(bytes.TrimSpace(rest))
		if target == "" {
			return OID{}, "", errNoValue
		}
		return OID{}, target, nil
	}
	if len(data) == 0 {
		return OID{}, "", fmt.Errorf("%w: the file is empty", errNoValue)
	}
	if len(data) < f.idDigits || len(data) > f.idDigits && !isSpace(data[f.idDigits]) {
		return OID{}, "", errNoValue
	}
	id, err = ParseOID(string(data[:f.idDigits]))
	if err != nil || id.IsZero() {
		return OID{}, "", errNoValue
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

// head reads HEAD and its target, without reading every other ref.
func (f refFiles) head(context.Context) (Ref, error) {
	head := Ref{Name: headName}
	id, target, err := f.value(f.gitDir, headName)
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

// lookup reads one ref, loose or packed.
func (f refFiles) lookup(name string) (OID, string, error) {
	base := f.commonDir
	if isPerWorktree(name) || !strings.HasPrefix(name, "refs/") {
		base = f.gitDir
	}
	id, target, err := f.value(base, name)
	if err == nil || !noSuchRef(err) {
		return id, target, err
	}
	set := newRefSet()
	if err := f.readPacked(set); err != nil {
		return OID{}, "", err
	}
	ref, ok := set.direct[name]
	if !ok {
		return OID{}, "", fmt.Errorf("ref %q: %w", name, fs.ErrNotExist)
	}
	return ref.OID, "", nil
}

// noSuchRef also treats a directory as a missing ref: refs/heads/a is one while only refs/heads/a/b
// exists.
func noSuchRef(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) ||
		errors.Is(err, syscall.ENOTDIR)
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
