package revisions

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Restored finds conversations whose stream alone was restored from another commit, so that
// metadata.json describes a later stream, and returns how much of their sessions the streams have.
// dir is the directory .jp in the repository. Conversations that cannot be read are left out.
func Restored(
	ctx context.Context, repo *gitint.Repo, w *workspace.Workspace, dir string,
) map[events.ID]events.ImportVersion {
	all := map[events.ID]events.ImportVersion{}
	for _, file := range changedStreams(ctx, repo, path.Join(dir, "conversations")) {
		id, ok := events.ParseDirname(path.Base(path.Dir(file)))
		if !ok {
			continue
		}
		if v, ok := storedWith(ctx, repo, w, id, file); ok {
			all[id] = v
		}
	}
	return all
}

// changedStreams returns the paths of streams that differ between HEAD and the working tree, in the
// repository.
func changedStreams(ctx context.Context, repo *gitint.Repo, under string) (paths []string) {
	staged, work, err := repo.Changes(ctx, under)
	if err != nil {
		return nil
	}
	for _, s := range staged {
		if s.Status == 'M' {
			paths = append(paths, s.Path)
		}
	}
	for _, f := range work {
		if f.State == gitint.Modified {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(p string) bool {
		id, ok := events.ParseDirname(path.Base(path.Dir(p)))
		return path.Base(p) != workspace.EventsFile || !ok || !id.IsDerived()
	})
}

// storedWith returns how much of its session a stream has, from the metadata.json of the newest
// commit that brought exactly this stream. A stream that git does not have was not restored.
func storedWith(
	ctx context.Context, repo *gitint.Repo, w *workspace.Workspace, id events.ID, file string,
) (v events.ImportVersion, ok bool) {
	copies, err := w.Copies(id)
	if err != nil || len(copies) != 1 || copies[0].Local {
		return v, false
	}
	data, err := w.ReadFile(copies[0], workspace.EventsFile)
	if err != nil {
		return v, false
	}
	is := repo.HashBlob(data)
	if missing, err := repo.HasObject(ctx, []gitint.OID{is}); err != nil || len(missing) > 0 {
		return v, false
	}
	history, err := repo.History(ctx, gitint.HistoryRequest{Globs: []string{file}})
	if err != nil {
		return v, false
	}
	for _, rev := range history {
		for _, f := range rev.Files {
			if f.New == is && f.Path == file {
				return versionIn(ctx, repo, rev.OID, path.Dir(file))
			}
		}
	}
	return v, false
}

// versionIn returns how much of its session a conversation has in a commit.
func versionIn(
	ctx context.Context, repo *gitint.Repo, commit gitint.OID, dir string,
) (v events.ImportVersion, ok bool) {
	tree, err := repo.Tree(ctx, commit.String())
	if err != nil {
		return v, false
	}
	data, err := tree.ReadFile(path.Join(dir, workspace.MetadataFile))
	if err != nil {
		return v, false
	}
	d, err := events.DecodeDetails(data)
	if err != nil {
		return v, false
	}
	return events.ParseImportVersion(d.Labels[events.LabelImport])
}
