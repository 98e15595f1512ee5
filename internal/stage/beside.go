package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// besideDirs are the directories below .jp whose files belong to a conversation although they are
// not in its directory: what was redacted in it, what is no secret in it, and that it was removed.
// Who gets the conversation without them gets what was redacted back from the next import.
var besideDirs = []string{secrets.RedactedDir, secrets.AllowedDir, workspace.RemovedDir}

// besideOf returns the conversation to which a file in one of these directories belongs.
func besideOf(fsys fs.FS, dir, name string) (events.ID, bool) {
	below := strings.TrimPrefix(name, dir+"/")
	if path.Dir(below) != secrets.AllowedDir {
		return events.ParseDirname(strings.TrimSuffix(path.Base(below), path.Ext(below)))
	}
	data, err := regular.Read(fsys, name, secrets.MaxFile)
	if err != nil {
		return 0, false
	}
	allowed, err := secrets.ParseAllowed(below, data)
	if err != nil {
		return 0, false // it allows nothing
	}
	return events.ParseDirname(allowed.Conversation)
}

// filesBeside lists the files that a tree has in these directories.
func filesBeside(fsys fs.FS, dir string) (names []string, err error) {
	for _, below := range besideDirs {
		at := path.Join(dir, below)
		entries, err := fs.ReadDir(fsys, at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", at, err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, path.Join(at, e.Name()))
			}
		}
	}
	return names, nil
}

// FilesBeside returns the files of a commit or the index that are beside a conversation, by their
// paths: what was redacted in it, what is no secret in it, that it was removed.
func FilesBeside(tree gitint.Snapshot, dir string, id events.ID) ([]string, error) {
	names, err := filesBeside(tree, dir)
	return slices.DeleteFunc(names, func(name string) bool {
		of, ok := besideOf(tree, dir, name)
		return !ok || of != id
	}), err
}

// unindexedBeside returns the files beside conversations that a working tree has and an index
// lacks, by path, of the conversations that are wanted.
func unindexedBeside(
	fsys fs.FS, dir string, index *gitint.Index, wanted func(events.ID) bool,
) (map[string]events.ID, error) {
	names, err := filesBeside(fsys, dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	found, unmerged := map[string]events.ID{}, index.Conflicts()
	for _, name := range names {
		if _, ok := index.OID(name); ok || slices.Contains(unmerged, name) {
			continue
		}
		if id, ok := besideOf(fsys, dir, name); ok && wanted(id) {
			found[name] = id
		}
	}
	return found, nil
}

// goneBeside returns those that an index has and the working tree lacks, but for what a sparse
// checkout leaves out.
func (s *survey) goneBeside(
	ctx context.Context, wanted func(events.ID) bool,
) (map[string]events.ID, error) {
	found := map[string]events.ID{}
	indexed, err := filesBeside(s.index, s.req.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range indexed {
		if _, err := fs.Lstat(s.fsys, name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if id, ok := besideOf(s.index, s.req.Dir, name); ok && wanted(id) {
			found[name] = id
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	work, err := s.req.Repo.WorkChanges(ctx, slices.Collect(maps.Keys(found))...)
	maps.DeleteFunc(found, func(name string, _ events.ID) bool {
		return !slices.Contains(work, gitint.WorkPath{Path: name, State: gitint.Deleted})
	})
	return found, err
}

// addBeside takes the files beside the conversations into the plan: of a request for all, or for
// what changed, of every one.
func (p *Plan) addBeside(ctx context.Context, s *survey) error {
	wanted := func(id events.ID) bool {
		return p.req.Select != Named || p.req.Beside || slices.Contains(s.req.IDs, id)
	}
	added, err := unindexedBeside(s.fsys, p.req.Dir, s.index, wanted)
	if err != nil {
		return err
	}
	gone, err := s.goneBeside(ctx, wanted)
	if err != nil {
		return err
	}
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

// item returns the item of a conversation, of which nothing else may change.
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

// besideCommit returns the files beside the changed conversations that the index lacks, by path: a
// commit of some paths leaves them out, and so does one after a reset.
func (c *commit) besideCommit() (map[string]events.ID, error) {
	root, err := os.OpenRoot(c.hook.Repo.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	found := map[string]events.ID{}
	for dir, ids := range c.dirs {
		of := func(id events.ID) bool { return ids[id] }
		names, err := unindexedBeside(regular.In(root), dir, c.index, of)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, names)
	}
	return found, nil
}

// joining returns those that are added to the commit.
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

// apart warns about those that are not.
func (c *commit) apart(v *Verdict) error {
	all, err := c.besideCommit()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v.Others = append(v.Others, check.Finding{
			State: check.Unredacted, Severity: check.Warning, Commit: check.IndexName, Path: name,
			Conversation: all[name].String(), Element: -1,
			Detail: fmt.Sprintf("the commit is without %s, which belongs to it: "+
				"'git jp stage %s' stages that too", name, all[name]),
		})
	}
	return err
}

// unkept warns about entries of redaction that the commit removes without a change of their
// conversation, which undoing the redaction would be: the next import would bring the text back.
func (c *commit) unkept(staged []gitint.StagedPath) (all []check.Finding) {
	for _, p := range staged {
		dir, ok := workspace.PathDir(p.Path)
		if !ok || p.Status != 'D' || path.Dir(p.Path) != path.Join(dir, secrets.RedactedDir) {
			continue
		}
		id, ok := events.ParseDirname(path.Base(p.Path))
		if !ok || c.dirs[dir][id] {
			continue
		}
		all = append(all, check.Finding{
			State: check.Unredacted, Severity: check.Warning, Commit: check.IndexName, Path: p.Path,
			Conversation: id.String(), Element: -1,
			Detail: fmt.Sprintf("the commit removes %s, by which what was redacted stays out: "+
				"'git restore --staged --worktree %s' keeps it", p.Path, check.ShellQuote(p.Path)),
		})
	}
	return all
}
