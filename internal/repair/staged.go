package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// staged finds damaged blobs in the index, whose commit is stopped, although nothing may refer to
// them. One that is damaged in the working tree too becomes a finding, whose content is looked for.
func (m *planner) staged(ctx context.Context) error {
	own := m.inGit(path.Join(workspace.DirName, blobs.Dir))
	if own == "" {
		return nil
	}
	all, err := m.Repo.StagedPaths(ctx, own)
	if err != nil {
		return err
	}
	known := lists.Set(lists.Map(m.findings, func(f check.Finding) blobs.Hash { return f.Hash }))
	var ids []gitint.OID
	var hashes []blobs.Hash
	for _, p := range all {
		h, ok := blobs.ParsePath(strings.TrimPrefix(p.Path, own+"/"))
		if ok && !p.New.IsZero() && !known[h] {
			ids, hashes = append(ids, p.New), append(hashes, h)
		}
	}
	store := m.Workspace.Blobs()
	return m.Repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		ref, corrupt := blobs.Ref{Hash: hashes[i]}, new(blobs.CorruptError)
		if err != nil || blobs.IsPointer(data) ||
			!errors.As(blobs.Verify(data, ref, store.Limits().Max()), &corrupt) {
			return err
		}
		f := check.Finding{
			State: check.Corrupt, Hash: ref.Hash, Element: -1,
			Detail: "is corrupt, and nothing refers to it: " + corrupt.Reason,
		}
		if errors.As(store.Verify(ref), &corrupt) {
			m.findings = append(m.findings, f)
			return nil
		}
		fault := &Fault{
			State: f.State, Path: blobPath(ref.Hash), Ref: ref, Outcome: Certain,
			Detail: "is corrupt in the index: " + corrupt.Reason,
			Remedy: "take it out of the index",
		}
		fault.mend = func(ctx context.Context) error { return m.unstage(ctx, fault.Path) }
		m.add(fault)
		return nil
	})
}

// putAside makes the quarantine the remedy for a damaged blob that nothing refers to and that is
// nowhere else.
func (m *planner) putAside(f *Fault) {
	f.Outcome = Certain
	f.Remedy = "put it into the quarantine, and take it out of the index"
	f.mend = func(ctx context.Context) error {
		name := filepath.Join(m.Workspace.Root(), filepath.FromSlash(f.Path))
		data, err := regular.ReadFile(name, regular.MaxOwn)
		if err == nil {
			err = m.plan.kept.Keep(f.Path, data)
		}
		if err == nil {
			err = os.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return m.unstage(ctx, f.Path)
	}
}

func (m *planner) unstage(ctx context.Context, name string) error {
	_, err := m.Repo.Unstage(ctx, []string{m.inGit(name)})
	return err
}

// inGit returns the path from the root of the working tree for one from that of the workspace, ""
// if the workspace is not in the repository.
func (m *planner) inGit(name string) string {
	if m.Repo == nil {
		return ""
	}
	own := pathIn(m.Repo.Root(), m.Workspace.Root())
	if own == "" {
		return ""
	}
	return path.Join(own, name)
}

// blobPath returns the path of a blob from the root of the workspace.
func blobPath(h blobs.Hash) string { return path.Join(workspace.DirName, blobs.Dir, h.Path()) }
