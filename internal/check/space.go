package check

import (
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
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

const (
	archiveName = ".archive" // in workspace.ConversationsDir
	secretsDir  = "secrets"
)

// partDirs returns the parts of a workspace that are directories.
func partDirs() []string {
	return []string{blobs.Dir, workspace.ConversationsDir, secretsDir, workspace.RemovedDir}
}

// A checker holds the state of one workspace after the last source, and updates it with the
// differences to the next one.
type checker struct {
	opts     *Options
	cache    *refs.Cache
	report   *Report
	verifier *verifier
	store    *store

	alone   bool   // there is no other source and no other workspace
	verdict string // the name under which it is cached, or ""

	dir     string             // of the workspace, from the root of the source
	last    Source             // nil before the first
	parts   map[string]Entry   // the entries of dir
	convs   map[string]*conv   // by directory, from the root of the source
	damaged map[string]*conv   // those of convs that have findings
	foreign map[string]Finding // directories that are not conversations

	duplicated []Finding
	moved      bool    // directories were added or removed since duplicated was computed
	wanted     []*blob // blobs to judge
	// listed holds the files of the examined conversations, by directory.
	listed map[string]*folder
	unread map[gitint.OID]bool // objects that the cache knows but that cannot be read
	// unlisted holds the directories of conversations that the operating system does not list.
	unlisted map[string]error
}

func newChecker(ch checker) *checker {
	ch.store = newStore(ch.dir+"/"+blobs.Dir, ch.cache)
	ch.convs, ch.damaged = make(map[string]*conv), make(map[string]*conv)
	ch.foreign = make(map[string]Finding)
	return &ch
}

// step checks the next source.
func (ch *checker) step(ctx context.Context, src Source) error {
	parts, err := ch.list(src)
	if err != nil {
		return err
	}
	t := transition{ch.last, src, ch.parts, parts}
	for _, name := range partDirs() {
		was, is := t.part(name)
		ch.place(path.Join(ch.dir, name), was, is)
	}
	if ch.recall(ctx, t) {
		return ctx.Err()
	}
	if ch.last == nil || changed(ch.parts, parts, blobs.Dir) ||
		changed(ch.parts, parts, workspace.ConversationsDir) {
		if err := ch.update(ctx, t); err != nil {
			return err
		}
	}
	ch.last, ch.parts = src, parts
	if n := ch.emit(src); n == 0 {
		ch.remember()
	}
	return nil
}

func (ch *checker) list(src Source) (map[string]Entry, error) {
	entries, err := list(src, ch.dir)
	if err != nil {
		return nil, err
	}
	parts := make(map[string]Entry, len(entries))
	for _, e := range entries {
		parts[e.Name] = e
	}
	return parts, nil
}

// changed reports whether a directory may differ.
func changed(old, new map[string]Entry, name string) bool {
	was, before := old[name]
	is, after := new[name]
	if !before && !after {
		return false
	}
	return before != after || was.ID != is.ID || is.ID.IsZero()
}

func (ch *checker) update(ctx context.Context, t transition) error {
	src := t.new
	files := ch.updateStore(ctx, t)
	fresh, err := ch.directories(ctx, t)
	if err == nil {
		err = ch.listAll(ctx, src, fresh)
	}
	if err = errors.Join(err, files.listed()); err == nil {
		ch.wanted = append(ch.wanted[:0], ch.store.touched...)
		err = ch.conversations(ctx, src, fresh)
	}
	ch.listed, ch.unread, ch.unlisted = nil, nil, nil
	if err = errors.Join(err, files.surveyed()); err != nil {
		return err
	}
	sound, err := ch.verifier.judge(ctx, src, ch.store, ch.wanted)
	if err != nil {
		return err
	}
	for _, c := range fresh {
		c.suspect = c.suspect || !sound
	}
	return ch.evaluate(ctx, src, fresh)
}

// A storeUpdate is the update of a store to the next source.
type storeUpdate struct {
	listed   func() error // waits until the blobs are listed
	surveyed func() error // waits until the blobs were surveyed
}

// updateStore updates the store to the next source. For the first source, which takes long, it runs
// concurrently with the examination of conversations.
func (ch *checker) updateStore(ctx context.Context, t transition) storeUpdate {
	if t.old != nil {
		return storeUpdate{
			func() error { return ch.store.update(ctx, t, nil) },
			func() error { return nil },
		}
	}
	listed, surveyed := make(chan error, 1), make(chan error, 1)
	parts := make(chan part, partsAtOnce)
	go func() {
		err := ch.store.update(ctx, t, parts)
		close(parts)
		listed <- err
	}()
	go func() { surveyed <- ch.verifier.survey(ctx, t.new, parts) }()
	return storeUpdate{
		func() error { return <-listed }, func() error { return <-surveyed },
	}
}

// conversations examines those that are new or differ.
func (ch *checker) conversations(ctx context.Context, src Source, fresh []*conv) error {
	for i, c := range fresh {
		r := reading{ch, src, c}
		if err := r.examine(ctx); err != nil {
			return err
		}
		r.settle()
		ch.opts.progress("conversations", i+1, len(fresh))
	}
	if ch.moved || len(ch.duplicated) > 0 && len(fresh) > 0 {
		ch.duplicated, ch.moved = ch.duplicates(src), false
	}
	return nil
}

// listAll lists the conversations. For the first source it lists all at once if that is faster,
// since descending to each of thousands costs more than reading their files. Their files are then
// also learned at once.
func (ch *checker) listAll(ctx context.Context, src Source, fresh []*conv) error {
	ch.listed = make(map[string]*folder, len(fresh))
	ch.unlisted = make(map[string]error)
	w, ok := src.(Walker)
	if ok && ch.last == nil && ch.opts.Select == nil {
		switch err := ch.walk(ctx, src, w); {
		case err == nil:
			return ch.learn(ctx, src, fresh)
		case !IsRefused(src, err):
			return err
		}
	}
	for _, c := range fresh {
		entries, err := list(src, c.dir)
		if IsRefused(src, err) {
			ch.unlisted[c.dir], err = err, nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		for _, e := range entries {
			ch.hold(c.dir, e)
		}
	}
	return ch.learn(ctx, src, fresh)
}

// walk lists all conversations at once.
func (ch *checker) walk(ctx context.Context, src Source, w Walker) error {
	dir := path.Join(ch.dir, workspace.ConversationsDir)
	err := w.Walk(ctx, dir, func(e Entry) {
		at, name := path.Split(path.Join(dir, e.Name))
		e.Name = name
		ch.hold(path.Clean(at), e)
	})
	if err != nil {
		return ListError(src, dir, err)
	}
	return nil
}

// IsRefused reports whether an error says nothing about other paths of a source: the operating
// system refuses to show one, or a commit or an index has something else in the place of a
// directory. Other errors of these are git's to report.
func IsRefused(src Source, err error) bool {
	if errors.Is(err, gitint.ErrNotDir) {
		return true
	}
	_, ofGit := src.(objectSource)
	_, ofSystem := errors.AsType[*fs.PathError](err)
	return ofSystem && !ofGit && !errors.Is(err, fs.ErrNotExist)
}

// hold records a file of a directory.
func (ch *checker) hold(dir string, e Entry) {
	if ch.listed[dir] == nil {
		ch.listed[dir] = new(folder)
	}
	ch.listed[dir].hold(e)
}

// directories updates to the directories of the next source, live and archived, and returns the
// conversations in those that are new or differ.
func (ch *checker) directories(ctx context.Context, t transition) ([]*conv, error) {
	var fresh []*conv
	archived, archive := Entry{Mode: absent}, Entry{Mode: absent}
	d := differ{old: t.old, new: t.new}
	step := func(dir string) func(was, is Entry) {
		return func(was, is Entry) {
			if was.Mode != absent {
				ch.leave(path.Join(dir, was.Name), is.Mode == absent)
			}
			if is.Mode != absent {
				c := ch.enter(path.Join(dir, is.Name), is, was.Mode == absent)
				if c != nil {
					fresh = append(fresh, c)
				}
			}
			if max(was.Name, is.Name) == archiveName {
				archived, archive = was, is
			}
		}
	}
	dir := path.Join(ch.dir, workspace.ConversationsDir)
	was, is := t.part(workspace.ConversationsDir)
	if err := ch.partition(ctx, d, dir, change{"", was, is}, step(dir)); err != nil {
		return nil, err
	}
	dir = path.Join(dir, archiveName)
	if err := ch.partition(ctx, d, dir, change{"", archived, archive}, step(dir)); err != nil {
		return nil, err
	}
	if len(ch.convs) > maxConversations {
		return nil, fmt.Errorf("list %s:%s: it has more than %d conversations",
			t.new.Name(), dir, maxConversations)
	}
	return fresh, nil
}

// partition compares the directory of the live or the archived conversations. A file in its place,
// or an error in listing it, is a finding.
func (ch *checker) partition(
	ctx context.Context, d differ, dir string, is change, f func(was, is Entry),
) error {
	ch.place(dir, is.old, is.new)
	err := d.differences(ctx, dir, orNone(is.old), orNone(is.new), f)
	if IsRefused(d.new, err) {
		ch.foreign[dir], err = Refused(dir, err), nil
	}
	return err
}

// place updates the finding that something else is in the place of a directory of the workspace.
func (ch *checker) place(dir string, was, is Entry) {
	if was.Mode != absent || is.Mode != absent {
		delete(ch.foreign, dir)
	}
	if is.Mode != absent && !is.Mode.IsDir() {
		ch.foreign[dir] = notDirectory(dir, is)
	}
}

// notDirectory returns the finding for something else in the place of a directory of the workspace.
func notDirectory(name string, e Entry) Finding {
	f := Finding{State: Foreign, Path: name, Element: -1}
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		f.Detail = "is a link, and a commit has only the link"
	default:
		f.Detail = "is not a directory"
	}
	return f
}

// Unlisted returns the finding for a directory that the operating system does not list: that it, or
// a directory above it, is something else, or that it is refused.
func Unlisted(src Source, dir string, err error) Finding {
	for at := dir; at != "."; at = path.Dir(at) {
		entries, _ := src.List(path.Dir(at)) // if it cannot be listed either, see above it
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == path.Base(at) })
		switch {
		case i < 0:
		case entries[i].Mode.IsDir():
			return Refused(dir, err)
		default:
			return notDirectory(at, entries[i])
		}
	}
	return Refused(dir, err)
}

