package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// workspaces finds the workspaces of a repository, wherever one can be: in each working tree those
// that a search finds, always the open one, those at paths where an index or a tip has one, and
// their current or former user-local directories.
type workspaces struct {
	m *marker
	// read has the directories .jp that were read, by their real paths.
	read map[string]bool
	// tracked has the directories in which an index or a tip has a .jp, from the root.
	tracked map[string]bool
	// objects has the files .id there, ids the ids in those on disk.
	objects map[gitint.OID]bool
	ids     []string
	// userDirs have user-local copies. noUserData is where they would be if there were any.
	userDirs   []string
	noUserData string
}

func newWorkspaces(m *marker) *workspaces {
	return &workspaces{
		m: m, read: make(map[string]bool), tracked: make(map[string]bool),
		objects: make(map[gitint.OID]bool),
	}
}

// checkHome refuses a store that is, or may be, part of another repository than the one whose roots
// are read.
func (ws *workspaces) checkHome(ctx context.Context) error {
	o := ws.m.o
	p, err := o.place()
	if err != nil {
		return err
	}
	var at string
	if o.UserLocal {
		at, err = workspace.UserBoundary(p.dir)
	} else {
		at, err = Foreign(ctx, o.Repo, filepath.Dir(p.dir))
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		ws.m.unread(p.dir, err)
	case err != nil:
		return ws.m.absorb(ctx, err)
	case at != "":
		ws.m.obstruct(nestedObstacle(at))
	}
	return nil
}

func nestedObstacle(at string) Obstacle {
	return Obstacle{
		Reason: ReasonNested, Root: at,
		Detail: "may be another repository: what its history refers to is not known here",
	}
}

// onDisk reads the workspaces in every working tree, and the open one.
func (ws *workspaces) onDisk(ctx context.Context) error {
	for _, w := range ws.m.roots.Worktrees {
		if w.Root == "" || w.Gone || w.Unknown != "" {
			continue
		}
		found, err := workspace.FindAll(w.Root)
		if err != nil {
			ws.m.unread(w.Title(), err)
		}
		for _, dir := range found {
			if err := ws.readAt(ctx, w, relative(w.Root, dir)); err != nil {
				return err
			}
		}
	}
	open := ws.m.o.Workspace.Root()
	ws.requireID(open)
	return ws.readJP(ctx, disk{
		root: "the open workspace", prefix: workspace.DirName, base: open,
	})
}

// relative returns the slash path from a root to a directory below it.
func relative(root, dir string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(dir, root)), "/")
}

// readAt reads the .jp in a directory of a working tree, a slash path from its root.
func (ws *workspaces) readAt(ctx context.Context, w gitint.Worktree, dir string) error {
	return ws.readJP(ctx, disk{
		root: w.Title(), prefix: path.Join(dir, workspace.DirName), base: w.Root,
	})
}

// readJP reads a directory .jp, once.
func (ws *workspaces) readJP(ctx context.Context, d disk) error {
	jp := filepath.Join(d.base, filepath.FromSlash(d.prefix))
	real, err := filepath.EvalSymlinks(jp)
	if err == nil && ws.read[real] {
		return nil
	}
	d.references = ws.m.references
	if err == nil {
		ws.read[real] = true
		err = d.read(ctx, jp)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.obstruct(ReasonFiles, "", err.Error())
	}
	ws.readID(jp)
	ws.m.onDisk(d, jp)
	return nil
}

// readID records the id of a workspace on disk. A file without an id is damaged, or in conflict.
func (ws *workspaces) readID(jp string) {
	name := filepath.Join(jp, workspace.IDFile)
	data, err := readWhole(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		ws.m.unread(jp, err)
	case !ws.noteID(data):
		ws.m.obstruct(idObstacle(name))
	}
}

func idObstacle(name string) Obstacle {
	return Obstacle{
		Reason: ReasonID, Root: name,
		Detail: "no workspace id: the user-local copies of its conversations cannot be found",
	}
}

// noteID records an id, and reports whether there is one.
func (ws *workspaces) noteID(data []byte) bool {
	id := workspace.ParseWorkspaceID(data)
	if id != "" && !slices.Contains(ws.ids, id) {
		ws.ids = append(ws.ids, id)
	}
	return id != ""
}

// requireID refuses a store with blobs whose workspace has no id: the copies of its conversations
// in user-local storage could not be distinguished from those of other workspaces.
func (ws *workspaces) requireID(dir string) {
	jp := filepath.Join(dir, workspace.DirName)
	name := filepath.Join(jp, workspace.IDFile)
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return // readID reads it
	}
	entries, err := os.ReadDir(filepath.Join(jp, blobsName))
	empty := !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != path.Base(tempName) && !isMarker(e.Name())
	})
	if !empty || err != nil && !errors.Is(err, fs.ErrNotExist) {
		ws.m.obstruct(idObstacle(name))
	}
}

