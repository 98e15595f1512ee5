package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A conv is one directory of a conversation, as in the last source that had it.
type conv struct {
	dir    string // from the root of the source
	id     events.ID
	stream gitint.OID // of events.json, zero if it cannot be read
	// found holds the findings on its files, dangling those on its references.
	found, dangling []Finding
	// suspect reports whether a reference has no file, exceeds the limit, or states another size
	// than another reference.
	suspect bool
	title   *string // nil until it is read
	left    bool    // it has no file of a conversation
}

func (c *conv) events() string { return path.Join(c.dir, workspace.EventsFile) }

// A reading is the examination of one conversation in one source.
type reading struct {
	*checker
	src Source
	c   *conv
}

// examine checks the files of a conversation, using the cache.
func (r reading) examine(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.unlisted[r.c.dir]; err != nil {
		f := Refused(r.c.dir, err)
		f.Severity, f.Commit, f.Conversation = f.State.Severity(), r.src.Name(), r.c.id.String()
		r.c.found = append(r.c.found, f)
		return nil
	}
	files := r.files()
	if r.c.left = files.isLeft(); r.c.left {
		return nil
	}
	r.report.Conversations++
	r.document(files, workspace.MetadataFile, (*refs.Cache).Details)
	r.document(files, workspace.BaseConfigFile, (*refs.Cache).JSON)
	if e, ok := files.file(workspace.EventsFile); ok {
		r.events(e)
	} else if _, ok := files.file(workspace.MessagesFile); !ok {
		r.malformed(workspace.EventsFile, &events.SyntaxError{Element: -1, Err: errMissing}, nil)
	}
	r.retitle()
	return nil
}

// files returns the files of the conversation, and directories in place of expected files: an empty
// directory is in no listing.
func (r reading) files() *folder {
	for _, name := range workspace.Files() {
		if _, ok := r.listed[r.c.dir].file(name); ok {
			continue
		}
		if r.isDirectory(path.Join(r.c.dir, name)) {
			r.hold(r.c.dir, Entry{Name: name, Mode: fs.ModeDir})
		}
	}
	return r.listed[r.c.dir]
}

