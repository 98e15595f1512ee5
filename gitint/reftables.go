package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/wholefile"
)

const (
	tablesDir  = "reftable"
	tablesList = "tables.list"
	// stackTries limits how often a stack is read while git rewrites it: a listed table may be
	// gone, or a new one not listed yet.
	stackTries = 10
)

// refTables reads the refs of one working tree from reftables: per-worktree refs are in a stack of
// their own, with HEAD and the pseudo-refs except MERGE_HEAD and FETCH_HEAD, which are files.
type refTables struct {
	gitDir, commonDir string
	idSize            int
}

// A tableStack has the merged records of a stack: a later table overrides earlier ones.
type tableStack struct {
	refs map[string]tableRef
	logs map[string]map[uint64]reflogEntry // by name and transaction
	// unlisted is a table that exists but is not in the list.
	unlisted string
}

// stack reads the stack of a directory of the repository. Git replaces the list last, and removes
// the tables of the old list afterwards.
func (t refTables) stack(ctx context.Context, dir string) (s *tableStack, err error) {
	dir = filepath.Join(dir, tablesDir)
	for try := range stackTries {
		s, err = t.readStack(dir)
		moves := errors.Is(err, fs.ErrNotExist) || err == nil && s.unlisted != ""
		if !moves || ctx.Err() != nil || try == stackTries-1 {
			break
		}
		time.Sleep(wholefile.Pause)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, errors.Join(err, ctx.Err()))
	}
	return s, ctx.Err()
}

func (t refTables) readStack(dir string) (*tableStack, error) {
	data, err := wholefile.Read(filepath.Join(dir, tablesList))
	if err != nil {
		return nil, err
	}
	list := strings.Split(string(data), "\n")
	if list[len(list)-1] != "" {
		return nil, fmt.Errorf("%s ends within %q", tablesList, list[len(list)-1])
	}
	list = list[:len(list)-1]
	s := &tableStack{refs: map[string]tableRef{}, logs: map[string]map[uint64]reflogEntry{}}
	last := uint64(0)
	for i, name := range list {
		if filepath.Base(name) != name {
			return nil, fmt.Errorf("%s has the line %.80q", tablesList, name)
		}
		data, err := wholefile.Read(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		table, err := parseTable(data, t.idSize)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i > 0 && table.min <= last || table.max < table.min {
			return nil, fmt.Errorf("%s: %w: it does not follow the previous table", name, errTable)
		}
		last = table.max
		s.add(table)
	}
	s.unlisted, err = unlisted(dir, list)
	return s, err
}

// add adds the next table of the stack.
func (s *tableStack) add(t *refTable) {
	for _, ref := range t.refs {
		s.refs[ref.name] = ref
		if ref.id.IsZero() && ref.target == "" {
			delete(s.refs, ref.name)
		}
	}
	for _, l := range t.logs {
		entries := s.logs[l.name]
		if entries == nil {
			entries = map[uint64]reflogEntry{}
			s.logs[l.name] = entries
		}
		if entries[l.at] = l.entry; l.deleted {
			delete(entries, l.at)
		}
	}
}

// unlisted returns the name of a table that is not in the list, for example because the list was
// truncated.
func unlisted(dir string, list []string) (string, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		isTable := strings.HasSuffix(e.Name(), ".ref") || strings.HasSuffix(e.Name(), ".log")
		if isTable && !slices.Contains(list, e.Name()) {
			return e.Name(), nil
		}
	}
	return "", err
}

// log returns the entries of a reflog, oldest first. For an existing reflog without entries git
// writes one from zero to zero.
func (s *tableStack) log(name string) (entries []reflogEntry) {
	at := s.logs[name]
	for _, index := range slices.Sorted(maps.Keys(at)) {
		if e := at[index]; !e.was.IsZero() || !e.is.IsZero() {
			entries = append(entries, e)
		}
	}
	return entries
}

// errNoHead reports a stack without HEAD, which git writes into each first.
var errNoHead = errors.New("the list of tables has lost HEAD")

// read returns the refs that the working tree sees, with HEAD and pseudo-refs.
func (t refTables) read(ctx context.Context) (*refSet, error) {
	set := newRefSet()
	if err := t.readOwn(ctx, set); err != nil || t.gitDir == t.commonDir {
		return set, err
	}
	shared, err := t.stack(ctx, t.commonDir)
	if err != nil {
		return nil, err
	}
	set.addTables(shared, func(name string) bool {
		return strings.HasPrefix(name, "refs/") && !isPerWorktree(name)
	})
	return set, nil
}

// readOwn adds the refs in the working tree's own stack.
func (t refTables) readOwn(ctx context.Context, set *refSet) error {
	own, err := t.stack(ctx, t.gitDir)
	if err != nil {
		return err
	}
	if _, ok := own.refs[headName]; !ok {
		return fmt.Errorf("read %s: %w", filepath.Join(t.gitDir, tablesDir), errNoHead)
	}
	set.addTables(own, func(string) bool { return true })
	return nil
}

// addTables adds the wanted refs of a stack.
func (s *refSet) addTables(stack *tableStack, wanted func(name string) bool) {
	if stack.unlisted != "" {
		s.broken[stack.unlisted] = "the table is there, and the list of tables has not got it"
	}
	for name, ref := range stack.refs {
		switch {
		case !wanted(name):
		case name != headName && strings.HasPrefix(name, "refs/") && !validRefName(name):
			s.broken[name] = "not a valid name of a ref"
		case ref.target != "":
			s.sym[name] = ref.target
		default:
			s.direct[name] = Ref{Name: name, OID: ref.id, Peeled: ref.peeled}
		}
	}
}

// list returns the refs, and those without a value.
func (t refTables) list(ctx context.Context) ([]Ref, []Incomplete, error) {
	set, err := t.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	refs, broken, err := set.result()
	return slices.DeleteFunc(refs, isBeside), broken, err
}

// isBeside reports whether a ref is HEAD or a pseudo-ref.
func isBeside(ref Ref) bool { return !strings.HasPrefix(ref.Name, "refs/") }

// own returns the per-worktree refs, with pseudo-refs.
func (t refTables) own(ctx context.Context) ([]Ref, []Incomplete, error) {
	set := newRefSet()
	if err := t.readOwn(ctx, set); err != nil {
		return nil, nil, err
	}
	refs, broken, err := set.result()
	return slices.DeleteFunc(refs, func(ref Ref) bool {
		return ref.Name == headName || !isBeside(ref) && !isPerWorktree(ref.Name)
	}), broken, err
}

// head reads HEAD with its target.
func (t refTables) head(ctx context.Context) (Ref, error) {
	set, err := t.read(ctx)
	if err != nil {
		return Ref{Name: headName}, err
	}
	head := Ref{Name: headName, Target: set.sym[headName], OID: set.direct[headName].OID}
	if ref, ok := set.follow(headName); ok && head.Target != "" {
		head.OID = ref.OID
	}
	return head, nil
}
