package merge

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// Blobs looks at those of the paths that are blobs, are in the merge, and did not come from
// one side alone, and returns the ones that are not the content of their names. Git takes a
// content into another name where it believes in a rename and was told whose side to take.
// What came from one side as it was is that side's to get right.
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

// alone reports whether the sides that have a file have this one.
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

// blob looks into one, and for a side that has it whole.
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

// HashAt is the hash that the name of a blob promises.
func HashAt(name string) (blobs.Hash, bool) {
	_, rest, ok := strings.Cut("/"+name, "/"+blobs.Dir+"/")
	if !ok {
		return blobs.Hash{}, false
	}
	return blobs.ParsePath(rest)
}
