package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// A file is a file of a conversation, with its new content.
type file struct {
	name string
	old  []byte // what it held when it was read or written last, nil for no file
	same int    // how many bytes of old it keeps
	rest []byte // the bytes after those, nil for no file

	spare *atomicfile.Spare // makes the next save cheap; nil for none
}

func (f file) size() int { return f.same + len(f.rest) }

// data returns the complete new content.
func (f file) data() []byte {
	if f.same == 0 {
		return f.rest
	}
	return slices.Concat(f.old[:f.same], f.rest)
}

// isKept reports whether the file already has its new content.
func (f file) isKept() bool {
	return f.rest == nil || f.size() == len(f.old) && bytes.Equal(f.rest, f.old[f.same:])
}

// save writes the files that differ from what was loaded, and records them as stored. The caller
// has the lock. If a file is not what was loaded, the error is [atomicfile.ErrChanged], and that
// file is not written.
func (w *Workspace) save(c *Conversation) error {
	s := w.storeOf(c.Entry)
	var content *keeper
	// Only writing and reading the file take longer the more was there before.
	all := c.files(c.Stream.EncodeAfter(c.stored.elements))
	if !all[streamAt].isKept() {
		var err error
		if content, err = w.settle(s, c); err != nil {
			return err
		}
		all = c.files(c.Stream.EncodeAfter(c.stored.elements))
	}
	changed := changes(all)
	if len(changed) == 0 && c.Rename == "" {
		return nil
	}
	if err := s.fit(c.Entry, changed...); err != nil {
		return err
	}
	name := c.Rename
	if title := c.Title(); name == "" && title != c.stored.title {
		name = w.DirnameFor(c.Entry, title)
	}
	if name != "" {
		var err error
		if c.Entry, err = w.rename(c.Entry, name); err != nil {
			return err
		}
	}
	if err := s.saveFiles(c, all, changed); err != nil {
		return err
	}
	if content != nil {
		if err := content.verify(c); err != nil {
			return err
		}
	}
	if err := w.outrankAll(c.Entry, changed); err != nil {
		return err
	}
	c.keep(all)
	return nil
}

// fit refuses what nobody would read again.
func (s *store) fit(e Entry, files ...file) error {
	for _, f := range files {
		if n, most := int64(f.size()), s.limits.Of(f.name); n > most {
			return fmt.Errorf("save %s: %w", path.Join(e.Path, f.name),
				&regular.SizeError{Size: n, Max: most})
		}
	}
	return nil
}

// settle stores the contents of a changed stream in the form of the workspace, and checks that the
// stream can be saved. When it returns, the contents are in the store, but the stream is not
// written yet.
func (w *Workspace) settle(s *store, c *Conversation) (*keeper, error) {
	k := newKeeper(s.blobs)
	defer k.batch.Discard()
	if w.Format() == FormatInline {
		if _, err := c.Stream.Inline(s.blobs); err != nil {
			return nil, fmt.Errorf("write blobs inline: %w", err)
		}
	} else if _, err := c.Stream.Externalize(k, events.ExternalizeOptions{}); err != nil {
		return nil, fmt.Errorf("store blobs: %w", err)
	}
	if err := c.Stream.Validate(); err != nil {
		return nil, located(err, path.Join(c.Path, EventsFile))
	}
	if err := k.batch.Commit(); err != nil {
		return nil, fmt.Errorf("store blobs: %w", err)
	}
	if err := k.dangling(c); err != nil && !c.AllowDangling {
		return nil, err
	}
	return k, nil
}

// streamAt is the index of the stream in the result of files.
const streamAt = 1

// files returns all files of the conversation in the order in which they are written. The encoded
// stream is the first same bytes of what is stored, then rest. The presence of base_config.json
// decides how events.json is read, so it comes before that. metadata.json records how much of a
// session was imported, so it comes last: if the stream were missing after it, no import would ever
// add that part.
func (c *Conversation) files(same int, rest []byte) [3]file {
	all := c.stored.files()
	for i, data := range [...][]byte{c.BaseConfig, rest, c.Details.Encode()} {
		all[i].rest = data
	}
	all[streamAt].same, all[streamAt].spare = same, c.spare
	return all
}

// changes returns the files that differ from what is stored.
func changes(all [3]file) []file {
	return slices.DeleteFunc(slices.Clone(all[:]), file.isKept)
}

// keep records all files as stored. Saving one event after the other does not allocate the stream
// again each time: the new part is appended to the part that stays.
func (c *Conversation) keep(all [3]file) {
	was, f := c.stored, all[streamAt]
	c.stored = stored{
		base: all[0].rest, stream: was.stream, details: all[2].rest,
		elements: c.Stream.Clone(), title: c.Title(), encoded: was.encoded,
	}
	if f.isKept() {
		return
	}
	stays := f.old[:f.same]
	if !was.encoded { // its memory belongs to the elements or to a caller
		const room = 8
		stays = append(make([]byte, 0, f.size()+f.size()/room), stays...)
	}
	c.stored.stream, c.stored.encoded = append(stays, f.rest...), true
}

func (s *store) saveFiles(c *Conversation, all [3]file, changed []file) error {
	for _, f := range changed {
		if err := s.replace(c.Entry, f); err != nil {
			return err
		}
	}
	return s.complete(c, all)
}

