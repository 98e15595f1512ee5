package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// The stages of an unmerged path in git's index.
const (
	stageBase = iota + 1
	stageOurs
	stageTheirs
	stages
)

// Directories is the kind of a case about an entire conversation, whose directory both sides
// renamed differently.
const Directories Kind = "directories"

// A Case is a file that needs a decision, or a conversation with all its files.
type Case struct {
	Path   string // below the root of the working tree; for a conversation, the path of our stream
	Kind   Kind
	ID     events.ID // of the conversation; 0 for a blob
	Record *Record   // of the driver; nil if none ran
	Stages [stages]gitint.OID
	// Dirs holds the sorted directories of a case of kind Directories, and Entries the paths of the
	// conversation in the index, unmerged or not.
	Dirs, Entries []string

	removed bool // a side removed the entire conversation
}

// Placed returns the version of a file for which git leaves only the path undecided, or zero if the
// file is removed. Either a side added it in a directory that the other renamed, or git took it for
// the source or target of a rename because another conversation has the same bytes. The file
// belongs to its conversation, where git has put it. Placed does not decide about a file of a
// conversation that one side deleted and the other only moved: that may be the entire conversation.
func (c Case) Placed() (version gitint.OID, ok bool) {
	base, ours, theirs := c.Stages[stageBase], c.Stages[stageOurs], c.Stages[stageTheirs]
	switch {
	case c.Record != nil || c.Kind == Directories || c.Kind == Beside:
		return version, false
	case ours == theirs, base.IsZero() && theirs.IsZero(), c.isOther() && base == theirs:
		return ours, true
	case base.IsZero() && ours.IsZero(), c.isOther() && base == ours:
		return theirs, true
	default:
		return version, false
	}
}

// isOther reports whether a file is beside those of a conversation that both sides have.
func (c Case) isOther() bool { return c.Kind == "" && !c.removed }

// Deleted reports whether one side deleted a file that the other changed.
func (c Case) Deleted() bool {
	_, placed := c.Placed()
	return c.Record == nil && !placed && c.Kind != Beside &&
		c.Stages[stageOurs].IsZero() != c.Stages[stageTheirs].IsZero()
}

// DeletedHere reports whether ours deleted it.
func (c Case) DeletedHere() bool { return c.Deleted() && c.Stages[stageOurs].IsZero() }

// isEmptied reports whether only the base has a file. If its conversation is in one directory, and
// nowhere as a driver has left it, git took files of others for this one, renamed: a record is of
// those, and nothing is to be decided.
func (c Case) isEmptied() bool {
	return !c.Stages[stageBase].IsZero() &&
		c.Stages[stageOurs].IsZero() && c.Stages[stageTheirs].IsZero()
}

