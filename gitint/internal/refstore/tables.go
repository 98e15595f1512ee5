package refstore

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

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

const (
	tablesDir  = "reftable"
	tablesList = "tables.list"
	// stackTries limits how often a stack is read while git rewrites it: a listed table may be
	// gone, or a new one not listed yet.
	stackTries = 10
)

// Tables reads the refs of one working tree from reftables: per-worktree refs are in a stack of
// their own, with HEAD and the pseudo-refs except MERGE_HEAD and FETCH_HEAD, which are files.
type Tables Place

// Exist reports whether the working tree has tables.
func (t Tables) Exist() bool {
	_, err := os.Lstat(filepath.Join(t.GitDir, tablesDir))
	return err == nil
}

// Pseudo returns the object of a pseudo-ref beside HEAD, zero if it is missing.
func (t Tables) Pseudo(ctx context.Context, name string) (object.ID, error) {
	stack, err := t.stack(ctx, t.GitDir)
	if err != nil {
		return object.ID{}, err
	}
	return stack.refs[name].id, nil
}

// HeadLog returns the reflog of HEAD.
func (t Tables) HeadLog(ctx context.Context) ([]LogEntry, error) {
	stack, err := t.stack(ctx, t.GitDir)
	if err != nil {
		return nil, err
	}
	return stack.log(Head), nil
}

// A tableStack has the merged records of a stack: a later table overrides earlier ones.
type tableStack struct {
	refs map[string]tableRef
	logs map[string]map[uint64]LogEntry // by name and transaction
	// unlisted is a table that exists but is not in the list.
	unlisted string
}

// stack reads the stack of a directory of the repository. Git replaces the list last, and removes
// the tables of the old list afterwards.
func (t Tables) stack(ctx context.Context, dir string) (s *tableStack, err error) {
	dir = filepath.Join(dir, tablesDir)
	for try := range stackTries {
		s, err = t.readStack(dir)
		moves := errors.Is(err, fs.ErrNotExist) || err == nil && s.unlisted != ""
		if !moves || ctx.Err() != nil || try == stackTries-1 {
			break
		}
		time.Sleep(gitfile.Pause)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, errors.Join(err, ctx.Err()))
	}
	return s, ctx.Err()
}

func (t Tables) readStack(dir string) (*tableStack, error) {
	data, err := gitfile.Read(filepath.Join(dir, tablesList))
	if err != nil {
		return nil, err
	}
	list := strings.Split(string(data), "\n")
	if list[len(list)-1] != "" {
		return nil, fmt.Errorf("%s ends within %q", tablesList, list[len(list)-1])
	}
	list = list[:len(list)-1]
	s := &tableStack{refs: map[string]tableRef{}, logs: map[string]map[uint64]LogEntry{}}
	last := uint64(0)
	for i, name := range list {
		if filepath.Base(name) != name {
			return nil, fmt.Errorf("%s has the line %.80q", tablesList, name)
		}
		data, err := gitfile.Read(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		table, err := parseTable(data, t.IDSize)
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
			entries = map[uint64]LogEntry{}
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
func (s *tableStack) log(name string) (entries []LogEntry) {
	at := s.logs[name]
	for _, index := range slices.Sorted(maps.Keys(at)) {
		if e := at[index]; !e.Was.IsZero() || !e.Is.IsZero() {
			entries = append(entries, e)
		}
	}
	return entries
}

// errNoHead reports a stack without HEAD, which git writes into each first.
var errNoHead = errors.New("the list of tables has lost HEAD")

// read returns the refs that the working tree sees, with HEAD and pseudo-refs.
func (t Tables) read(ctx context.Context) (*refSet, error) {
	set := newRefSet()
	if err := t.readOwn(ctx, set); err != nil || t.GitDir == t.CommonDir {
		return set, err
	}
	shared, err := t.stack(ctx, t.CommonDir)
	if err != nil {
		return nil, err
	}
	set.addTables(shared, func(name string) bool {
		return strings.HasPrefix(name, "refs/") && !IsPerWorktree(name)
	})
	return set, nil
}

// readOwn adds the refs in the working tree's own stack.
func (t Tables) readOwn(ctx context.Context, set *refSet) error {
	own, err := t.stack(ctx, t.GitDir)
	if err != nil {
		return err
	}
	if _, ok := own.refs[Head]; !ok {
		return fmt.Errorf("read %s: %w", filepath.Join(t.GitDir, tablesDir), errNoHead)
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
		case name != Head && strings.HasPrefix(name, "refs/") && !validRefName(name):
			s.broken[name] = "not a valid name of a ref"
		case ref.target != "":
			s.sym[name] = ref.target
		default:
			s.direct[name] = Ref{Name: name, OID: ref.id, Peeled: ref.peeled}
		}
	}
}

// List implements [Store].
func (t Tables) List(ctx context.Context) ([]Ref, []string, error) {
	set, err := t.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	refs, broken, err := set.result()
	return slices.DeleteFunc(refs, IsPseudo), broken, err
}

// IsPseudo reports whether a ref is HEAD or a pseudo-ref.
func IsPseudo(ref Ref) bool { return !strings.HasPrefix(ref.Name, "refs/") }

// Own implements [Store].
func (t Tables) Own(ctx context.Context) ([]Ref, []string, error) {
	set := newRefSet()
	if err := t.readOwn(ctx, set); err != nil {
		return nil, nil, err
	}
	refs, broken, err := set.result()
	return slices.DeleteFunc(refs, func(ref Ref) bool {
		return ref.Name == Head || !IsPseudo(ref) && !IsPerWorktree(ref.Name)
	}), broken, err
}

// Head implements [Store].
func (t Tables) Head(ctx context.Context) (Ref, error) {
	set, err := t.read(ctx)
	if err != nil {
		return Ref{Name: Head}, err
	}
	head := Ref{Name: Head, Target: set.sym[Head], OID: set.direct[Head].OID}
	if ref, ok := set.follow(Head); ok && head.Target != "" {
		head.OID = ref.OID
	}
	return head, nil
}
