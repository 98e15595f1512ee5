package merge

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Need fetches what [Merge.Losses] reads and a partial clone lacks, in one request: to merge, git
// fetches nothing of a conversation that one side removed, except the version that the other has.
func (m Merge) Need(ctx context.Context, merged gitint.Snapshot) error {
	if partial, err := m.Repo.Partial(ctx); err != nil || !partial {
		return err
	}
	var ids []gitint.OID
	for _, dir := range m.Dirs {
		b, err := m.inspect(ctx, merged, dir)
		if err == nil {
			ids, err = b.read(ctx, ids)
		}
		if err != nil {
			return err
		}
	}
	return m.Repo.Need(ctx, ids)
}

// read adds the objects that counting losses reads: the files of all conversations that differ.
func (b *inspection) read(ctx context.Context, ids []gitint.OID) ([]gitint.OID, error) {
	all := append([]homes{b.merged}, b.sides...)
	for i := 1; i < len(b.parents); i++ {
		bases, err := b.family.mergeBases(ctx, b.parents[i], b.parents[:i])
		if err != nil {
			return nil, err
		}
		for _, base := range bases {
			h, err := b.family.at(ctx, base)
			if err != nil {
				return nil, err
			}
			all = append(all, h)
		}
	}
	for _, side := range all {
		for id := range side.dirs {
			if b.untouched(id) {
				continue
			}
			for _, name := range workspace.Files() {
				_, oid, err := side.file(id, name)
				if err != nil {
					return nil, err
				}
				if !oid.IsZero() {
					ids = append(ids, oid)
				}
			}
		}
	}
	return ids, nil
}
