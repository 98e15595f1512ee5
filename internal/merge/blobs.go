package merge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// Blobs checks the blobs among the paths that are in the merge and did not come unchanged from one
// side, and returns those whose content does not match their name. Git puts content under another
// name if it detects a rename and was told which side to take. A file that came unchanged from one
// side is not this merge's fault.
func (m Merge) Blobs(
	ctx context.Context, merged gitint.Snapshot, paths []string,
) ([]MergedFile, error) {
	var sides []gitint.Snapshot
	var all []MergedFile
	for _, name := range paths {
		if kindOf(name) != Blob {
			continue
		}
		is, err := objectIn(merged, name)
		if err != nil {
			return nil, err
		}
		if is.IsZero() {
			continue
		}
		for len(sides) < len(m.Parents) {
			side, err := m.Repo.Tree(ctx, m.Parents[len(sides)].String())
			if err != nil {
				return nil, err
			}
			sides = append(sides, side)
		}
		if one, err := alone(is, name, sides); err != nil {
			return nil, err
		} else if one {
			continue
		}
		b, err := m.blob(merged, name, sides)
		if err != nil {
			return nil, err
		}
		if b != nil {
			all = append(all, *b)
		}
	}
	return all, nil
}

// alone reports whether every side that has the file has this version of it.
func alone(is gitint.OID, name string, sides []gitint.Snapshot) (bool, error) {
	had := false
	for _, side := range sides {
		was, err := objectIn(side, name)
		if err != nil || !was.IsZero() && was != is {
			return false, err
		}
		had = had || was == is
	}
	return had, nil
}

// blob checks one file and, if it is damaged, looks for a side with an intact version.
func (m Merge) blob(
	merged gitint.Snapshot, name string, sides []gitint.Snapshot,
) (*MergedFile, error) {
	f := File{Kind: Blob, Path: name}
	var err error
	if f.Ours, err = merged.ReadFile(name); err != nil {
		return nil, fmt.Errorf("read merged blob: %w", err)
	}
	if _, err := f.blob(); err == nil {
		return nil, nil
	}
	b := &MergedFile{Path: name, Outcome: TextMerged}
	for _, side := range sides {
		if f.Ours, err = side.ReadFile(name); err != nil {
			continue
		}
		if b.Data, err = f.blob(); err == nil {
			return b, nil
		}
	}
	b.Data = nil
	return b, nil
}

// untracked returns the blobs of the working tree to which a stream there refers and which the
// index does not have: without hooks nothing adds what a client has written. A stream that cannot
// be read is for a check to report.
func (r Resolver) untracked(ctx context.Context, name string) (all []string, err error) {
	if kindOf(name) != Events {
		return nil, nil
	}
	data, err := regular.ReadFile(r.file(name), r.Repo.Limits().Of(name))
	if err != nil {
		return nil, err
	}
	refs, err := events.References(data)
	if err != nil || len(refs) == 0 {
		return nil, nil //nolint:nilerr // see above
	}
	index, err := r.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	store := r.Workspace.Blobs()
	for _, at := range refs {
		name := path.Join(r.Dir, blobs.Dir, at.Ref.Hash.Path())
		if _, tracked := index.OID(name); tracked || slices.Contains(all, name) {
			continue
		}
		if _, err := store.Stat(at.Ref.Hash); err == nil && store.Verify(at.Ref) == nil {
			all = append(all, name)
		}
	}
	return all, nil
}

// HashAt returns the hash of content that the path of a blob promises.
func HashAt(name string) (blobs.Hash, bool) {
	_, rest, ok := strings.Cut("/"+name, "/"+blobs.Dir+"/")
	if !ok {
		return blobs.Hash{}, false
	}
	return blobs.ParsePath(rest)
}
