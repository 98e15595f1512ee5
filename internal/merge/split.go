package merge

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Version holds the files of a conversation in one place; a missing file is nil.
type Version struct {
	Dir                          string // from the root of the working tree
	Stream, Metadata, BaseConfig []byte
}

func (v *Version) file(name string) *[]byte {
	switch name {
	case workspace.EventsFile:
		return &v.Stream
	case workspace.MetadataFile:
		return &v.Metadata
	case workspace.BaseConfigFile:
		return &v.BaseConfig
	default:
		return new([]byte)
	}
}

// A Split is a conversation in several directories, for example because both sides changed its
// title, with its versions in the combined commits.
type Split struct {
	// Ours is the directory of our side, or "" if it is unknown.
	Ours string
	// Base is the version of the merge base and Theirs that of theirs; nil if unknown.
	Base, Theirs *Version
	// Waits reports whether git stopped for a person.
	Waits bool
}

// SplitOf returns the versions that git has of a conversation with several directories in the
// index, or nil if no operation is in progress. For a stash other than the latest only the record
// of a conflict has their version.
func SplitOf(ctx context.Context, repo *gitint.Repo, at Place) (*Split, error) {
	sides, err := SidesOf(ctx, repo)
	if err != nil {
		return nil, err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	f := newFamily(repo, at.Dir)
	ours, unmerged := oursIn(index, at.ID)
	if sides == nil {
		if sides, err = f.unnoted(ctx, index, at); err != nil {
			return nil, err
		}
	}
	switch {
	case sides == nil && !unmerged:
		return nil, nil
	case sides == nil:
		s := &Split{Ours: ours, Waits: true}
		return s, s.recorded(ctx, repo, at.ID)
	}
	s, err := f.split(ctx, sides, at.ID)
	if s != nil && ours != "" {
		s.Ours = ours
	}
	return s, err
}

// oursIn returns the directory of our unmerged stage of a conversation in the index, and whether
// any of its files is unmerged.
func oursIn(index *gitint.Index, id events.ID) (dir string, unmerged bool) {
	for _, e := range index.Stages() {
		home, _, of := homeOf(e.Path)
		if of != id {
			continue
		}
		unmerged = true
		if e.Stage == stageOurs {
			dir = home
		}
	}
	return dir, unmerged
}

// SplitBetween returns what two commits know of a conversation that has several directories in the
// result of combining them. The base counts only if each side had one of these.
func SplitBetween(
	ctx context.Context, repo *gitint.Repo, sides *Sides, at Place,
) (*Split, error) {
	f := newFamily(repo, at.Dir)
	s, err := f.split(ctx, sides, at.ID)
	if err != nil || s.Ours == "" || s.Theirs == nil {
		return &Split{}, err
	}
	if had := []string{s.Ours, s.Theirs.Dir}; !sameNames(had, at.In) {
		s.Base = nil
	}
	s.Theirs = nil // it is in one of the directories and may have been decided differently
	return s, nil
}

// A Place names the directories of one conversation below a directory .jp.
type Place struct {
	Dir string
	ID  events.ID
	In  []string // from the root of the working tree
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// split reads a conversation from the commits of sides.
func (f *family) split(ctx context.Context, sides *Sides, id events.ID) (*Split, error) {
	s := &Split{Waits: sides.Waits}
	ours, err := f.version(ctx, sides.Ours, id)
	if err == nil {
		s.Theirs, err = f.version(ctx, sides.Theirs, id)
	}
	if err == nil {
		s.Base, err = f.version(ctx, sides.Base, id)
	}
	if ours != nil {
		s.Ours = ours.Dir
	}
	return s, err
}

// recorded reads their stream from the record of a conflict.
func (s *Split) recorded(ctx context.Context, repo *gitint.Repo, id events.ID) error {
	records, err := Open(ctx, repo, ".")
	for _, r := range records {
		if conversationOf(r.Path) == id {
			s.Theirs = &Version{Stream: r.Theirs}
		}
	}
	return err
}

// version returns a conversation in a commit, or nil unless it has a single directory there.
func (f *family) version(
	ctx context.Context, commit gitint.OID, id events.ID,
) (*Version, error) {
	if commit.IsZero() {
		return nil, nil
	}
	h, err := f.at(ctx, commit)
	if err != nil || len(h.dirs[id]) != 1 {
		return nil, err
	}
	v := &Version{Dir: h.dirs[id][0]}
	for _, name := range workspace.Files() {
		data, err := h.read(id, name)
		if err != nil {
			return nil, err
		}
		*v.file(name) = data
	}
	return v, nil
}

// ArchivedApart reports whether a conversation, which now has one directory, was archived by one of
// two sides and continued by the other, where it was not archived.
func ArchivedApart(
	ctx context.Context, repo *gitint.Repo, sides *Sides, at Place,
) (bool, error) {
	if !archived(at.In[0]) {
		return false, nil
	}
	f := newFamily(repo, at.Dir)
	var all [3]*Version
	for i, commit := range []gitint.OID{sides.Base, sides.Ours, sides.Theirs} {
		var err error
		if all[i], err = f.version(ctx, commit, at.ID); err != nil || all[i] == nil {
			return false, err
		}
	}
	base, ours, theirs := all[0], all[1], all[2]
	grew := func(v *Version) bool { return !bytes.Equal(v.Stream, base.Stream) }
	switch {
	case archived(base.Dir):
		return false, nil
	case archived(ours.Dir):
		return grew(theirs), nil // after a rebase theirs is the result of both
	default:
		return grew(ours), nil
	}
}

// archived reports whether a directory of a conversation is in the archive.
func archived(dir string) bool {
	return strings.HasSuffix(path.Dir(dir), "/"+conversationDirs[1])
}
