package leaks

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Entries are a workspace's committed files about secrets.
type Entries struct {
	Committed  secrets.Committed
	Allowed    map[string]secrets.Allowed // by fingerprint
	Redactions secrets.Redactions
	// Redacted are the same, as they were written.
	Redacted []secrets.Redaction
	// Problems are files that are not read.
	Problems []check.Finding
}

// maxEntries is how many entries of a kind are read.
const maxEntries = 100_000

// ReadEntries reads the entries of the workspace dir of a source.
func ReadEntries(src check.Source, dir string) (*Entries, error) {
	r := entryReader{src: src, dir: dir, entries: &Entries{
		Allowed: map[string]secrets.Allowed{}, Redactions: secrets.Redactions{},
	}}
	top, err := list(src, path.Join(dir, secrets.Dir))
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		name := path.Join(secrets.Dir, e.Name)
		switch {
		case name == secrets.RulesFile:
			r.file(name, e, r.rules)
		case name == secrets.AllowedDir && e.Mode.IsDir():
			err = r.each(name, r.allowed)
		case name == secrets.RedactedDir && e.Mode.IsDir():
			err = r.each(name, r.redacted)
		default:
			r.problem(name, errors.New("is not a file of secrets"))
		}
		if err != nil {
			return nil, err
		}
	}
	return r.entries, nil
}

// EntriesOf reads the entries in the working tree of a workspace.
func EntriesOf(w *workspace.Workspace) (*Entries, error) {
	src, err := check.OpenWorkTree(w.Root(), w.Limits())
	if err != nil {
		return nil, err
	}
	entries, err := ReadEntries(src, workspace.DirName)
	return entries, errors.Join(err, src.Close())
}

// list lists a directory; a missing one is empty.
func list(src check.Source, dir string) ([]check.Entry, error) {
	entries, err := src.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s:%s: %w", src.Name(), dir, err)
	}
	return entries, nil
}

type entryReader struct {
	src     check.Source
	dir     string
	entries *Entries
}

func (r *entryReader) each(dir string, parse func(name string, data []byte) error) error {
	all, err := list(r.src, path.Join(r.dir, dir))
	if err != nil {
		return err
	}
	for i, e := range all {
		if i == maxEntries {
			r.problem(dir, fmt.Errorf("has %d entries, of which %d are read", len(all), maxEntries))
			break
		}
		r.file(path.Join(dir, e.Name), e, parse)
	}
	return nil
}

func (r *entryReader) file(name string, e check.Entry, parse func(string, []byte) error) {
	if !e.Mode.IsRegular() {
		r.problem(name, errors.New("is not a regular file"))
		return
	}
	data, err := r.src.ReadFile(path.Join(r.dir, name))
	if err == nil {
		err = parse(name, data)
	}
	if err != nil {
		r.problem(name, fmt.Errorf("counts for nothing: %w", err))
	}
}

func (r *entryReader) problem(name string, err error) {
	r.entries.Problems = append(r.entries.Problems, check.Finding{
		State: check.Foreign, Commit: r.src.Name(), Path: path.Join(r.dir, name), Element: -1,
		Detail: err.Error(),
	})
}

func (r *entryReader) rules(_ string, data []byte) (err error) {
	r.entries.Committed, err = secrets.ParseRules(data)
	return err
}

func (r *entryReader) allowed(name string, data []byte) error {
	a, err := secrets.ParseAllowed(name, data)
	if err == nil {
		r.entries.Allowed[a.Fingerprint()] = a
	}
	return err
}

func (r *entryReader) redacted(name string, data []byte) error {
	entry, err := secrets.ParseRedaction(name, data)
	if err == nil {
		r.entries.Redactions.Add(entry)
		r.entries.Redacted = append(r.entries.Redacted, entry)
	}
	return err
}

// isConversation reports whether an entry of a workspace's directory is a directory of a
// conversation.
func isConversation(e check.Entry) bool {
	return e.Mode.IsDir() && !strings.HasPrefix(e.Name, ".")
}
