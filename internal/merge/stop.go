package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Stop is what git was doing when it stopped for a person: it brings to HEAD what one
// commit has and another has not.
type Stop struct {
	Base, Theirs gitint.OID // Base is zero where they have nothing in common
}

// Stopped reports whether git waits for a person, by files alone.
func Stopped(repo *gitint.Repo) bool {
	return len(stopHeads(repo)) > 0
}

// A stopHead is where git notes the commit of what it is doing.
type stopHead struct{ file, base, theirs string }

// stopHeads returns those that there are.
func stopHeads(repo *gitint.Repo) []stopHead {
	return slices.DeleteFunc([]stopHead{
		{"MERGE_HEAD", "", "MERGE_HEAD"},
		{"CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD^", "CHERRY_PICK_HEAD"},
		{"REVERT_HEAD", "REVERT_HEAD", "REVERT_HEAD^"},
		// REBASE_HEAD may stay behind, the directory does not.
		{"rebase-merge", "REBASE_HEAD^", "REBASE_HEAD"},
		{"rebase-apply", "REBASE_HEAD^", "REBASE_HEAD"},
	}, func(h stopHead) bool {
		_, err := os.Lstat(filepath.Join(repo.GitDir(), h.file))
		return err != nil
	})
}

// StopOf returns what git stopped at, nil where it did not.
func StopOf(ctx context.Context, repo *gitint.Repo) (*Stop, error) {
	for _, head := range stopHeads(repo) {
		s := &Stop{}
		var err error
		if s.Theirs, err = repo.Resolve(ctx, head.theirs); errors.Is(
			err, gitint.ErrUnknownRevision) {
			continue // a rebase that has not begun, or of a first commit
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", head.theirs, err)
		}
		if head.base == "" {
			s.Base, err = commonWithHead(ctx, repo, s.Theirs)
		} else if s.Base, err = repo.Resolve(ctx, head.base); errors.Is(
			err, gitint.ErrUnknownRevision) {
			err = nil // a first commit
		}
		return s, err
	}
	return nil, nil
}

func commonWithHead(
	ctx context.Context, repo *gitint.Repo, theirs gitint.OID,
) (gitint.OID, error) {
	ours, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return gitint.OID{}, err
	}
	bases, err := repo.MergeBases(ctx, theirs, ours)
	if err != nil || len(bases) == 0 {
		return gitint.OID{}, err
	}
	return bases[0], nil
}

// A Version is the files of a conversation in one place, each nil where there is none.
type Version struct {
	Dir                          string // from the root of the work tree
	Stream, Metadata, BaseConfig []byte
}

// conversationFiles are the names of a conversation's files.
var conversationFiles = [...]string{
	workspace.MetadataFile, workspace.BaseConfigFile, workspace.EventsFile,
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

// A Split is a conversation that a merge left in several directories, as when both sides gave
// it another title, and what git knows of it.
type Split struct {
	// Ours is the directory of our side, "" where that cannot be told.
	Ours string
	// Base is what the sides had in common, Theirs what theirs has, nil where nobody knows.
	Base, Theirs *Version
}

// SplitOf says what git knows of a conversation that is in several directories of the index,
// nil where git is not in the middle of something. What a stash has is known by the index
// alone, and by the record of a conflict.
func SplitOf(
	ctx context.Context, repo *gitint.Repo, dir string, id events.ID,
) (*Split, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	s := &Split{}
	if err := s.staged(ctx, repo, index, id); err != nil {
		return nil, err
	}
	stop, err := StopOf(ctx, repo)
	switch {
	case err != nil || stop == nil && s.Ours == "":
		return nil, err
	case stop == nil:
		return s, s.recorded(ctx, repo, id)
	}
	f := newFamily(repo, dir)
	if s.Theirs, err = f.version(ctx, stop.Theirs, id); err == nil && s.Base == nil {
		s.Base, err = f.version(ctx, stop.Base, id)
	}
	if err == nil && s.Ours == "" {
		var ours gitint.OID
		var v *Version
		if ours, err = repo.Resolve(ctx, "HEAD"); err == nil {
			if v, err = f.version(ctx, ours, id); v != nil {
				s.Ours = v.Dir
			}
		}
	}
	return s, err
}

// staged reads what the index has unmerged: the base, of which git made one where there were
// several, and the directory of ours.
func (s *Split) staged(
	ctx context.Context, repo *gitint.Repo, index *gitint.Index, id events.ID,
) error {
	for _, e := range index.Stages() {
		if conversationOf(e.Path) != id {
			continue
		}
		switch e.Stage {
		case stageOurs:
			s.Ours = path.Dir(e.Path)
		case stageBase:
			data, err := repo.ReadObject(ctx, e.OID, 0)
			if err != nil {
				return err
			}
			if s.Base == nil {
				s.Base = &Version{Dir: path.Dir(e.Path)}
			}
			*s.Base.file(path.Base(e.Path)) = data
		}
	}
	return nil
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

// version is a conversation in a commit, nil where it is not in one directory of it.
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
	for _, name := range conversationFiles {
		data, err := h.read(id, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		*v.file(name) = data
	}
	return v, nil
}