// Refused returns the finding for a directory that the operating system refuses to list.
func Refused(dir string, err error) Finding {
	err = regular.Cause(err)
	return Finding{
		State: Unreadable, Path: dir, Element: -1, Detail: "cannot be read: " + err.Error(),
		Next: byMode(err),
	}
}

// maxConversations bounds the conversations that are kept for one workspace, at about a kilobyte
// each.
const maxConversations = 200_000

// leave removes a directory, either for good or because it differs.
func (ch *checker) leave(dir string, good bool) {
	if c := ch.convs[dir]; c != nil {
		ch.forget(ch.last, c)
		delete(ch.convs, dir)
		delete(ch.damaged, dir)
		ch.moved = ch.moved || good
	}
	delete(ch.foreign, dir)
}

// enter returns the conversation in a directory, or nil if there is none to check.
func (ch *checker) enter(dir string, e Entry, first bool) *conv {
	id, ok := events.ParseDirname(e.Name)
	switch {
	case strings.HasPrefix(e.Name, ".") || e.Mode.IsRegular():
		return nil // jp ignores these
	case !ok || !e.Mode.IsDir():
		ch.foreign[dir] = foreignDirectory(dir, e)
		return nil
	case !ch.opts.selects(id):
		return nil
	}
	ch.moved = ch.moved || first
	c := &conv{dir: dir, id: id}
	ch.convs[dir] = c
	return c
}

