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

// besideDirs are the directories below .jp with files that belong to a conversation but are not in
// its directory: redaction entries, allowed findings, and records of its removal. If someone gets
// the conversation without them, their next import brings the redacted text back.
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

// filesBeside lists the files of a tree in besideDirs.
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

// FilesBeside returns the paths of the files that a commit or the index has beside a conversation:
// redaction entries, allowed findings, and the record of its removal.
func FilesBeside(tree gitint.Snapshot, dir string, id events.ID) ([]string, error) {
	names, err := filesBeside(tree, dir)
	return slices.DeleteFunc(names, func(name string) bool {
		of, ok := besideOf(tree, dir, name)
		return !ok || of != id
	}), err
}

// unindexedBeside returns the files beside wanted conversations that a working tree has and the
// index lacks, with their conversations.
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

// goneBeside returns the files beside wanted conversations that the index has and the working tree
// lacks, except those that a sparse checkout leaves out.
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

// addBeside adds changed files beside conversations to the plan. A request for named conversations
// limits it to those, unless [Request.Beside] is set.
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
// some paths, and one after a reset, leaves them out.
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

// apart warns about the files beside conversations that are not added.
func (c *commit) apart(v *Verdict) error {
	all, err := c.besideCommit()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v.Others = append(v.Others, check.Finding{
			State: check.Unredacted, Severity: check.Warning, Commit: check.IndexName, Path: name,
			Conversation: all[name].String(), Element: -1,
			Detail: fmt.Sprintf("the commit lacks %s: run 'git jp stage %s'", name, all[name]),
		})
	}
	return err
}

// unkept warns about redaction entries that the commit removes without changing their conversation:
// the next import would bring the redacted text back. Undoing a redaction changes both.
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
			Detail: fmt.Sprintf("the commit removes %s, without which an import brings "+
				"the redacted text back: 'git restore --staged --worktree %s' keeps it",
				p.Path, check.ShellQuote(p.Path)),
		})
	}
	return all
}