// complete writes the unchanged files if they are missing by now: git can remove a directory that
// it finds unchanged at any time, and the files written after that would be an incomplete
// conversation.
func (s *store) complete(c *Conversation, all [3]file) error {
	dir, err := regular.OpenRootIn(s.root, s.path(c.Entry))
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return err
	}
	if !gone {
		defer dir.Close() //nolint:errcheck // was only read
	}
	for _, f := range all {
		err := fs.ErrNotExist
		if !gone {
			_, err = dir.Lstat(f.name)
		}
		if f.rest != nil && errors.Is(err, fs.ErrNotExist) {
			err = s.replace(c.Entry, file{name: f.name, rest: f.data()})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// DirnameFor returns the name of an entry's directory for a title, unless it is taken. The name
// does not change if git has the conversation: in a merge with a branch that changed metadata.json,
// which is too small for git to recognize as renamed, the new name would be a conflict. A directory
// with a derived ID has the same name everywhere, because it is looked up by name in trees that are
// not listed completely.
func (w *Workspace) DirnameFor(e Entry, title string) string {
	if e.ID.IsDerived() || w.env.committed(e) {
		return e.Dirname
	}
	return events.Dirname(e.ID, title)
}

// retitle renames a directory after its title.
func (w *Workspace) retitle(e Entry, title string) (Entry, error) {
	return w.rename(e, w.DirnameFor(e, title))
}

// rename renames a directory. If the new name exists, the old one is kept: readers do not depend on
// it.
func (w *Workspace) rename(e Entry, name string) (Entry, error) {
	s := w.storeOf(e)
	to := e.at(e.Partition, name, s.prefix)
	if to.Dirname == e.Dirname {
		return e, nil
	}
	err := s.rename(s.path(e), s.path(to))
	switch {
	case errors.Is(err, errTaken):
		return e, nil
	case err != nil:
		return e, err
	default:
		return to, nil
	}
}

// A keeper stores the contents of one save and keeps them in memory, so that it can write them
// again if a collector removed them before the stream referred to them.
type keeper struct {
	store *blobs.Store
	batch *blobs.Batch
	kept  map[blobs.Ref][]byte
}

var _ events.Writer = (*keeper)(nil)

func newKeeper(s *blobs.Store) *keeper {
	return &keeper{store: s, batch: s.NewBatch(), kept: map[blobs.Ref][]byte{}}
}

// Write implements [events.Writer].
func (k *keeper) Write(b []byte) (blobs.Ref, error) {
	ref, err := k.batch.Write(b)
	if err == nil {
		k.kept[ref] = b
	}
	return ref, err
}

// verify makes sure that everything the saved stream refers to still exists.
func (k *keeper) verify(c *Conversation) error {
	for _, ref := range k.store.Missing(slices.Collect(maps.Keys(k.kept))) {
		if _, err := k.store.Write(k.kept[ref]); err != nil {
			return fmt.Errorf("store blobs again: %w", err)
		}
	}
	if c.AllowDangling {
		return nil
	}
	return k.dangling(c)
}

// dangling returns a [*DanglingError] for new references in the stream to missing contents.
func (k *keeper) dangling(c *Conversation) error {
	added := references(fresh(c.stored.elements, c.Stream))
	missing := k.store.Missing(slices.Collect(maps.Keys(added)))
	if len(missing) > 0 {
		before := references(c.stored.elements)
		missing = slices.DeleteFunc(missing, func(ref blobs.Ref) bool { return before[ref] })
	}
	if len(missing) == 0 {
		return nil
	}
	return &DanglingError{Path: path.Join(c.Path, EventsFile), Refs: missing}
}

func references(s *events.Stream) map[blobs.Ref]bool {
	all := map[blobs.Ref]bool{}
	if s == nil {
		return all
	}
	for c := range s.Contents() {
		if c.Content.IsRef() {
			all[c.Content.Ref()] = true
		}
	}
	return all
}

// fresh returns the elements of now without those that it shares with the beginning and the end of
// old, which may be nil. So saving one event of a long conversation does not examine all others.
func fresh(old, now *events.Stream) *events.Stream {
	from, to := 0, now.Len()
	if old != nil {
		from = now.Common(old)
		for end := old.Len(); min(end, to) > from && old.At(end-1) == now.At(to-1); end-- {
			to--
		}
	}
	elements := make([]*events.Element, 0, to-from)
	for i := from; i < to; i++ {
		elements = append(elements, now.At(i))
	}
	s := events.New()
	s.Append(elements...)
	return s
}

func (w *Workspace) outrankAll(e Entry, changed []file) error {
	for _, f := range changed {
		if err := w.outrank(e, f.name); err != nil {
			return err
		}
	}
	return nil
}

// outrank makes a file that was just written newer than its user-local copy, in case a clock was
// wrong: jp reads the newer one, and the user-local one of two with equal times. It treats stream
// and base configuration as one.
func (w *Workspace) outrank(e Entry, name string) error {
	if e.Local || w.userLocal == nil {
		return nil
	}
	copies, err := w.userLocal.find(e.ID)
	if err != nil {
		return err
	}
	unit := []string{EventsFile, BaseConfigFile}
	if name == MetadataFile {
		unit = []string{MetadataFile}
	}
	var theirs time.Time
	for _, local := range copies {
		for _, file := range unit {
			if at := w.userLocal.modTime(w.userLocal.path(local, file)); at.After(theirs) {
				theirs = at
			}
		}
	}
	own := w.main.path(e, name)
	if w.main.modTime(own).After(theirs) {
		return nil
	}
	at := theirs.Add(time.Millisecond)
	return w.main.root.Chtimes(own, at, at)
}