func (r reading) isDirectory(dir string) bool {
	if _, ok := r.src.(objectSource); ok {
		return r.listed[dir] != nil // Git has no empty directories
	}
	_, err := r.src.List(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

var errMissing = errors.New("is missing, so jp moves the conversation to its trash")

// document checks a file other than the stream.
func (r reading) document(
	files *folder, name string,
	check func(*refs.Cache, gitint.OID, func() ([]byte, error)) (*events.SyntaxError, error),
) {
	e, ok := files.file(name)
	switch {
	case !ok && name == workspace.BaseConfigFile:
		return // conversations of 2025 do not have one
	case !ok:
		r.malformed(name, &events.SyntaxError{Element: -1, Err: errMissing}, nil)
		return
	}
	f, ok := r.open(e)
	if !ok {
		return
	}
	fault, err := check(r.cache, f.id, f.read)
	switch {
	case err != nil:
		r.unreadable(name, err)
	case fault != nil:
		r.malformed(name, fault, f.read)
	}
}

// A handle is a file that can be read, with the id of its content.
type handle struct {
	id   gitint.OID
	read func() ([]byte, error)
}

// open returns the handle of a file of the conversation. If the source has no id for it, or its
// object cannot be read, open reads the file to get the id or to report the error.
func (r reading) open(e Entry) (handle, bool) {
	name := path.Join(r.c.dir, e.Name)
	if !e.Mode.IsRegular() {
		r.malformed(e.Name, &events.SyntaxError{Element: -1, Err: errNoFile}, nil)
		return handle{}, false
	}
	read := func() ([]byte, error) { return r.src.ReadFile(name) }
	if !e.ID.IsZero() && !r.unread[e.ID] {
		return handle{e.ID, read}, true
	}
	data, err := read()
	if err != nil {
		r.unreadable(e.Name, err)
		return handle{}, false
	}
	return handle{cmp.Or(e.ID, refs.Sum(data)), func() ([]byte, error) { return data, nil }}, true
}

var errNoFile = errors.New("is not a regular file")

// events checks the stream and counts its references.
func (r reading) events(e Entry) {
	f, ok := r.open(e)
	if !ok {
		return
	}
	verdict, res, err := r.cache.Stream(f.id, f.read)
	if err != nil {
		r.unreadable(workspace.EventsFile, err)
		return
	}
	switch {
	case verdict.Err != nil:
		r.malformed(workspace.EventsFile, verdict.Err, f.read)
	case res.Err != nil:
		r.malformed(workspace.EventsFile, res.Err, f.read)
	case len(verdict.Open) > 0 && !r.isArchived():
		r.incomplete(verdict.Open, f.read)
	}
	r.dropped(verdict.Dropped, f.read)
	r.c.stream = f.id
	r.count(res.Refs)
}

func (r reading) count(all []events.RefAt) {
	limits := r.opts.limits()
	for _, at := range all {
		if !at.Counts() {
			continue
		}
		r.report.References++
		r.seek(at.Ref.Hash)
		b, well, first := r.store.refer(at.Ref)
		if !well || limits.Check(at.Ref.Size) != nil {
			r.c.suspect = true
		}
		if first {
			r.wanted = append(r.wanted, b)
		}
	}
}

// seek looks for a blob that is in no listing where else a lazy clone may have it.
func (r reading) seek(h blobs.Hash) {
	from, ok := r.src.(seeker)
	if !ok {
		return
	}
	if b := r.store.at(h); b.mode == absent && b.refs == 0 {
		if e, ok := from.Seek(context.Background(), r.store.path(h)); ok {
			r.store.set(h, e)
		}
	}
}

// forget undoes count. old is the source in which the conversation was examined. If the stream can
// no longer be read its blobs stay counted, which only costs time.
func (ch *checker) forget(old Source, c *conv) {
	if c.stream.IsZero() {
		return
	}
	res, err := ch.cache.References(c.stream, func() ([]byte, error) {
		return old.ReadFile(c.events())
	})
	if err != nil {
		return
	}
	for _, at := range res.Refs {
		if at.Counts() {
			ch.store.forget(at.Ref)
		}
	}
}

func (r reading) malformed(name string, fault *events.SyntaxError, read func() ([]byte, error)) {
	f := r.finding(Malformed, name)
	f.Element, f.Line = fault.Element, line(read, fault.Offset)
	f.Detail = "cannot be loaded: " + fault.Error()
	if errors.Is(fault.Err, errMissing) || errors.Is(fault.Err, errNoFile) {
		f.Detail = fault.Err.Error()
	}
	f.Next = earlier(f.Path)
	if errors.Is(fault.Err, blobs.ErrPointer) {
		f.Pointer, f.Detail = true, "cannot be loaded: "+fault.Err.Error()
		f.Next = blobs.FetchPointers
		if f.Commit != WorkTreeName {
			f.Detail = "cannot be loaded: it is stored in Git LFS"
			f.Next = OutOfLFS(f.Path)
		}
	}
	r.c.found = append(r.c.found, f)
}

func (r reading) unreadable(name string, err error) {
	f := r.finding(Unreadable, name)
	f.Detail, f.Next = "cannot be read: "+err.Error(), "git fsck --full"
	if IsRefused(r.src, err) {
		refused := Refused(f.Path, err)
		f.Detail, f.Next = refused.Detail, refused.Next
	}
	if over, ok := errors.AsType[*regular.SizeError](err); ok {
		f.Detail, f.Next = "cannot be read: "+over.Error(), earlier(f.Path)
	}
	if errors.Is(err, fs.ErrNotExist) && r.opts.partial() {
		f.State, f.Severity = Unchecked, Note
		f.Detail, f.Next = "was not fetched: this is a partial clone", Refetch
	}
	r.c.found = append(r.c.found, f)
}

// isArchived reports whether the conversation is in the archive: nobody continues it there, so that
// it ends in the middle of a turn, as sessions of agents do, will stay so.
func (r reading) isArchived() bool { return path.Base(path.Dir(r.c.dir)) == archiveName }

func (r reading) incomplete(open []refs.OpenCall, read func() ([]byte, error)) {
	f := r.finding(Incomplete, workspace.EventsFile)
	first := open[0]
	f.Turn, f.Element, f.Call, f.Tool = first.Turn+1, first.Element, first.ID, first.Tool
	f.Line = line(read, first.Offset)
	f.Detail = "has no response yet"
	if n := len(open) - 1; n > 0 {
		f.Detail = fmt.Sprintf("and %d more have no response yet", n)
	}
	f.Next = "git jp print --last=1 " + r.c.id.String()
	r.c.found = append(r.c.found, f)
}

// dropped notices what nothing else does: the content of the attachments has no reference any more.
func (r reading) dropped(all []refs.DroppedAt, read func() ([]byte, error)) {
	if len(all) == 0 {
		return
	}
	f := r.finding(Dropped, workspace.EventsFile)
	f.Turn, f.Element, f.Line = all[0].Turn+1, all[0].Element, line(read, all[0].Offset)
	f.Detail = "lacks the attachments of " + count(len(all), "request") + ", as after jp saved it"
	f.Next = "git jp repair"
	r.c.found = append(r.c.found, f)
}

// finding returns a new finding on a file of the conversation.
func (r reading) finding(s State, name string) Finding {
	return Finding{
		State: s, Severity: s.Severity(), Commit: r.src.Name(),
		Path: path.Join(r.c.dir, name), Element: -1,
		Conversation: r.c.id.String(),
	}
}

// retitle sets the title of the conversation in its findings.
func (r reading) retitle() {
	if len(r.c.found)+len(r.c.dangling) == 0 {
		return
	}
	title := r.title()
	for _, all := range [][]Finding{r.c.found, r.c.dangling} {
		for i := range all {
			all[i].Title = title
		}
	}
}

// title reads the title on first use, since only findings need it.
func (r reading) title() string {
	if r.c.title != nil {
		return *r.c.title
	}
	r.c.title = new(string)
	data, err := r.src.ReadFile(path.Join(r.c.dir, workspace.MetadataFile))
	if err != nil {
		return ""
	}
	d, _ := events.DecodeDetails(data)
	*r.c.title = d.Name()
	return *r.c.title
}

// line returns the line of an offset in a file, or 1 if it is unknown.
func line(read func() ([]byte, error), offset int64) int {
	if read == nil || offset <= 0 {
		return 1
	}
	data, err := read()
	if err != nil {
		return 1
	}
	return lineIn(data, offset)
}

func lineIn(data []byte, offset int64) int {
	n := 1
	for _, b := range data[:min(max(offset, 0), int64(len(data)))] {
		if b == '\n' {
			n++
		}
	}
	return n
}

// references computes the findings on the conversation's references.
func (r reading) references() error {
	r.c.dangling = nil
	if r.c.stream.IsZero() {
		return nil
	}
	read := func() ([]byte, error) { return r.src.ReadFile(r.c.events()) }
	res, err := r.cache.References(r.c.stream, read)
	if err != nil {
		return fmt.Errorf("read %s:%s again: %w", r.src.Name(), r.c.events(), err)
	}
	var data []byte // of the file, for line numbers
	seen := make(map[blobs.Hash]int)
	for _, at := range res.Refs {
		if !at.Counts() {
			continue
		}
		f, bad := r.reference(at)
		if !bad {
			continue
		}
		if i, ok := seen[at.Ref.Hash]; ok {
			r.c.dangling[i].References++
			continue
		}
		if data == nil {
			if data, err = read(); err != nil {
				data = []byte{}
			}
		}
		f.Line = lineIn(data, at.Offset)
		seen[at.Ref.Hash] = len(r.c.dangling)
		r.c.dangling = append(r.c.dangling, f)
	}
	r.retitle()
	return nil
}

// reference checks one reference.
func (r reading) reference(at events.RefAt) (_ Finding, bad bool) {
	f := r.finding(Missing, workspace.EventsFile)
	f.Turn, f.Element, f.Call, f.Tool = at.Turn+1, at.Element, at.Call, at.Tool
	f.Hash, f.Size, f.References = at.Ref.Hash, at.Ref.Size, 1
	b := r.store.at(at.Ref.Hash)
	switch {
	case r.opts.limits().Check(at.Ref.Size) != nil:
		f.State = Oversize
		f.Detail = "is larger than the limit of " + bytesText(r.opts.limits().Max())
	case b.mode == absent:
		f.Detail, f.Next = "is not in "+r.where(), AskAuthor(f.Conversation)
	case b.verdict.fits(at.Ref):
		return Finding{}, false
	case b.verdict.state != "":
		f.State, f.Detail, f.Next = b.verdict.state, b.verdict.detail, b.verdict.next
		if f.Next == "" && f.State != Unchecked {
			f.Next = AskAuthor(f.Conversation)
		}
	default:
		f.State, f.Next = SizeMismatch, earlier(f.Path)
		f.Detail = "has " + bytesText(b.verdict.size) + " in fact"
	}
	f.Severity = f.State.Severity()
	return f, true
}

// where describes the source in a sentence.
func (r reading) where() string {
	switch name := r.src.Name(); name {
	case IndexName, WorkTreeName:
		return "the " + name
	default:
		return "the commit"
	}
}
