package gitint

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/index"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
)

const (
	// maxStagedIndex is the size of an index up to which a comparison in this process is faster
	// than git.
	maxStagedIndex = 4 << 20
	// maxStagedTrees limits the trees of HEAD that are read for that.
	maxStagedTrees = 64
)

// errForGit reports that git compares better.
var errForGit = errors.New("the comparison is for git to make")

// stagedHere is StagedPaths without git, for a plain repository. The error is errForGit, or another
// that git explains better, if git must be asked: for unmerged paths, a split or sparse index, a
// branch without a commit, and if much would have to be read.
func (r *Repo) stagedHere(ctx context.Context, under []string) ([]StagedPath, error) {
	wanted := pathsBelow(under)
	if !r.plain || wanted == nil {
		return nil, errForGit
	}
	s := stagedSearch{repo: r, wanted: wanted, left: maxStagedTrees}
	if err := s.readIndex(); err != nil {
		return nil, err
	}
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.OID.IsZero() || odb.IndexSize(l.objectDirs) >= heavyIndex {
		return nil, errForGit
	}
	tree, err := r.treeID(ctx, head.OID.String())
	if err != nil {
		return nil, err
	}
	if err := s.directory(ctx, "", tree, s.cached); err != nil {
		return nil, err
	}
	s.pass(len(s.index), len(s.index))
	return s.differences(), nil
}

// A pathFilter reports whether a path is wanted.
type pathFilter func(path []byte) bool

// pathsBelow returns a filter equal to the pathspecs of directories. It is nil if these may have a
// special meaning.
func pathsBelow(under []string) pathFilter {
	type pattern struct{ top, inside []byte }
	var patterns []pattern
	for _, dir := range under {
		rest, anywhere := strings.CutPrefix(dir, "**/")
		if !fs.ValidPath(rest) || rest == "." || anywhere && strings.ContainsAny(rest, `*?[\`) {
			return nil
		}
		p := pattern{top: []byte(rest + "/")}
		if anywhere {
			p.inside = []byte("/" + rest + "/")
		}
		patterns = append(patterns, p)
	}
	return func(path []byte) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p pattern) bool {
			if bytes.HasPrefix(path, p.top) {
				return true
			}
			if p.inside != nil {
				return bytes.Contains(path, p.inside)
			}
			return string(path) == string(p.top[:len(p.top)-1])
		})
	}
}

// A stagedSearch compares the tree of HEAD with an index. It skips directories that have the same
// tree in both.
type stagedSearch struct {
	repo   *Repo
	wanted pathFilter
	index  []Entry    // the wanted ones
	cached index.Tree // of the index
	left   int        // remaining trees that may be read
	passed int        // entries of the index in directories already compared
	is     []Entry    // those that may differ from HEAD
	was    []Entry    // entries of HEAD in the same directories
}

func (s *stagedSearch) readIndex() error {
	info, err := os.Stat(s.repo.indexPath)
	if err != nil || info.Size() > maxStagedIndex {
		return errForGit
	}
	f, err := index.Read(s.repo.indexPath, s.repo.gitDir, s.repo.idSize(),
		func(_ *index.Entry, name []byte) bool { return s.wanted(name) })
	if err != nil {
		return err
	}
	all, ok := f.Entries()
	if !ok || !f.IsPlain() {
		return errForGit
	}
	var x Index
	for _, e := range all {
		x.add(e, nil)
	}
	if len(x.conflicts) > 0 || !slices.IsSortedFunc(x.entries, byPath) {
		return errForGit
	}
	s.index = x.entries
	s.cached, err = f.Tree()
	return err
}

// directory compares a directory of HEAD, whose paths begin with prefix, with that which the index
// has of it.
func (s *stagedSearch) directory(
	ctx context.Context, prefix string, tree OID, cached index.Tree,
) error {
	if cached.Is(tree) {
		s.same(prefix)
		return nil
	}
	if s.left--; s.left < 0 {
		return errForGit
	}
	entries, err := s.repo.treeEntries(ctx, tree)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if i > 0 && object.CompareEntries(entries[i-1], e) >= 0 {
			return errForGit // not as git writes them
		}
		name := prefix + e.Path
		if e.Mode == ModeDir {
			err = s.directory(ctx, name+"/", e.OID, cached.Below(e.Path))
		} else if s.wanted([]byte(name)) {
			s.was = append(s.was, Entry{Path: name, Mode: e.Mode, OID: e.OID})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// same skips the entries of the index in a directory. Directories are visited in the order of their
// paths, in trees as in the index.
func (s *stagedSearch) same(prefix string) {
	if prefix == "" {
		s.passed = len(s.index)
		return
	}
	first, _ := searchPath(s.index, prefix)
	next, _ := searchPath(s.index, strings.TrimSuffix(prefix, "/")+"0") // the character after '/'
	s.pass(first, next)
}

// pass takes the entries of the index up to first, and skips those up to next.
func (s *stagedSearch) pass(first, next int) {
	s.is = append(s.is, s.index[s.passed:first]...)
	s.passed = next
}

// differences compares the remaining entries.
func (s *stagedSearch) differences() []StagedPath {
	was := make(map[string]Entry, len(s.was))
	for _, e := range s.was {
		was[e.Path] = e
	}
	all := []StagedPath{}
	add := func(was, is Entry) {
		if p := stagedPath(was, is); p.Status != 0 {
			all = append(all, p)
		}
	}
	for _, is := range s.is {
		add(was[is.Path], is)
		delete(was, is.Path)
	}
	for before := range maps.Values(was) {
		add(before, Entry{})
	}
	slices.SortFunc(all, func(a, b StagedPath) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// stagedPath returns what git reports for a file of HEAD and of the index, either of which may be
// missing. The status is 0 if it reports nothing: submodules are not asked.
func stagedPath(was, is Entry) StagedPath {
	const kind = 0o170000
	p := StagedPath{Path: max(was.Path, is.Path)}
	p.Old, p.New, p.OldMode, p.NewMode = was.OID, is.OID, was.Mode, is.Mode
	quiet := func(m Mode) bool { return m == 0 || m == ModeSubmodule }
	switch {
	case quiet(was.Mode) && quiet(is.Mode), was.OID == is.OID && was.Mode == is.Mode:
	case was.Mode == 0:
		p.Status = 'A'
	case is.Mode == 0:
		p.Status = 'D'
	case was.Mode&kind != is.Mode&kind:
		p.Status = 'T'
	default:
		p.Status = 'M'
	}
	return p
}