func foreignDirectory(name string, e Entry) Finding {
	f := Finding{State: Foreign, Path: name, Element: -1}
	switch {
	case e.Mode.IsDir():
		f.Detail = "is not a conversation: jp moves such a directory to its trash"
	case e.Mode&fs.ModeSymlink != 0:
		f.Detail = "is a link: jp does not see it"
	default:
		f.Detail = "is not a directory, so there are no conversations in it"
	}
	return f
}

// duplicates returns a finding for every directory with the id of another one, except the first.
func (ch *checker) duplicates(src Source) []Finding {
	first := make(map[events.ID]string, len(ch.convs))
	var again []string
	for dir, c := range ch.convs {
		switch other, ok := first[c.id]; {
		case c.left:
		case !ok:
			first[c.id] = dir
		case dir < other:
			first[c.id], again = dir, append(again, other)
		default:
			again = append(again, dir)
		}
	}
	var all []Finding
	for _, dir := range again {
		c := ch.convs[dir]
		all = append(all, Finding{
			State: DuplicateID, Path: dir, Element: -1,
			Conversation: c.id.String(), Title: reading{ch, src, c}.title(),
			Detail: "has the id of " + first[c.id] + ": jp keeps one of them and " +
				"deletes the other at the next save",
			Next: differences(src.Name(), first[c.id], dir),
		})
	}
	return all
}

