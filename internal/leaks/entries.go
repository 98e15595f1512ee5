package leaks

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Entries are a workspace's committed files about secrets.
type Entries struct {
	Committed  secrets.Committed
	Allowed    map[string]secrets.Allowed // by fingerprint
	Redactions secrets.Redactions
	// Redacted lists the entries of Redactions as they were written.
	Redacted []secrets.Redaction
	// Problems reports the files that are ignored.
	Problems []check.Finding
}

// maxEntries is the number of entries of each kind that are read.
const maxEntries = 100_000

// ReadEntries reads the entries of the workspace dir of a source. For a working tree, left reads
// the entries that a sparse checkout leaves out, see [LeftOut]; for other sources it is nil.
func ReadEntries(src check.Source, dir string, left LeftOut) (*Entries, error) {
	r := newReader(src, dir, left, nil)
	return r.all(r.rules, r.readAllowed, r.readRedacted)
}

// ReadRedactions is [ReadEntries] without rules and allowed findings. It skips the names for which
// known is true, unless known is nil.
func ReadRedactions(
	src check.Source, dir string, left LeftOut, known func(name string) bool,
) (*Entries, error) {
	r := newReader(src, dir, left, nil)
	r.known = known
	return r.redactions()
}

// EntriesOf reads the entries of the working tree of a workspace.
func EntriesOf(w *workspace.Workspace) (*Entries, error) {
	return entriesOf(w, ReadEntries)
}

// RedactionsOf is [EntriesOf] for redactions alone. A memo may be nil.
func RedactionsOf(w *workspace.Workspace, m *Memo) (*Entries, error) {
	return entriesOf(w, func(src check.Source, dir string, left LeftOut) (*Entries, error) {
		return newReader(src, dir, left, m).redactions()
	})
}

func entriesOf(
	w *workspace.Workspace, read func(check.Source, string, LeftOut) (*Entries, error),
) (*Entries, error) {
	src, err := check.OpenWorkTree(w.Root(), w.Limits())
	if err != nil {
		return nil, err
	}
	entries, err := read(src, workspace.DirName, w)
	return entries, errors.Join(err, src.Close())
}

// A Memo caches parsed entries, so that a command that needs the same entries several times reads
// each file once. The name of an entry determines its content, so a valid entry is not read again.
// A Memo is not safe for concurrent use.
type Memo struct {
	allowed  map[string]secrets.Allowed // by path below .jp, and object name
	redacted map[string]secrets.Redaction
	reads    int
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{
		allowed: map[string]secrets.Allowed{}, redacted: map[string]secrets.Redaction{},
	}
}

// Reads returns how many files were read, for tests of the cost.
func (m *Memo) Reads() int { return m.reads }

// list lists a directory; a missing one is empty.
func list(src check.Source, dir string) ([]check.Entry, error) {
	entries, err := src.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, check.ListError(src, dir, err)
	}
	return entries, nil
}

// An entryReader reads the entries of one tree. All code that reads entries uses it, so that files
// that a sparse checkout leaves out, unexpected files and limits are handled in one place.
type entryReader struct {
	src   check.Source
	dir   string
	left  LeftOut
	memo  *Memo
	known func(name string) bool // skips a file, by its path below .jp
	// reports says that a directory that the operating system does not list, or a file that it does
	// not read, is a problem. Otherwise it is an error: nothing may be written without the
	// redactions in it.
	reports bool
	entries *Entries
}

func newReader(src check.Source, dir string, left LeftOut, m *Memo) *entryReader {
	if m == nil {
		m = NewMemo()
	}
	return &entryReader{src: src, dir: dir, left: left, memo: m, entries: &Entries{
		Allowed: map[string]secrets.Allowed{}, Redactions: secrets.Redactions{},
	}}
}

// A handler processes an entry. It calls read if it needs the content.
type handler func(name string, e check.Entry, read func() ([]byte, error)) error

