package merge

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Open returns the records below a directory that wait for a decision. It opens the index only if
// there is a record.
func Open(ctx context.Context, repo *gitint.Repo, dir string) ([]Record, error) {
	records, err := RecordsOf(repo.GitDir()).All()
	if err != nil || len(records) == 0 {
		return nil, err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	cases := make(map[string]*Case)
	for _, s := range index.Stages() {
		if cases[s.Path] == nil {
			cases[s.Path] = &Case{Kind: kindOf(s.Path)}
		}
		cases[s.Path].Stages[s.Stage] = s.OID
	}
	var open []Record
	for _, r := range records {
		if !below(r.Path, dir) {
			continue
		}
		c := cases[r.Path]
		if c != nil && !c.Stages[stageBase].IsZero() && c.Deleted() {
			continue // git asked no driver: the record is of an earlier step
		}
		waits := c != nil || leftIn(index, r)
		if !waits {
			if waits, err = waitsIn(ctx, repo, index, r); err != nil {
				return nil, err
			}
		}
		if waits {
			open = append(open, r)
		}
	}
	return open, nil
}

// leftIn reports whether the index has the file that the driver left.
func leftIn(index *gitint.Index, r Record) bool {
	names, err := namesOf(index, r)
	return err != nil || // assume that it was not decided
		slices.ContainsFunc(names, func(name string) bool {
			id, _ := index.OID(name)
			return id.String() == r.Left
		})
}

// namesOf returns the paths at which a tree may have the file of a record: its own, and those in
// other directories of the conversation. If both sides renamed a file, git passes the old path to
// the driver.
func namesOf(tree gitint.Snapshot, r Record) ([]string, error) {
	homes, err := homesIn(tree, workspaceIn(r.Path))
	names := []string{r.Path}
	_, below, id := homeOf(r.Path)
	for _, at := range homes.dirs[id] {
		names = append(names, path.Join(at, below))
	}
	return names, err
}

// waitsIn reports whether git waits for the file of a record, and the index has a file in which the
// conflict is as the driver left it although other parts differ: a turn was appended, or content
// moved. If the file equals our version in HEAD it was chosen, for example by 'git checkout
// --ours'.
func waitsIn(
	ctx context.Context, repo *gitint.Repo, index *gitint.Index, r Record,
) (bool, error) {
	has := func(rev string, file gitint.OID) (bool, error) {
		tree, err := gitint.OrNone(repo.Tree(ctx, rev))
		if err != nil || tree == nil {
			return false, err
		}
		names, err := namesOf(tree, r)
		return slices.ContainsFunc(names, func(name string) bool {
			id, ok := tree.OID(name)
			return ok && id == file
		}), err
	}
	theirs := false
	for _, h := range stopHeads(repo) {
		is, err := has(h.theirs, repo.HashBlob(r.Theirs))
		if err != nil {
			return false, err
		}
		theirs = theirs || is
	}
	if !theirs {
		return false, nil // it belongs to a merge that was aborted
	}
	names, err := namesOf(index, r)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		id, ok := index.OID(name)
		if !ok {
			continue
		}
		if ours, err := has("HEAD", id); err != nil || ours {
			return false, err
		}
		if data, err := index.ReadFile(name); err == nil && r.waits(data) {
			return true, nil
		}
	}
	return false, nil
}

// waits reports whether a conflict of the record is in the stream as the merge left it.
func (r Record) waits(stream []byte) bool {
	s, err := events.Decode(stream)
	return err == nil && slices.ContainsFunc(r.Conflicts, func(c threeway.Conflict) bool {
		return c.Waits(s)
	})
}

// workspaceIn returns the directory .jp that contains a path.
func workspaceIn(name string) string {
	dir, _ := workspace.PathDir(name)
	return dir
}