// evaluate checks the references of the conversations whose result may have changed: new ones with
// suspect references, those with findings, and all if a referenced blob is missing or damaged now.
func (ch *checker) evaluate(ctx context.Context, src Source, fresh []*conv) error {
	again := make(map[string]*conv)
	if ch.lost() {
		again = ch.convs
	} else {
		for dir, c := range ch.damaged {
			if len(c.dangling) > 0 {
				again[dir] = c
			}
		}
		for _, c := range fresh {
			if c.suspect {
				again[c.dir] = c
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(again)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := reading{ch, src, again[dir]}
		if err := r.references(); err != nil {
			return err
		}
		r.settle()
	}
	return nil
}

// settle updates the set of conversations with findings.
func (r reading) settle() {
	if len(r.c.found)+len(r.c.dangling) > 0 {
		r.damaged[r.c.dir] = r.c
	} else {
		delete(r.damaged, r.c.dir)
	}
}

// lost reports whether the update may have broken a reference that did not change.
func (ch *checker) lost() bool {
	for _, b := range ch.store.touched {
		if b.refs <= 0 {
			continue
		}
		if b.mode == absent || b.disputed || !b.verdict.fits(b.ref()) {
			return true
		}
	}
	return false
}

// emit reports the findings in src, and returns their number.
func (ch *checker) emit(src Source) int {
	var all []Finding
	for _, c := range ch.damaged {
		all = append(append(all, c.found...), c.dangling...)
	}
	all = append(all, ch.duplicated...)
	all = append(all, ch.pointers()...)
	if ch.opts.Select == nil {
		all = slices.AppendSeq(all, maps.Values(ch.foreign))
		all = append(all, ch.store.foreignFindings()...)
	}
	all = append(all, ch.conflicts(src)...)
	for i := range all {
		all[i].Commit = src.Name()
	}
	ch.report.AddAll(all)
	return len(all)
}

// pointers returns one finding for all blobs that are elsewhere, because that is normal in such a
// repository, and one for all that were fetched and are not checked out.
func (ch *checker) pointers() (all []Finding) {
	if !ch.verifier.pointers {
		return nil // no source had any
	}
	missing, fetched := ch.store.pointers()
	for _, of := range []struct {
		n    int
		text func(int) string
	}{{missing, blobs.PointersText}, {fetched, blobs.FetchedPointersText}} {
		if of.n > 0 {
			all = append(all, Finding{
				State: Unchecked, Path: ch.store.dir, Element: -1,
				Detail: of.text(of.n), Next: blobs.FetchPointers,
			})
		}
	}
	return all
}

func (ch *checker) conflicts(src Source) []Finding {
	c, ok := src.(Conflicter)
	if !ok {
		return nil
	}
	var all []Finding
	for _, name := range c.Conflicts() {
		if strings.HasPrefix(name, ch.dir+"/") {
			var conversation string
			if id, ok := events.ParseDirname(path.Base(path.Dir(name))); ok {
				conversation = id.String()
			}
			all = append(all, Finding{
				State: Conflicted, Path: name, Element: -1, Conversation: conversation,
				Detail: "is unmerged", Next: Resolve(conversation),
			})
		}
	}
	return all
}