// all calls a handler for each entry of its kind; a nil handler skips the kind.
func (r *entryReader) all(rules, allowed, redacted handler) (*Entries, error) {
	top, err := r.list(secrets.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		name := path.Join(secrets.Dir, e.Name)
		switch {
		case name == secrets.RulesFile:
			err = r.handle(name, e, rules, func() ([]byte, error) { return r.read(name) })
		case name == secrets.AllowedDir && r.isDir(e):
			err = r.each(name, allowed)
		case name == secrets.RedactedDir && r.isDir(e):
			err = r.each(name, redacted)
		default:
			r.problem(name, errors.New(
				"is ignored: this version knows only rules.toml, allowed and redacted"))
		}
		if err != nil {
			return nil, err
		}
	}
	return r.entries, nil
}

func (r *entryReader) redactions() (*Entries, error) { return r.all(nil, nil, r.readRedacted) }

// isDir reports whether to list an entry as a directory. In a working tree that is done whatever it
// is, since the operating system says why it cannot be.
func (r *entryReader) isDir(e check.Entry) bool {
	return e.Mode.IsDir() || r.src.Name() == check.WorkTreeName
}

// list lists a directory below .jp, with the files that a sparse checkout leaves out.
func (r *entryReader) list(name string) ([]check.Entry, error) {
	all, err := list(r.src, path.Join(r.dir, name))
	if err != nil {
		return nil, r.unlisted(name, err)
	}
	return r.withLeft(name, all)
}

// unlisted handles the error of listing a directory below .jp.
func (r *entryReader) unlisted(name string, err error) error {
	if !r.reports && errors.Is(err, gitint.ErrNotDir) {
		return nil // a commit has no redactions there
	}
	if !r.reports || !check.IsRefused(r.src, err) {
		return err
	}
	f := check.Unlisted(r.src, path.Join(r.dir, name), err)
	f.Commit = r.src.Name()
	r.entries.Problems = append(r.entries.Problems, f)
	return nil
}

// read reads a file below .jp, also if a sparse checkout leaves it out.
func (r *entryReader) read(name string) ([]byte, error) {
	data, err := r.src.ReadFile(path.Join(r.dir, name))
	if r.left != nil && errors.Is(err, fs.ErrNotExist) {
		return r.left.ReadLeftOut(path.Join(r.dir, name))
	}
	return data, err
}

