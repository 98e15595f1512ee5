package attach

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Reaches reports whether a foreign attachment reaches files that its author may not have: one that
// Admits refuses, one that git ignores, or a conversation that only the user has. A pattern or a
// directory never does, since it is restricted to admitted files.
func (r *Resolver) Reaches(a string) bool {
	switch {
	case events.URIScheme(a) == schemeFile:
		s, err := parseFile(a)
		if err != nil || s.exclude {
			return false
		}
		real, _, err := r.o.Files.Tree.Path(s.uri)
		if err != nil || s.ignored {
			return true
		}
		rel, info, err := r.o.Files.Tree.Stat(real)
		return err == nil && !info.IsDir() && !r.admits(a, rel) ||
			err != nil && !errors.Is(err, fs.ErrNotExist)
	case events.URIScheme(a) == schemeJP && r.o.Conversations != nil:
		ref, err := parseReference(a)
		if err != nil {
			return false
		}
		e, err := r.o.Conversations.Find(ref.id.String(), workspace.FindOptions{
			ListOptions: workspace.ListOptions{Archived: true, Local: true},
		})
		return err == nil && e.Local
	}
	return false
}

// Withholds reports whether a pattern or a directory has files that are not admitted.
func (r *Resolver) Withholds(ctx context.Context, a string) bool {
	if !file.IsURI(a) || r.o.Admits == nil {
		return false
	}
	withheld := false
	all := New(r.o)
	all.o.Admits = func(_, name string) bool {
		withheld = withheld || !r.o.Admits(a, name)
		return false // so that no file is read
	}
	_, _ = all.files(ctx, a, nil) // always empty
	return withheld
}

// FileNamed returns the file of the workspace that a file: attachment names, if it is a single file
// and the attachment does not say that it is ignored by git.
func FileNamed(a string, tree *file.Tree) (string, bool) {
	if !file.IsURI(a) {
		return "", false
	}
	s, err := parseFile(a)
	if err != nil || s.exclude || s.ignored {
		return "", false
	}
	real, _, err := tree.Path(s.uri)
	if err != nil {
		return "", false
	}
	rel, info, err := tree.Stat(real)
	return filepath.ToSlash(rel), err == nil && info.Mode().IsRegular()
}
