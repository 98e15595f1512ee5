package repair

import (
	"context"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// remerge merges the sides of a file that git, or another program, has merged as text. It returns
// nil if they are unknown. They are in the index while git waits, between conflict markers, or in
// the parents of the merge that committed the file. If both sides renamed the directory, the stages
// in the index have markers too.
func (m *planner) remerge(ctx context.Context, key versionKey, data []byte) *cure {
	indexed, ok := m.versions.sides(ctx, key)
	if ok {
		switch merged, err := mergeFile(key.name, indexed); {
		case err != nil:
		case isDecided(key.name, merged) && Loads(key.name, merged.Data):
			return mergedAgain(merged.Data)
		case len(merged.Conflicts) > 0:
			return &cure{
				remedy:  errConflict.Error(),
				command: "git jp resolve " + key.id.String(),
			}
		}
	}
	marked, ok := unmark(data)
	if !ok {
		marked, ok = m.versions.parents(ctx, key, data)
	} else if marked.base == nil {
		marked.base = indexed.base
	}
	if !ok {
		return nil
	}
	merged, err := mergeFile(key.name, marked)
	if err != nil {
		return nil
	}
	if isDecided(key.name, merged) && Loads(key.name, merged.Data) {
		return mergedAgain(merged.Data)
	}
	return keepBoth(merged)
}

func mergedAgain(data []byte) *cure {
	return &cure{data: data, certain: true, remedy: "merge its two sides again"}
}

// keepBoth keeps both versions of turns that both sides changed, for a merge that is not in
// progress. It returns nil if there are no such turns.
func keepBoth(m *merge.Merged) *cure {
	s, err := events.Decode(m.Data)
	if err != nil || len(m.Conflicts) == 0 {
		return nil
	}
	if s, err = merge.KeepBoth(s, m.Conflicts); err != nil {
		return nil
	}
	return &cure{
		data: s.Encode(), certain: true,
		remedy: "merge its two sides again, and keep both versions of what both changed",
	}
}

// mergeFile merges the sides of one file as the merge driver does.
func mergeFile(name string, s sides) (*merge.Merged, error) {
	kinds := map[string]merge.Kind{
		workspace.EventsFile: merge.Events, workspace.MetadataFile: merge.Metadata,
		workspace.BaseConfigFile: merge.Config,
	}
	return merge.File{
		Kind: kinds[name], Path: name, Base: s.base, Ours: s.ours, Theirs: s.theirs,
	}.Merge()
}

// isDecided reports whether a merge leaves no decision to a person. For a configuration, a warning
// means that one side was chosen.
func isDecided(name string, m *merge.Merged) bool {
	return len(m.Conflicts) == 0 && (name != workspace.BaseConfigFile || len(m.Warnings) == 0)
}

// maxBack bounds how many commits are searched for the merge that committed a file.
const maxBack = 100

// parents returns the sides of the merge that committed a file which does not load. It returns
// false if HEAD has another version, or if no merge committed it.
func (v *versions) parents(ctx context.Context, k versionKey, data []byte) (sides, bool) {
	if v.repo == nil {
		return sides{}, false
	}
	at, err := v.repo.Resolve(ctx, "HEAD")
	for range maxBack {
		if err != nil {
			return sides{}, false
		}
		if _, id := v.fileIn(ctx, at, k); id != v.repo.HashBlob(data) {
			return sides{}, false
		}
		var parents []gitint.OID
		if parents, err = v.repo.Parents(ctx, at); err != nil || len(parents) == 0 {
			return sides{}, false
		}
		if len(parents) == 2 {
			return v.between(ctx, k, parents[0], parents[1])
		}
		at = parents[0]
	}
	return sides{}, false
}

// between reads a file in two commits and in their merge base.
func (v *versions) between(
	ctx context.Context, k versionKey, ours, theirs gitint.OID,
) (s sides, ok bool) {
	known, err := merge.SidesBetween(ctx, v.repo, ours, theirs)
	if err != nil {
		return sides{}, false
	}
	if !known.Base.IsZero() {
		s.base, _ = v.fileIn(ctx, known.Base, k)
	}
	s.ours, _ = v.fileIn(ctx, ours, k)
	s.theirs, _ = v.fileIn(ctx, theirs, k)
	return s, s.ours != nil && s.theirs != nil
}

// fileIn reads a file of a conversation in a commit, or returns nil unless the conversation has a
// single directory there.
func (v *versions) fileIn(
	ctx context.Context, commit gitint.OID, k versionKey,
) ([]byte, gitint.OID) {
	all, tree := ancestry{v.repo, v.own, k.id}.entries(ctx, commit)
	if len(all) != 1 {
		return nil, gitint.OID{}
	}
	name := path.Join(all[0].Path, k.name)
	id, ok := tree.OID(name)
	if !ok {
		return nil, gitint.OID{}
	}
	data, err := tree.ReadFile(name)
	if err != nil {
		return nil, gitint.OID{}
	}
	return data, id
}
