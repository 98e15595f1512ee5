package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A besideFile is a file in one of [leaks.BesideDirs].
type besideFile struct {
	check.Entry
	path string // from the root of the source

	name string // below .jp
	memo *leaks.Memo
	read func() ([]byte, error)
}

// of returns the conversation to which the file belongs, if it is wanted. A file that is damaged or
// cannot be read belongs to none. The file is not read if its name contains another conversation.
func (f besideFile) of(wanted func(events.ID) bool) (events.ID, bool) {
	if !f.Mode.IsRegular() || !leaks.MayBeside(f.name, wanted) {
		return 0, false
	}
	id, err := f.memo.Beside(f.name, f.Entry, f.read)
	return id, err == nil && wanted(id)
}

// A besideTree has the files beside the conversations of one tree.
type besideTree struct {
	src  check.Source
	dir  string      // .jp
	memo *leaks.Memo // may be nil
	// unlisted records the findings about directories that the operating system does not list, by
	// directory: they hide no others.
	unlisted map[string]check.Finding
}

// newBesideTree returns the files beside conversations. The memo may be nil.
func newBesideTree(src check.Source, dir string, m *leaks.Memo) besideTree {
	return besideTree{src, dir, m, map[string]check.Finding{}}
}

// each calls f for the files in [leaks.BesideDirs]. It lists each directory once.
func (t besideTree) each(f func(besideFile)) error {
	src, dir, m := t.src, t.dir, t.memo
	if m == nil {
		m = leaks.NewMemo()
	}
	for _, below := range leaks.BesideDirs() {
		at := path.Join(dir, below)
		open, err := check.OpenDirectory(src, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case check.IsRefused(src, err):
			f := check.Unlisted(src, at, err)
			f.Commit = src.Name()
			t.unlisted[at] = f
			continue
		case err != nil:
			return check.ListError(src, at, err)
		}
		for _, e := range open.Entries {
			f(besideFile{
				e, path.Join(at, e.Name), path.Join(below, e.Name), m,
				func() ([]byte, error) { return open.Read(e.Name, secrets.MaxFile) },
			})
		}
		_ = open.Close() // was only read
	}
	return nil
}

// findings returns those about directories that are not listed, each once.
func (t besideTree) findings() []check.Finding {
	byPath := map[string]check.Finding{}
	for _, f := range t.unlisted {
		byPath[f.Path] = f
	}
	return slices.Collect(maps.Values(byPath))
}

// FilesBeside returns the paths of the files that a commit or the index has beside a conversation:
// redaction entries, allowed findings, and the record of its removal.
func FilesBeside(
	repo *gitint.Repo, tree gitint.Snapshot, dir string, id events.ID,
) (names []string, err error) {
	is := func(of events.ID) bool { return of == id }
	err = newBesideTree(check.Git(repo, tree), dir, nil).each(func(f besideFile) {
		if _, ok := f.of(is); ok {
			names = append(names, f.path)
		}
	})
	return names, err
}

// unindexed returns the files beside wanted conversations that the index lacks, with their
// conversations. It calls here with the path of every file in [leaks.BesideDirs].
func (t besideTree) unindexed(
	index *gitint.Index, wanted func(events.ID) bool, here func(name string),
) (map[string]events.ID, error) {
	found, unmerged := map[string]events.ID{}, lists.Set(index.Conflicts())
	return found, t.each(func(f besideFile) {
		here(f.path)
		if _, ok := index.OID(f.path); ok || unmerged[f.path] {
			return
		}
		if id, ok := f.of(wanted); ok {
			found[f.path] = id
		}
	})
}

// changedBeside returns the files beside wanted conversations that the index lacks, and those that
// only the index has, except those that a sparse checkout leaves out. A directory that cannot be
// listed has neither: unlisted has the findings about it.
func (s *survey) changedBeside(
	ctx context.Context, wanted func(events.ID) bool,
) (added, gone map[string]events.ID, unlisted []check.Finding, err error) {
	dir, m, repo := s.req.Dir, s.req.Secrets.Memo, s.req.Repo
	work := newBesideTree(check.FS(check.WorkTreeName, s.fsys, repo.Limits()), dir, m)
	here := map[string]bool{}
	added, err = work.unindexed(s.index, wanted, func(name string) { here[name] = true })
	if err != nil {
		return nil, nil, nil, err
	}
	gone = map[string]events.ID{}
	err = newBesideTree(check.Git(repo, s.index), dir, m).each(func(f besideFile) {
		_, hidden := work.unlisted[path.Dir(f.path)]
		if here[f.path] || hidden || s.index.IsLeftOut(f.path) {
			return
		}
		if id, ok := f.of(wanted); ok {
			gone[f.path] = id
		}
	})
	if err != nil || len(gone) == 0 {
		return added, nil, work.findings(), err
	}
	changes, err := repo.WorkChanges(ctx, slices.Collect(maps.Keys(gone))...)
	maps.DeleteFunc(gone, func(name string, _ events.ID) bool {
		return !slices.Contains(changes, gitint.WorkPath{Path: name, State: gitint.Deleted})
	})
	return added, gone, work.findings(), err
}

