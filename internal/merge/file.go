package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Kind is a kind of file with its own merge driver.
type Kind string

// The kinds, by the names of the drivers in git's configuration.
const (
	Events   Kind = "events"
	Metadata Kind = "metadata"
	Config   Kind = "config"
	Blob     Kind = "blob"

	// Beside is the kind of a file beside conversations, such as a redaction entry, for which git
	// calls no driver.
	Beside Kind = "beside"
)

// A File holds three versions of a file. One that is nil does not exist. One that is empty was cut
// and cannot be read: nobody removed what it lacks.
type File struct {
	Kind               Kind
	Path               string // slash path below the root of the working tree
	Base, Ours, Theirs []byte
	// Configs holds the base configurations beside the three versions of a stream, nil if unknown.
	Configs [3][]byte
	// Details holds the metadata beside them, for imported conversations.
	Details [3][]byte
	// Virtual reports whether git is merging two bases of a criss-cross merge.
	Virtual bool
}

// A Merged is the result of merging a file.
type Merged struct {
	Data      []byte
	Conflicts []threeway.Conflict
	Warnings  []string
}

// errKind reports a driver in git's configuration that this release does not have.
var errKind = errors.New("no such kind of file")

// Merge merges a file. An error means that there is no result.
func (f File) Merge() (*Merged, error) {
	m, err := f.merge()
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", f.Path, err)
	}
	return m, nil
}

func (f File) merge() (*Merged, error) {
	switch f.Kind {
	case Events:
		return f.streams()
	case Metadata:
		f.redactNames()
		data, err := threeway.Metadata(f.Base, f.Ours, f.Theirs)
		return &Merged{Data: data, Warnings: f.lostTitle(data)}, err
	case Config:
		data, warnings, err := threeway.BaseConfig(f.Base, f.Ours, f.Theirs)
		return &Merged{Data: data, Warnings: warnings}, err
	case Blob:
		data, err := f.blob()
		return &Merged{Data: data}, err
	default:
		return nil, fmt.Errorf("%w: %q", errKind, f.Kind)
	}
}

// lostTitle reports the title that was dropped if both sides set one.
func (f File) lostTitle(merged []byte) []string {
	kept := titleIn(merged)
	for _, side := range [][]byte{f.Ours, f.Theirs} {
		if title := titleIn(side); title != "" && title != kept && title != titleIn(f.Base) {
			return []string{fmt.Sprintf("the title %q was replaced by %q", title, kept)}
		}
	}
	return nil
}

// titleIn returns the title of a conversation, or "".
func titleIn(metadata []byte) string {
	d, err := events.DecodeDetails(metadata)
	if err != nil || d.Title == nil {
		return ""
	}
	return *d.Title
}

// orNil returns nil for an ancestor that does not exist, for which git passes an empty file.
func orNil(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return data
}

func (f File) streams() (*Merged, error) {
	var sides [3]threeway.Side
	for i, data := range [3][]byte{f.Base, f.Ours, f.Theirs} {
		sides[i].BaseConfig = orNil(f.Configs[i])
		sides[i].Source = threeway.SourceIn(f.Details[i])
		if data == nil {
			continue
		}
		var err error
		if sides[i].Stream, err = events.Decode(data); err != nil {
			return nil, &VersionError{i, err}
		}
	}
	merge := threeway.Merge
	if f.Virtual {
		merge = threeway.VirtualBase
	}
	r, err := merge(sides[0], sides[1], sides[2])
	if err != nil {
		return nil, err
	}
	m := &Merged{r.Stream.Encode(), r.Conflicts, r.Warnings}
	if len(m.Conflicts) > 0 {
		m.Data = append(m.Data, leftMark...)
	}
	return m, nil
}

// leftMark is white space that a driver appends to a stream with conflicts. It makes the file
// differ from our version, so that git checkout --ours is a decision and a plain git add is not.
var leftMark = []byte(" \n")

// A VersionError reports that the stream of one version cannot be decoded.
type VersionError struct {
	version int // 0 is the common ancestor, 1 ours, 2 theirs
	err     error
}

// Error names the version.
func (e *VersionError) Error() string {
	name := [3]string{"the common ancestor", "our version", "their version"}[e.version]
	return fmt.Sprintf("%s: %s", name, e.err)
}

// Unwrap returns what is wrong with it.
func (e *VersionError) Unwrap() error { return e.err }

// Takes returns the option with which git checkout takes a version that can be decoded, or "" if
// either side may.
func (e *VersionError) Takes() string {
	return [3]string{"", "--theirs", "--ours"}[e.version]
}

// needsBeside reports whether the merge of a stream needs the files beside it: only a change of the
// configuration may have to be restored, and only an import has a source.
func (f *File) needsBeside() bool {
	return f.Kind == Events && (f.says(deltaMark) || f.says(events.MetadataSource))
}

const deltaMark = "config_delta"

// lookBeside reads the files beside the stream.
func (f *File) lookBeside(
	ctx context.Context, repo *gitint.Repo, head gitint.OID,
) (err error) {
	unnamed := len(f.Base) > 0 && len(told(repo.Env())) == 0 && !Stopped(repo)
	for _, b := range []struct {
		mark, name string
		to         *[3][]byte
	}{
		{deltaMark, workspace.BaseConfigFile, &f.Configs},
		{events.MetadataSource, workspace.MetadataFile, &f.Details},
	} {
		if !f.says(b.mark) {
			continue
		}
		*b.to, err = beside(ctx, repo, head, f.Path, b.name)
		if err == nil && unnamed {
			err = f.lookInHistory(ctx, repo, b.name, b.to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookInHistory reads a file beside base and theirs from the newest commits that have these
// streams. A cherry-pick or revert names its commit only once it stops, a stash never does.
func (f *File) lookInHistory(
	ctx context.Context, repo *gitint.Repo, name string, to *[3][]byte,
) error {
	dir := path.Join(workspaceIn(f.Path), conversationDirs[0])
	base, theirs := repo.HashBlob(f.Base), repo.HashBlob(f.Theirs)
	homes, err := repo.Homes(ctx, dir, base, theirs)
	if err != nil {
		return err
	}
	var found [2][]byte
	for i, id := range []gitint.OID{base, theirs} {
		home, ok := homes[id]
		if !ok || conversationOf(home.Path) != conversationOf(f.Path) {
			return nil
		}
		file := path.Join(path.Dir(home.Path), name)
		if found[i], err = at(ctx, repo, home.Commit.String(), file); err != nil {
			return err
		}
	}
	to[0], to[2] = found[0], found[1]
	return nil
}

// says reports whether one of the versions contains a text.
func (f *File) says(text string) bool {
	return slices.ContainsFunc([][]byte{f.Base, f.Ours, f.Theirs}, func(data []byte) bool {
		return bytes.Contains(data, []byte(text))
	})
}

// errDamaged reports a blob that neither side has an intact version of.
var errDamaged = errors.New("both versions are damaged")

// blob returns the canonical encoding of the content if either side has it. The sides may differ
// because encoders do, but the name determines the content.
func (f File) blob() ([]byte, error) {
	hash, isBlob := HashAt(f.Path)
	if !isBlob {
		return nil, fmt.Errorf("%s is not the name of a blob", path.Base(f.Path))
	}
	for _, gz := range [][]byte{f.Ours, f.Theirs} {
		if content, err := blobs.DecodeHash(gz, hash); err == nil {
			return blobs.Encode(content), nil
		}
	}
	return nil, errDamaged
}
