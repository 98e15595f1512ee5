package gc

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// indexTips reads the index of every worktree, and the one that git uses now. It reads indexes that
// may replace one before it: if git finishes meanwhile, the index has their entries.
func (m *marker) indexTips(ctx context.Context) error {
	for _, w := range m.roots.Worktrees {
		if err := m.nextIndexTips(ctx, w); err != nil {
			return err
		}
		x, err := m.o.Repo.IndexOf(ctx, w)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m.obstruct(Obstacle{Reason: gitint.ReasonUnreadable, Detail: err.Error()})
			continue
		}
		if w.Index() == m.o.Repo.IndexPath() {
			m.index = x
		}
		m.indexTipOf(w, "index", x)
	}
	if m.index != nil {
		return nil
	}
	x, err := m.o.Repo.Index(ctx)
	if err != nil {
		return m.absorb(ctx, err)
	}
	m.index = x
	m.indexTip("index", x)
	return nil
}

// nextIndexTips reads the index that git is about to commit in a working tree: an editor may be
// open, and it may be the only reference.
func (m *marker) nextIndexTips(ctx context.Context, w gitint.Worktree) error {
	all, err := m.o.Repo.NextIndexes(w)
	if err != nil {
		m.unread("indexes of "+w.Title(), err)
		return nil
	}
	var wait time.Duration // as long as for a lock
	if m.o.NoWait {
		wait = gitint.NoWait
	}
	for _, file := range all {
		x, err := m.o.Repo.NextIndex(ctx, w, file, wait)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			m.obstruct(Obstacle{
				Reason: ReasonLocked, Root: filepath.Base(file) + " of " + w.Title(),
				Detail: err.Error(),
			})
		case x != nil:
			m.indexTipOf(w, filepath.Base(file), x)
		}
	}
	return nil
}

// indexTipOf adds an index of a working tree.
func (m *marker) indexTipOf(w gitint.Worktree, name string, x *gitint.Index) {
	m.indexTip(name+" of "+w.Title(), x)
	if w.Root != "" {
		m.tips[len(m.tips)-1].store = filepath.Join(w.Root, workspace.DirName, blobsName)
	}
}

func (m *marker) indexTip(title string, x *gitint.Index) {
	t := &tip{title: title, kind: tipIndex, staged: make(map[int32]struct{})}
	take := func(e gitint.Entry) {
		m.workspaces.inIndex(e)
		_, rest, ok := strings.Cut("/"+e.Path, "/"+workspace.DirName+"/")
		if detail := misplacedBelow(rest, e.Mode); ok && detail != "" {
			m.obstruct(Obstacle{
				Reason: ReasonIrregular, Root: title, Path: e.Path, Detail: detail,
			})
		}
		switch {
		case !e.Mode.IsRegular():
			return
		case !ok:
			// A branch with conversations at another path is checked out.
			if isStreamName(path.Base(e.Path)) {
				t.files = append(t.files, stagedFile{e.Path, document{id: e.OID}})
			}
			return
		}
		if name, ok := strings.CutPrefix(rest, blobsName+"/"); ok {
			if h, ok := blobs.ParsePath(name); ok {
				t.staged[m.hashes.add(h)] = struct{}{}
			}
			return
		}
		top, name, ok := strings.Cut(rest, "/")
		if !ok || !strings.EqualFold(top, conversationsName) || isStreamless(path.Base(name)) {
			return
		}
		stream := path.Base(name) == workspace.EventsFile &&
			!strings.HasPrefix(name, trashName+"/")
		t.files = append(t.files, stagedFile{e.Path, document{e.OID, stream}})
	}
	all, _ := x.Entries(".") // an index that was read has no error
	for _, e := range all {
		take(e)
	}
	for _, e := range x.Stages() {
		take(e.Entry)
	}
	m.tips = append(m.tips, t)
}