// addBeside adds changed files beside conversations to the plan. A request for named conversations
// limits it to those, unless [Request.Beside] is set.
func (p *Plan) addBeside(ctx context.Context, s *survey) error {
	wanted := func(id events.ID) bool {
		return p.req.Select != Named || p.req.Beside || slices.Contains(s.req.IDs, id)
	}
	added, gone, unlisted, err := s.changedBeside(ctx, wanted)
	if err != nil {
		return err
	}
	p.Report.AddAll(unlisted)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		item := p.item(s, added[name])
		item.Files, item.Beside = append(item.Files, name), append(item.Beside, name)
		p.Add, p.all = append(p.Add, name), append(p.all, name)
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		item := p.item(s, gone[name])
		item.Removed, item.Beside = append(item.Removed, name), append(item.Beside, name)
		p.Remove = append(p.Remove, name)
	}
	return nil
}

// item returns the item of a conversation, and adds one if nothing else of it changes.
func (p *Plan) item(s *survey, id events.ID) *Item {
	i, ok := slices.BinarySearchFunc(p.Items, id, func(item Item, id events.ID) int {
		return cmp.Compare(item.ID, id)
	})
	if !ok {
		item := Item{ID: id, Title: s.title(id)}
		for _, e := range s.dirs[id] {
			item.Path = e.Path
		}
		p.Items = slices.Insert(p.Items, i, item)
	}
	return &p.Items[i]
}

// besideCommit returns the files beside the changed conversations that the index lacks. A commit of
// some paths, and one after a reset, leaves them out. The working tree is read once.
func (c *commit) besideCommit() (map[string]events.ID, error) {
	if c.apartFiles == nil {
		found, err := c.readBeside()
		if err != nil {
			return nil, err
		}
		c.apartFiles = found
	}
	maps.DeleteFunc(c.apartFiles, func(name string, _ events.ID) bool {
		_, ok := c.index.OID(name)
		return ok
	})
	return c.apartFiles, nil
}

func (c *commit) readBeside() (map[string]events.ID, error) {
	root, err := regular.OpenRoot(c.hook.Repo.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	src := check.FS(check.WorkTreeName, regular.In(root), c.hook.Repo.Limits())
	found := map[string]events.ID{}
	for dir, ids := range c.dirs {
		of := func(id events.ID) bool { return ids[id] }
		tree := newBesideTree(src, dir, nil)
		names, err := tree.unindexed(c.index, of, func(string) {})
		if err != nil {
			return nil, err
		}
		maps.Copy(found, names)
		c.unlisted = append(c.unlisted, tree.findings()...)
	}
	return found, nil
}

// joining returns the files beside conversations to add to the commit.
func (c *commit) joining() (names []string, err error) {
	if c.hook.TreeMade {
		return nil, nil
	}
	all, err := c.besideCommit()
	for name := range all {
		if !c.hook.of(name).CheckOnly {
			names = append(names, name)
		}
	}
	return names, err
}

// apart warns about the files beside conversations that are not added, and about directories of
// such files that cannot be listed.
func (c *commit) apart(v *Verdict) error {
	all, err := c.besideCommit()
	v.Others = append(v.Others, c.unlisted...)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v.Others = append(v.Others, check.Finding{
			State: check.Unredacted, Severity: check.Warning, Commit: check.IndexName, Path: name,
			Conversation: all[name].String(), Element: -1,
			Detail: fmt.Sprintf("the commit lacks %s: run 'git jp stage %s'", name, all[name]),
		})
	}
	return err
}

// unkept warns about redaction entries that the commit removes. The user reads the warning after
// the commit exists, so its commands amend the commit.
func (c *commit) unkept(
	ctx context.Context, staged []gitint.StagedPath,
) ([]check.Finding, error) {
	if !slices.ContainsFunc(staged, func(p gitint.StagedPath) bool {
		_, _, ok := leaks.IsRedaction(p.Path)
		return ok && p.Status == 'D'
	}) {
		return nil, nil // without reading the index
	}
	index, err := c.hook.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	all, err := leaks.RemovedEntries(
		ctx, c.hook.Repo, staged, leaks.Between{Before: "HEAD", Now: check.IndexName},
		check.Git(c.hook.Repo, index),
	)
	for i := range all {
		all[i].Next += " && git commit --amend --no-edit --allow-empty"
		all[i].Detail += "; to keep it, run: " + all[i].Next
	}
	return all, err
}