// each calls a handler for each entry in a directory.
func (r *entryReader) each(dir string, h handler) error {
	if h == nil {
		return nil
	}
	at := path.Join(r.dir, dir)
	open, err := check.OpenDirectory(r.src, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		open = &check.Directory{}
	case err != nil:
		return r.unlisted(dir, check.ListError(r.src, at, err))
	}
	defer open.Close() //nolint:errcheck // was only read
	all, err := r.withLeft(dir, open.Entries)
	if err != nil {
		return err
	}
	for i, e := range all {
		if i == maxEntries {
			r.problem(dir, fmt.Errorf("has %d entries, of which %d are read", len(all), maxEntries))
			break
		}
		name := path.Join(dir, e.Name)
		err := r.handle(name, e, h, func() ([]byte, error) {
			if i >= len(open.Entries) {
				return r.read(name)
			}
			return open.Read(e.Name, secrets.MaxFile)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// handle calls a handler for a regular file. What a file of the working tree says is unknown, and
// not nothing, if it cannot be read or was not fetched.
func (r *entryReader) handle(
	name string, e check.Entry, h handler, read func() ([]byte, error),
) error {
	switch {
	case h == nil:
		return nil
	case !e.Mode.IsRegular():
		r.problem(name, errors.New("is not a regular file"))
		return nil
	case r.known != nil && r.known(name):
		return nil
	}
	err := h(name, e, func() ([]byte, error) {
		data, err := read()
		if err == nil && blobs.IsPointer(data) {
			err = blobs.ErrPointer
		}
		return data, err
	})
	at, refused := path.Join(r.dir, name), check.IsRefused(r.src, err)
	pointer := errors.Is(err, blobs.ErrPointer) && r.src.Name() == check.WorkTreeName
	switch {
	case err == nil:
	case (refused || pointer) && !r.reports:
		return check.ReadError(r.src, at, err)
	case refused:
		f := check.Refused(at, err)
		f.Commit = r.src.Name()
		r.entries.Problems = append(r.entries.Problems, f)
	default:
		r.problem(name, fmt.Errorf("is ignored: %w", err))
	}
	return nil
}

func (r *entryReader) problem(name string, err error) {
	f := check.Finding{
		State: check.Foreign, Commit: r.src.Name(), Path: path.Join(r.dir, name), Element: -1,
		Detail: err.Error(),
	}
	switch {
	case errors.Is(err, blobs.ErrPointer):
		f.Next = blobs.FetchPointers
	case errors.Is(err, errLater):
		f.Next = check.Origin(f.Path)
	case name == secrets.RulesFile: // without it other rules would not count either
		f.Next = "correct the file, then 'git add' it"
	}
	r.entries.Problems = append(r.entries.Problems, f)
}

func (r *entryReader) rules(_ string, _ check.Entry, read func() ([]byte, error)) error {
	data, err := read()
	if err == nil {
		r.entries.Committed, err = secrets.ParseRules(data)
	}
	for _, fault := range r.entries.Committed.Faults {
		r.problem(secrets.RulesFile, fmt.Errorf("is ignored in part: %w", fault))
	}
	if later := r.entries.Committed.Later; len(later) > 0 {
		r.problem(secrets.RulesFile, fmt.Errorf("%w: %s", errLater, strings.Join(later, ", ")))
	}
	return err
}

// errLater reports what this version does not know, and a later one may.
var errLater = errors.New("has what this version does not know")

func (r *entryReader) readAllowed(
	name string, e check.Entry, read func() ([]byte, error),
) error {
	a, err := r.memo.readAllowed(name, e, read)
	if err == nil {
		r.entries.Allowed[a.Fingerprint()] = a
	}
	return err
}

func (r *entryReader) readRedacted(
	name string, e check.Entry, read func() ([]byte, error),
) error {
	entry, err := r.memo.readRedacted(name, e, read)
	if err == nil {
		r.entries.Redactions.Add(entry)
		r.entries.Redacted = append(r.entries.Redacted, entry)
	}
	return err
}

func (m *Memo) readAllowed(
	name string, e check.Entry, read func() ([]byte, error),
) (secrets.Allowed, error) {
	return parsed(m, m.allowed, versionOf(name, e), func() (a secrets.Allowed, err error) {
		data, err := read()
		if err == nil {
			a, err = secrets.ParseAllowed(name, data)
		}
		return a, err
	})
}

func (m *Memo) readRedacted(
	name string, e check.Entry, read func() ([]byte, error),
) (secrets.Redaction, error) {
	return parsed(m, m.redacted, versionOf(name, e), func() (r secrets.Redaction, err error) {
		data, err := read()
		if err == nil {
			r, err = secrets.ParseRedaction(name, data)
		}
		return r, err
	})
}

// parsed returns a version of an entry, which read reads and parses unless known has it.
func parsed[T any](
	m *Memo, known map[string]T, version string, read func() (T, error),
) (T, error) {
	if is, ok := known[version]; ok {
		return is, nil
	}
	m.reads++
	is, err := read()
	if err == nil {
		known[version] = is
	}
	return is, err
}

// versionOf identifies a version of an entry: its path below .jp, and its object name.
func versionOf(name string, e check.Entry) string { return name + " " + e.ID.String() }

// isConversation reports whether an entry of a workspace's directory is a directory of a
// conversation.
func isConversation(e check.Entry) bool {
	return e.Mode.IsDir() && !strings.HasPrefix(e.Name, ".")
}
