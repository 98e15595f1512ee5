package stage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

const tempSuffix = ".tmp"

// A survey is the state of the working tree and the index, before anything is chosen.
type survey struct {
	req   Request
	cache *refs.Cache
	fsys  *folders
	there *presence
	index *gitint.Index
	// left has the blobs that a lazy clone leaves out of its working tree; nothing in other clones.
	left []gitint.Snapshot
	// partial says that index has only the entries that the chosen conversations need.
	partial bool
	finder  *spare.Finder
	head    *settledHead // nil if nothing is cached
	staged  []gitint.StagedPath
	// dirs are the conversations of the working tree; indexed the paths of the index
	// below the directories of each.
	dirs    map[events.ID][]workspace.Entry
	indexed map[events.ID][]string
	states  map[string]gitint.WorkState
	// unlisted are the findings about directories that cannot be listed, and hidden the partitions
	// among these: what the index has of one is not removed.
	unlisted []check.Finding
	hidden   []string
}

func newSurvey(ctx context.Context, req Request) (*survey, error) {
	s := &survey{
		req: req, cache: cmp.Or(req.Cache, &refs.Cache{}), finder: spare.NewFinder(req.Repo),
		dirs: map[events.ID][]workspace.Entry{}, indexed: map[events.ID][]string{},
		states: map[string]gitint.WorkState{},
	}
	var err error
	if s.fsys, err = openFolders(req.Repo, s.cache); err != nil {
		return nil, err
	}
	s.there = &presence{fsys: s.fsys}
	if s.left, err = check.LeftOut(ctx, req.Repo); err != nil {
		s.close()
		return nil, err
	}
	look := s.lookAtAll
	if req.Select == Named {
		look = s.lookAtNamed
	}
	if err := look(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *survey) close() { _ = s.fsys.root.Close() }

// lookAtAll looks at every conversation that is not known to be settled.
func (s *survey) lookAtAll(ctx context.Context) error {
	before := s.readHead(ctx)
	looked := s.fsys.lookAhead(ctx, s.req.Dir, s.notInHead(ctx))
	changes, err := s.compare(ctx, s.conversations(), path.Join(s.req.Dir, blobs.Dir))
	if err = errors.Join(err, looked()); err != nil {
		return err
	}
	if s.head = s.readHead(ctx); s.head == nil || before == nil || *s.head != *before {
		s.head = nil // it is unknown which commit git compared with
	}
	only, err := s.unsettled(ctx, changes)
	if err != nil {
		return err
	}
	if only != nil {
		if err := s.lookAtSome(ctx, only); err != nil || !s.isHidden() {
			return err
		}
	}
	return s.lookAtSome(ctx, nil)
}

// lookAtNamed looks only at the conversations of the request.
func (s *survey) lookAtNamed(ctx context.Context) error {
	if err := s.addForks(); err != nil {
		return err
	}
	only := lists.Set(s.req.IDs)
	if err := s.lookAtSome(ctx, only); err != nil {
		return err
	}
	under := map[string]bool{}
	for id := range only {
		for _, e := range s.dirs[id] {
			under[e.Path] = true
		}
		for _, p := range s.indexed[id] {
			if dir, ok := workspace.PathDirIn(s.req.Dir, p); ok {
				under[dir] = true
			}
		}
	}
	if len(under) == 0 {
		return nil
	}
	dirs := slices.Sorted(maps.Keys(under))
	if len(dirs) > maxNamed {
		dirs = []string{s.conversations()}
	}
	_, err := s.compare(ctx, dirs...)
	return err
}

// maxNamed is how many directories git is asked about by name.
const maxNamed = 50

func (s *survey) conversations() string { return path.Join(s.req.Dir, workspace.ConversationsDir) }

// compare asks git what differs between HEAD, index and working tree.
func (s *survey) compare(ctx context.Context, under ...string) ([]gitint.WorkPath, error) {
	staged, work, err := s.req.Repo.Changes(ctx, under...)
	for _, w := range work {
		s.states[w.Path] = w.State
	}
	s.staged = staged
	return work, err
}

// lookAtSome looks at some conversations on disk and in the index, at all if only is nil.
func (s *survey) lookAtSome(ctx context.Context, only map[events.ID]bool) error {
	clear(s.dirs)
	clear(s.indexed)
	wanted := func(id events.ID) bool { return only == nil || only[id] }
	if err := s.fsys.look(ctx, s.req.Dir, wanted, s.mayDiffer); err != nil {
		return err
	}
	entries, problems, err := workspace.ScanOf(s.fsys, s.req.Dir, wanted)
	if err != nil {
		return err
	}
	s.unlisted, s.hidden = nil, nil
	s.addUnlisted(problems)
	for _, e := range entries {
		s.dirs[e.ID] = append(s.dirs[e.ID], e)
	}
	if s.partial = only != nil; s.partial {
		s.index, err = s.req.Repo.IndexWhere(ctx, s.entriesOf(only))
	} else {
		s.index, err = s.req.Repo.Index(ctx)
	}
	if err != nil {
		return err
	}
	s.addRemoved()
	in, err := s.index.Entries(s.conversations())
	if err != nil {
		return err
	}
	paths := append(s.index.Conflicts(), s.index.IntentToAdd()...)
	for _, e := range in {
		paths = append(paths, e.Path)
	}
	for _, p := range paths {
		if id, ok := workspace.PathIDIn(s.req.Dir, p); ok && wanted(id) {
			s.indexed[id] = append(s.indexed[id], p)
		}
	}
	return nil
}

// addUnlisted notes which partitions cannot be listed, or are links, and reports them unless named
// conversations are staged. The closures report conversations.
func (s *survey) addUnlisted(problems []workspace.Problem) {
	src := check.FS(check.WorkTreeName, s.fsys, s.req.Repo.Limits())
	for _, p := range problems {
		if p.ID != 0 || p.Kind != workspace.Unreadable && p.Kind != workspace.Linked {
			continue
		}
		s.hidden = append(s.hidden, p.Path+"/")
		if s.req.Select != Named {
			f := check.Unlisted(src, p.Path, cmp.Or(p.Err, workspace.ErrLinked))
			f.Commit = check.WorkTreeName
			s.unlisted = append(s.unlisted, f)
		}
	}
}

// mayDiffer reports whether a file may differ from the index, as far as git was asked.
func (s *survey) mayDiffer(name string) bool {
	_, differs := s.states[name]
	return differs || s.req.Select != Changed
}

// addRemoved notes the removed files among those that git assumes to be unchanged.
func (s *survey) addRemoved() {
	for _, name := range s.index.Assumed() {
		if _, err := fs.Lstat(s.fsys, name); errors.Is(err, fs.ErrNotExist) {
			s.states[name] = gitint.Deleted
		}
	}
}

// entriesOf returns a function that selects the entries of the index that concern some
// conversations: their files, the blobs that they refer to, the workspace's own files, and existing
// files at which git does not look.
func (s *survey) entriesOf(only map[events.ID]bool) func(path []byte, mark gitint.Mark) bool {
	names := map[string]bool{}
	for _, name := range workspace.OwnFiles() {
		names[path.Join(s.req.Dir, name)] = true
	}
	for id := range only {
		for _, e := range s.dirs[id] {
			at, _ := s.exactly(path.Join(e.Path, workspace.EventsFile))
			for _, ref := range at {
				names[s.blobPath(ref.Ref.Hash)] = true
			}
		}
	}
	below, files := []byte(s.req.Dir+"/"), []byte(s.conversations()+"/")
	store := []byte(path.Join(s.req.Dir, blobs.Dir) + "/")
	removed := []byte(path.Join(s.req.Dir, workspace.RemovedDir) + "/")
	secret := []byte(path.Join(s.req.Dir, secrets.Dir) + "/")
	return func(name []byte, mark gitint.Mark) bool {
		switch {
		case !bytes.HasPrefix(name, below):
			return false
		case names[string(name)]:
			return true
		case mark == gitint.MarkSkipped:
			// The working tree has nearly none of the blobs of a lazy clone.
			return !bytes.HasPrefix(name, store) || s.there.has(string(name))
		case mark != gitint.MarkNone:
			return true
		case bytes.HasPrefix(name, removed), bytes.HasPrefix(name, secret):
			return true // files beside conversations
		case !bytes.HasPrefix(name, files):
			return false
		}
		id, ok := workspace.PathIDIn(s.req.Dir, string(name))
		return ok && only[id]
	}
}

// tracks reports whether the index has a file, which may not be in the part that was read.
func (s *survey) tracks(ctx context.Context, name string) bool {
	if _, ok := s.index.OID(name); ok || !s.partial {
		return ok
	}
	x, err := s.req.Repo.IndexWhere(ctx, func(path []byte, _ gitint.Mark) bool {
		return string(path) == name
	})
	if err != nil {
		return false
	}
	_, ok := x.OID(name)
	return ok
}

// all returns every conversation, in order.
func (s *survey) all() []events.ID {
	ids := slices.Collect(maps.Keys(s.dirs))
	for id := range s.indexed {
		if len(s.dirs[id]) == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// addForks adds to the conversations of the request those of the working tree that have its rewound
// branches: a merge leaves these out of it where they exist (docs/merge.md).
func (s *survey) addForks() error {
	sessions := map[events.ID]string{} // of forks
	err := s.eachDetails(s.req.IDs, func(_ events.ID, d *events.Details) {
		for fork := range d.Rewound() {
			for _, id := range events.SessionIDs(fork) {
				sessions[id] = fork
			}
		}
	})
	if err != nil || len(sessions) == 0 {
		return err
	}
	ids := slices.Clone(s.req.IDs)
	err = s.eachDetails(slices.Collect(maps.Keys(sessions)), func(id events.ID, d *events.Details) {
		if d.Labels[events.LabelSession] == sessions[id] {
			ids = append(ids, id)
		}
	})
	s.req.IDs = ids
	return err
}

// eachDetails calls f for the details of conversations of the working tree. The check reports those
// that cannot be read.
func (s *survey) eachDetails(ids []events.ID, f func(events.ID, *events.Details)) error {
	entries, _, err := workspace.ScanOf(s.fsys, s.req.Dir, func(id events.ID) bool {
		return slices.Contains(ids, id)
	})
	for _, e := range entries {
		if d, err := workspace.ReadDetails(s.fsys, e); err == nil {
			f(e.ID, d)
		}
	}
	return err
}

// A closure is one conversation and what it refers to.
type closure struct {
	id      events.ID
	title   string
	dir     string                // in the working tree, "" when it was removed
	files   []string              // to stage
	removed []string              // from the index
	streams map[string]gitint.OID // those of files that are streams
	refs    []events.RefAt
	// odd says that one of its own files is no file but, for example, a pipe. Git reports it as
	// changed; it cannot be staged, and the check reports it.
	odd bool
	// refused says that a directory of it cannot be listed. No part of it is then staged, and
	// nothing of it is removed.
	refused bool
}

// A streamReader returns the references of a stream, and the object that was read.
type streamReader func(name string) ([]events.RefAt, gitint.OID)

// closure reads what belongs to a conversation.
func (s *survey) closure(
	ctx context.Context, id events.ID, read streamReader,
) (*closure, error) {
	c := &closure{id: id, streams: map[string]gitint.OID{}}
	for _, e := range s.dirs[id] {
		c.dir = e.Path
		switch err := s.addFiles(c, e.Path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &MovedError{e.Path}
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", e.Path, err)
		}
		stream := path.Join(e.Path, workspace.EventsFile)
		if slices.Contains(c.files, stream) {
			at, oid := read(stream)
			c.refs, c.streams[stream] = append(c.refs, at...), oid
		}
	}
	for _, p := range s.indexed[id] {
		// A file that is missing because a sparse checkout leaves it out is not Deleted.
		switch _, differs := s.states[p]; {
		case slices.Contains(c.files, p):
		case slices.ContainsFunc(s.hidden, func(dir string) bool {
			return strings.HasPrefix(p, dir)
		}):
		case s.states[p] == gitint.Deleted:
			c.removed = append(c.removed, p)
		case !differs && !c.refused && len(s.dirs[id]) > 0 && !s.there.has(p):
			if err := s.stayed(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	if c.refused {
		c.files, c.removed = nil, nil
	}
	slices.Sort(c.removed)
	return c, nil
}

// stayed asks git again about a missing file that git did not report: a sparse checkout may leave
// it out, or it may have moved since.
func (s *survey) stayed(ctx context.Context, name string) error {
	work, err := s.req.Repo.WorkChanges(ctx, name)
	if len(work) > 0 {
		return &MovedError{name}
	}
	return err
}

// refuse notes that a directory of a conversation cannot be listed.
func (s *survey) refuse(c *closure, dir string, err error) {
	c.refused = true
	f := check.Refused(dir, err)
	f.Commit, f.Conversation = check.WorkTreeName, c.id.String()
	if !slices.Contains(s.unlisted, f) {
		s.unlisted = append(s.unlisted, f)
	}
}

// title returns the title of a conversation, "" when it has none. A removed conversation has that
// of the index.
func (s *survey) title(id events.ID) string {
	title := ""
	for _, e := range s.dirs[id] {
		title = cmp.Or(s.fsys.title(e), title)
	}
	if len(s.dirs[id]) > 0 {
		return title
	}
	for _, p := range s.indexed[id] {
		if path.Base(p) != workspace.MetadataFile {
			continue
		}
		data, err := s.index.ReadFile(p)
		if err != nil {
			continue
		}
		d, _ := events.DecodeDetails(data)
		title = cmp.Or(d.Name(), title)
	}
	return title
}

func (s *survey) addFiles(c *closure, below string) error {
	entries, err := s.fsys.ReadDir(below)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		s.refuse(c, below, err)
		return nil
	}
	for _, e := range entries {
		name := below + "/" + e.Name()
		switch {
		case !e.Type().IsRegular() && isOwn(c.dir, name):
			c.odd = true
		case e.IsDir():
			if err := s.addFiles(c, name); err != nil {
				return err
			}
		case e.Type().IsRegular() && s.belongs(c.dir, name):
			c.files = append(c.files, name)
		}
	}
	return nil
}

// isOwn reports whether a file in a conversation's directory is one of those of every conversation.
func isOwn(dir, name string) bool {
	return workspace.IsManaged(strings.TrimPrefix(name, dir+"/"))
}

// belongs reports whether a file of a conversation's directory is staged. Its own files are,
// whatever ignore rules say; other files if git would add them.
func (s *survey) belongs(dir, name string) bool {
	if isOwn(dir, name) {
		return true
	}
	state, differs := s.states[name]
	if !differs {
		return true // it is in the index
	}
	base := path.Base(name)
	if base == workspace.DraftFile || strings.HasSuffix(base, tempSuffix) {
		return state != gitint.Untracked && state != gitint.IgnoredNew
	}
	return state != gitint.IgnoredNew
}

// exactly reads the stream of the working tree. A stream that cannot be read has no references
// here, and the check reports it.
func (s *survey) exactly(name string) ([]events.RefAt, gitint.OID) {
	if is, ok := s.fsys.file(name); ok {
		res, _ := s.cache.References(is.id, func() ([]byte, error) { return s.fsys.again(name) })
		return res.Refs, is.object
	}
	data, err := s.fsys.again(name)
	if err != nil {
		return nil, gitint.OID{}
	}
	res, _ := s.cache.References(refs.Sum(data), func() ([]byte, error) { return data, nil })
	return res.Refs, s.req.Repo.HashBlob(data)
}

// quickly does not read a stream that git knows to be the one of the index and that was read
// before.
func (s *survey) quickly(name string) ([]events.RefAt, gitint.OID) {
	oid, ok := s.index.OID(name)
	if _, differs := s.states[name]; !ok || differs {
		return s.exactly(name)
	}
	res, _ := s.cache.References(oid, func() ([]byte, error) {
		return s.index.ReadFile(name)
	})
	return res.Refs, oid
}

// changed reports whether the index lacks something of the closure, or has more.
func (s *survey) changed(c *closure) bool {
	differs := func(name string) bool {
		_, ok := s.states[name]
		return ok
	}
	if c.refused || c.odd || len(c.removed) > 0 || slices.ContainsFunc(c.files, differs) {
		return true
	}
	return slices.ContainsFunc(c.refs, func(at events.RefAt) bool {
		_, ok := s.index.OID(s.blobPath(at.Ref.Hash))
		return !ok && at.Counts()
	})
}

// leftOut returns the entry of a blob that a lazy clone leaves out of its working tree. Its object
// is zero if the blob is a file again.
func (s *survey) leftOut(ctx context.Context, name string) (gitint.Entry, bool) {
	if len(s.left) == 0 {
		return gitint.Entry{}, false
	}
	for _, snap := range s.left {
		if oid, ok := snap.OID(name); ok {
			return gitint.Entry{Path: name, Mode: gitint.ModeFile, OID: oid}, true
		}
	}
	oid, ok := s.finder.Find(ctx, name)
	return gitint.Entry{Path: name, Mode: gitint.ModeFile, OID: oid}, ok
}

func (s *survey) blobPath(h blobs.Hash) string {
	return path.Join(s.req.Dir, blobs.Dir, h.Path())
}
