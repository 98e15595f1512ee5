package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// FindOptions says where to search for a conversation and what "." means.
type FindOptions struct {
	ListOptions
	Session *Session // for "." and "-"; nil if there is none
}

// Find returns the conversation that arg names: "." or "-" for the active and the previous one, an
// id in any form, a prefix of its digits, a path at or below its directory, or words that all occur
// in its title. The error is a [*NotFoundError] or an [*AmbiguousError].
func (w *Workspace) Find(arg string, o FindOptions) (Entry, error) {
	if arg == "." || arg == "-" {
		return w.findRecent(arg, o.Session)
	}
	if id, err := events.ParseID(arg); err == nil {
		found, _, err := w.listOf(o.ListOptions, func(is events.ID) bool { return is == id })
		if err != nil {
			return Entry{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	entries, problems, err := w.List(o.ListOptions)
	if err != nil {
		return Entry{}, err
	}
	for _, candidates := range []func(string, []Entry) []Candidate{
		w.byDigits, w.byPath, w.byTitle,
	} {
		switch found := candidates(arg, entries); len(found) {
		case 0:
		case 1:
			return found[0].Entry, nil
		default:
			return Entry{}, w.ambiguous(arg, found)
		}
	}
	if err := Unlisted(problems); err != nil {
		return Entry{}, fmt.Errorf("find conversation %q: %w", arg, err)
	}
	return Entry{}, w.notFound(arg, problems)
}

// notFound returns the error for a name that no conversation has. It names what is in a directory
// whose conversation was removed: git left it there because of files of others.
func (w *Workspace) notFound(arg string, problems []Problem) error {
	for _, p := range problems {
		left := []Entry{{ID: p.ID}}
		if len(p.Files) > 0 && len(w.byDigits(arg, left))+len(w.byPath(arg, left)) > 0 {
			return &NotFoundError{arg, p.Path, p.Files}
		}
	}
	return &NotFoundError{Arg: arg}
}

func (w *Workspace) findRecent(arg string, s *Session) (Entry, error) {
	switch {
	case s == nil:
		return Entry{}, &NotFoundError{Arg: arg}
	case arg == ".":
		return w.Active(*s)
	default:
		return w.Previous(*s)
	}
}

// byDigits also accepts a prefix of the printed form, jp-c178….
func (w *Workspace) byDigits(arg string, entries []Entry) []Candidate {
	digits := strings.TrimPrefix(arg, "jp-c")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	var found []Candidate
	for _, e := range entries {
		if strings.HasPrefix(e.ID.Digits(), digits) {
			found = append(found, Candidate{Entry: e})
		}
	}
	return found
}

// byPath accepts a path in or to a conversation's directory, also under a former name, and the bare
// name of the directory.
func (w *Workspace) byPath(arg string, entries []Entry) []Candidate {
	if !strings.ContainsAny(arg, `/\`) {
		id, ok := events.ParseDirname(arg)
		if !ok || !strings.Contains(arg, "-") {
			return nil
		}
		return withID(id, entries)
	}
	if filepath.IsLocal(arg) && !regular.Exists(w.env.abs(arg)) {
		return nil // words with a slash
	}
	path := w.resolve(arg)
	for _, s := range w.stores() {
		for _, p := range []Partition{Archive, Live} {
			dir := filepath.Join(s.dir, filepath.FromSlash(p.Dir()))
			rest, err := filepath.Rel(regular.Resolved(dir), path)
			if err != nil || !filepath.IsLocal(rest) {
				continue
			}
			name, _, _ := strings.Cut(filepath.ToSlash(rest), "/")
			if id, ok := events.ParseDirname(name); ok {
				return withID(id, entries)
			}
		}
	}
	return nil
}

// resolve makes arg absolute. It resolves symlinks in the part that exists, because the working
// directory may have been reached through one.
func (w *Workspace) resolve(arg string) string {
	path := filepath.Clean(w.env.abs(filepath.FromSlash(arg)))
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func withID(id events.ID, entries []Entry) []Candidate {
	var found []Candidate
	for _, e := range entries {
		if e.ID == id {
			found = append(found, Candidate{Entry: e})
		}
	}
	return found
}

// byTitle reads the metadata of every conversation. Unreadable metadata has no title. A full title
// matches only itself; otherwise a title that is part of another one could not be named.
func (w *Workspace) byTitle(arg string, entries []Entry) []Candidate {
	words := strings.Fields(strings.ToLower(arg))
	if len(words) == 0 {
		return nil
	}
	var found, whole []Candidate
	for _, e := range entries {
		d, err := w.LoadDetails(e)
		if err != nil {
			continue
		}
		title := strings.ToLower(d.Name())
		lacks := func(word string) bool { return !strings.Contains(title, word) }
		if !slices.ContainsFunc(words, lacks) {
			found = append(found, Candidate{Entry: e, Title: d.Name()})
		}
		if slices.Equal(strings.Fields(title), words) {
			whole = append(whole, Candidate{Entry: e, Title: d.Name()})
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return found
}

func (w *Workspace) ambiguous(arg string, found []Candidate) error {
	for i, c := range found {
		if d, err := w.LoadDetails(c.Entry); err == nil {
			found[i].Title = d.Name()
		}
	}
	return &AmbiguousError{Arg: arg, Candidates: found}
}