// Cases returns the cases below a directory .jp, sorted by path: open records, and unmerged files
// for which git asked no driver.
func Cases(ctx context.Context, repo *gitint.Repo, dir string) ([]Case, error) {
	records, err := Open(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
	merged := []byte(path.Join(dir, blobs.Dir) + "/") // not needed unless unmerged
	index, err := repo.IndexWhere(ctx, func(path []byte, mark gitint.Mark) bool {
		return mark != gitint.MarkNone || !bytes.HasPrefix(path, merged)
	})
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*Case)
	at := func(name string) *Case {
		if byPath[name] == nil {
			byPath[name] = &Case{Path: name, Kind: kindOf(name), ID: conversationOf(name)}
		}
		return byPath[name]
	}
	for _, s := range index.Stages() {
		if below(s.Path, dir) {
			at(s.Path).Stages[s.Stage] = s.OID
		}
	}
	for _, r := range records {
		at(r.Path).Record = &r
	}
	all, err := split(repo, index, dir)
	if err != nil {
		return nil, err
	}
	whole := len(all) // conversations
	for _, c := range byPath {
		c.removed = c.Kind == "" && c.ID != 0 && isRemoved(byPath, c.ID)
		if c.Kind == Beside {
			c.ID = besideID(ctx, repo, dir, *c)
			all = append(all, *c)
			continue
		}
		_, placed := c.Placed()
		if c.Kind == "" && (c.ID == 0 || !placed && (!c.removed || !c.Deleted())) {
			continue // another file, which the user merges
		}
		i := slices.IndexFunc(all[:whole], func(s Case) bool { return s.ID == c.ID })
		switch {
		case i < 0:
			if c.Record != nil && c.isEmptied() && !leftIn(index, *c.Record) {
				c.Record = nil
			}
			all = append(all, *c)
		case c.Record != nil:
			all[i].Record = c.Record
		}
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// Unmerged returns the directories .jp in which files are unmerged.
func Unmerged(index *gitint.Index) []string {
	var dirs []string
	for _, name := range index.Conflicts() {
		if dir, ok := workspace.PathDir(name); ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// isRemoved reports whether a side removed a file that a conversation needs. Git may see a new file
// in a stream that the other side moved and changed; it is not unmerged then.
func isRemoved(all map[string]*Case, id events.ID) bool {
	for _, c := range all {
		if _, name, of := homeOf(c.Path); of == id && needed(name) && c.Deleted() {
			return true
		}
	}
	return false
}

// below reports whether a path is in a directory; every path is in ".".
func below(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// kindOf returns the kind of a file, or "" if only the user can merge it.
func kindOf(name string) Kind {
	switch path.Base(name) {
	case workspace.EventsFile:
		return Events
	case workspace.MetadataFile:
		return Metadata
	case workspace.BaseConfigFile:
		return Config
	}
	if _, isBlob := HashAt(name); isBlob {
		return Blob
	}
	if _, ok := nameBeside(name); ok {
		return Beside
	}
	return ""
}

// conversationOf returns the conversation in whose directory, at any depth, a file is, or 0.
func conversationOf(name string) events.ID {
	_, _, id := homeOf(name)
	return id
}

// homeOf splits the path of a file into the directory of its conversation and its path below that.
func homeOf(name string) (dir, below string, id events.ID) {
	jp := workspaceIn(name)
	id, ok := workspace.PathIDIn(jp, name)
	if !ok {
		return "", name, 0
	}
	dir, _ = workspace.PathDirIn(jp, name)
	return dir, strings.TrimPrefix(name, dir+"/"), id
}

// split returns the conversations that have several directories in the index while git waits for a
// person, whether they are unmerged or newly added. After git stash pop only unmerged files show
// that git waits.
func split(repo *gitint.Repo, index *gitint.Index, dir string) ([]Case, error) {
	stopped := Stopped(repo)
	if !stopped && len(index.Stages()) == 0 {
		return nil, nil
	}
	h, err := homesIn(index, dir)
	if err != nil {
		return nil, err
	}
	entries := make(map[events.ID][]string)
	ours := make(map[events.ID]string)
	for _, s := range index.Stages() {
		home, _, id := homeOf(s.Path)
		if id == 0 || !below(s.Path, dir) {
			continue
		}
		entries[id] = append(entries[id], s.Path)
		if s.Stage != stageBase && !slices.Contains(h.dirs[id], home) {
			h.dirs[id] = append(h.dirs[id], home)
		}
		if s.Stage == stageOurs {
			ours[id] = home
		}
	}
	if len(entries) > 0 {
		work, err := workDirs(repo, dir)
		if err != nil {
			return nil, err
		}
		for id := range entries {
			h.dirs[id] = together(h.dirs[id], work[id])
		}
	}
	var all []Case
	for id, dirs := range h.dirs {
		if len(dirs) < 2 || !stopped && len(entries[id]) == 0 {
			continue
		}
		slices.Sort(dirs)
		c, err := caseOf(index, id, dirs, entries[id])
		if err != nil {
			return nil, err
		}
		c.Path = path.Join(cmp.Or(ours[id], dirs[0]), workspace.EventsFile)
		all = append(all, c)
	}
	return all, nil
}

// caseOf returns the case of a conversation in several directories, with its paths in the index,
// merged or not.
func caseOf(
	index *gitint.Index, id events.ID, dirs, unmerged []string,
) (Case, error) {
	c := Case{
		Kind: Directories, ID: id, Dirs: dirs, Entries: unmerged,
		Path: path.Join(dirs[0], workspace.EventsFile),
	}
	for _, at := range dirs {
		below, err := index.Entries(at)
		if err != nil {
			return c, err
		}
		for _, e := range below {
			c.Entries = append(c.Entries, e.Path)
		}
	}
	slices.Sort(c.Entries)
	c.Entries = slices.Compact(c.Entries)
	return c, nil
}

// Apart returns the conversations that have several directories in index and working tree but not
// in HEAD, although none of their files is unmerged: git stash pop restores files that were added,
// and leaves the old ones in the index or beside newer changes. Those with ids are returned also if
// HEAD has the directories.
func Apart(
	ctx context.Context, repo *gitint.Repo, dir string, ids ...events.ID,
) ([]Case, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	work, err := workDirs(repo, dir)
	if err != nil {
		return nil, err
	}
	all, err := inSeveral(index, dir, work)
	if err != nil {
		return nil, err
	}
	return notBefore(ctx, repo, dir, all, ids...)
}

// inSeveral returns the conversations that have several directories in an index or in the working
// tree, sorted by id. work has their directories there, nil if these do not matter.
func inSeveral(
	index *gitint.Index, dir string, work map[events.ID][]string,
) (all []Case, err error) {
	staged, err := homesIn(index, dir)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(staged.dirs)) {
		dirs := staged.dirs[id]
		if max(len(dirs), len(work[id])) < 2 {
			continue // one in each: it was moved, and is not added yet
		}
		if work != nil {
			dirs = together(dirs, work[id])
		}
		c, err := caseOf(index, id, dirs, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// together returns the names of both lists without duplicates, sorted.
func together(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// workDirs returns the directories of each conversation in the working tree, tracked or not: a
// conversation that was moved and not added was not deleted.
func workDirs(repo *gitint.Repo, dir string) (map[events.ID][]string, error) {
	dirs := make(map[events.ID][]string)
	for _, below := range conversationDirs {
		at := path.Join(dir, below)
		list, err := os.ReadDir(filepath.Join(repo.Root(), filepath.FromSlash(at)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, d := range list {
			if id, ok := events.ParseDirname(d.Name()); ok && d.IsDir() {
				dirs[id] = append(dirs[id], path.Join(at, d.Name()))
			}
		}
	}
	return dirs, nil
}

// Doubled returns the conversations that have several directories in the index but not in HEAD, so
// that a commit would have both.
func Doubled(ctx context.Context, repo *gitint.Repo, dirs []string) ([]Case, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, dir := range dirs {
		cases, err := inSeveral(index, dir, nil)
		if err == nil {
			cases, err = notBefore(ctx, repo, dir, cases)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// notBefore removes the conversations that have several directories in HEAD too, except those with
// ids.
func notBefore(
	ctx context.Context, repo *gitint.Repo, dir string, cases []Case, ids ...events.ID,
) ([]Case, error) {
	if len(cases) == 0 {
		return nil, nil
	}
	head, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
	if err != nil || head == nil {
		return cases, err
	}
	before, err := homesIn(head, dir)
	return slices.DeleteFunc(cases, func(c Case) bool {
		return len(before.dirs[c.ID]) > 1 && !slices.Contains(ids, c.ID)
	}), err
}