// inIndex records the path of the workspace of an index entry.
func (ws *workspaces) inIndex(e gitint.Entry) {
	dir, rest, ok := strings.Cut("/"+e.Path, "/"+workspace.DirName+"/")
	if !ok {
		return
	}
	ws.tracked[strings.TrimPrefix(dir, "/")] = true
	if rest == workspace.IDFile && e.Mode.IsRegular() {
		ws.objects[e.OID] = true
	}
}

// whereTracked reads, in every working tree, the workspaces at paths where an index or a tip has
// one: a search from the root may miss them.
func (ws *workspaces) whereTracked(ctx context.Context) error {
	for _, t := range ws.m.tips {
		if t.place.Dir != "" && t.place.Kind == refs.Workspace {
			ws.tracked[strings.TrimPrefix(path.Dir("/"+t.place.Dir), "/")] = true
		}
		if !t.place.ID.IsZero() {
			ws.objects[t.place.ID] = true
		}
	}
	for _, w := range ws.m.roots.Worktrees {
		if w.Root == "" || w.Gone || w.Unknown != "" {
			continue
		}
		for dir := range ws.tracked {
			jp := filepath.Join(w.Root, filepath.FromSlash(dir), workspace.DirName)
			info, err := os.Stat(jp)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			case err != nil:
				ws.m.unread(w.Title(), err)
			case info.IsDir():
				if err := ws.readAt(ctx, w, dir); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// userLocal reads the user-local copies of conversations, which jp may restore: all that belong to
// this repository by any of its ids, or by their link. If the user-local store itself is collected,
// these are only those of the open workspace; conversations that were moved from there into the
// workspace may need its content.
func (ws *workspaces) userLocal(ctx context.Context) error {
	own := ws.m.o.Workspace.UserDir()
	if ws.m.o.UserLocal {
		ws.noteOpen()
		if err := ws.readLoosely(ctx, ws.m.o.Workspace.Dir()); err != nil {
			return err
		}
	} else if err := ws.readIDs(ctx); err != nil {
		return err
	}
	dirs, err := ws.m.o.Workspace.UserDirs(ws.ids, ws.isOurs)
	if errors.Is(err, workspace.ErrNoUserData) {
		ws.m.notes = append(ws.m.notes, "without a user data directory there are no "+
			"user-local copies; HOME or JP_USER_DATA_DIR says where it is")
		return nil
	}
	if err != nil {
		ws.m.unread("user-local copies", err)
		return nil
	}
	if own != "" && !slices.Contains(dirs, own) {
		dirs = append(dirs, own)
	}
	if data := ws.m.o.Workspace.UserData(); !regular.Exists(data) {
		ws.noUserData = data
	}
	ws.userDirs = dirs
	for _, dir := range dirs {
		if err := ws.readLoosely(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// noteOpen records only the open workspace: no repository is searched for others.
func (ws *workspaces) noteOpen() {
	jp := ws.m.o.Workspace.Dir()
	if real, err := filepath.EvalSymlinks(jp); err == nil {
		ws.read[real] = true
	}
	ws.readID(jp)
}

// readLoosely reads conversations outside of the collected store. An invalid stream there is no
// obstacle, an unreadable one is.
func (ws *workspaces) readLoosely(ctx context.Context, dir string) error {
	collected := ws.m.o.UserLocal && dir == ws.m.o.Workspace.UserDir()
	d := disk{
		root: "user-local copies", prefix: filepath.ToSlash(dir), lenient: !collected,
		references: ws.m.references,
	}
	if err := d.read(ctx, dir); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.obstruct(ReasonFiles, "", err.Error())
	}
	ws.m.onDisk(d, dir)
	return nil
}

// readIDs reads the files .id of indexes and tips.
func (ws *workspaces) readIDs(ctx context.Context) error {
	ids := slices.Collect(maps.Keys(ws.objects))
	err := ws.m.o.Repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		if err != nil {
			return fmt.Errorf("read a file %s: %w", workspace.IDFile, err)
		}
		ws.noteID(data)
		return nil
	})
	if err != nil {
		return ws.m.absorb(ctx, err)
	}
	return nil
}

// isOurs reports whether a link of user-local data leads, or may have led, to a workspace of this
// repository: its target is missing or cannot be examined, or is in a working tree. Reading one too
// many only costs time.
func (ws *workspaces) isOurs(target string) bool {
	real, err := filepath.EvalSymlinks(target)
	if err != nil || ws.read[real] {
		return true
	}
	return ws.m.roots != nil && slices.ContainsFunc(ws.m.roots.Worktrees,
		func(w gitint.Worktree) bool {
			rel, err := filepath.Rel(w.Root, real)
			return w.Root != "" && err == nil && filepath.IsLocal(rel)
		})
}
