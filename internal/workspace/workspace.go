package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Workspace is an open .jp directory and its user-local storage. It is safe for concurrent use,
// except for creating the first user-local conversation.
type Workspace struct {
	root      string // absolute, has .jp
	env       Env
	wsid      string
	main      *store
	userLocal *store // nil if there is none

	strange string // user-local data of another root with the same id; "" for none
	leftOut func() (leftOut, error)
}

// Open opens the workspace with the .jp in root. It creates and changes nothing.
func Open(root string, env Env) (*Workspace, error) {
	w, err := open(env.abs(root), env)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", root, err)
	}
	return w, nil
}

func open(root string, env Env) (*Workspace, error) {
	if !Is(root) {
		return nil, ErrNoWorkspace
	}
	main, err := openStore(filepath.Join(root, DirName), DirName, false, env)
	if err != nil {
		return nil, err
	}
	w := &Workspace{root: root, env: env, main: main, leftOut: readLeftOut(env)}
	if data, err := main.read(IDFile); err == nil {
		w.wsid = ParseWorkspaceID(data)
	}
	dir := findUserLocal(env, root, w.wsid)
	if dir != "" && !env.shares(dir, w.main.dir) {
		w.strange, dir = dir, ""
	}
	if dir != "" {
		// A workspace can be used without user-local storage that cannot be opened.
		if userLocal, err := openStore(dir, "", true, env); err == nil {
			w.userLocal = userLocal
		} else if !errors.Is(err, os.ErrPermission) {
			return nil, errors.Join(err, main.close())
		}
	}
	return w, nil
}

// Limits returns the limits on the size of files that this workspace reads and writes.
func (w *Workspace) Limits() regular.Limits { return w.env.Settings.limits() }

// Close releases the directories.
func (w *Workspace) Close() error { return errors.Join(w.main.close(), w.userLocal.close()) }

// Root returns the absolute path of the directory that has .jp.
func (w *Workspace) Root() string { return w.root }

// Dir returns the absolute path of .jp.
func (w *Workspace) Dir() string { return w.main.dir }

// WorkspaceID returns the id in .jp/.id, "" if it has no valid one.
func (w *Workspace) WorkspaceID() string { return w.wsid }

// StrangeDir returns the directory of user-local data that has the id of this workspace but belongs
// to another one, or to none; "" if there is none.
func (w *Workspace) StrangeDir() string { return w.strange }

// HasLostStranger reports whether the workspace of [Workspace.StrangeDir] is gone: it was removed,
// or is this one and was moved.
func (w *Workspace) HasLostStranger() bool {
	if w.strange == "" {
		return false
	}
	link := filepath.Join(w.strange, linkName)
	_, err := os.Lstat(link)
	_, target := os.Stat(link)
	return err == nil && errors.Is(target, fs.ErrNotExist)
}

// Adopt uses the user-local data of [Workspace.StrangeDir] for this workspace, as the user asked.
func (w *Workspace) Adopt() error {
	userLocal, err := openStore(w.strange, "", true, w.env)
	if err != nil {
		return fmt.Errorf("open user-local conversations: %w", err)
	}
	w.userLocal, w.strange = userLocal, ""
	return nil
}

// UserDir returns the directory of user-local storage, "" if there is none.
func (w *Workspace) UserDir() string {
	if w.userLocal == nil {
		return ""
	}
	return w.userLocal.dir
}

// Format returns the format of contents in this workspace.
func (w *Workspace) Format() Format {
	return cmp.Or(w.env.Settings.Format, FormatBlobs)
}

// Blobs returns the blob store of the workspace's conversations.
func (w *Workspace) Blobs() *blobs.Store { return w.main.blobs }

// BlobsOf returns the blob store of e: user-local conversations have their own.
func (w *Workspace) BlobsOf(e Entry) *blobs.Store { return w.storeOf(e).blobs }

// Path returns the absolute path of e's directory.
func (w *Workspace) Path(e Entry) string {
	s := w.storeOf(e)
	return filepath.Join(s.dir, filepath.FromSlash(s.path(e)))
}

func (w *Workspace) storeOf(e Entry) *store {
	if e.Local && w.userLocal != nil {
		return w.userLocal
	}
	return w.main
}

// stores returns the workspace's store, then the user-local one.
func (w *Workspace) stores() []*store {
	if w.userLocal == nil {
		return []*store{w.main}
	}
	return []*store{w.main, w.userLocal}
}

// Copies returns every directory of a conversation, in the workspace and in user-local storage,
// live before archived. A caller that removes one can see whether it is the last.
func (w *Workspace) Copies(id events.ID) ([]Entry, error) {
	var all []Entry
	for _, s := range w.stores() {
		found, err := s.find(id)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// AllCopies is [Workspace.Copies] of all conversations with one listing.
func (w *Workspace) AllCopies() (map[events.ID][]Entry, error) {
	all := map[events.ID][]Entry{}
	for _, s := range w.stores() {
		entries, problems, err := s.scan(anyID)
		if err = errors.Join(err, Unlisted(problems)); err != nil {
			return nil, err
		}
		for _, e := range entries {
			all[e.ID] = append(all[e.ID], e)
		}
	}
	return all, nil
}

// locate returns the directory that an id means: the first of the workspace, or else the first
// user-local one. It also returns the others.
func (w *Workspace) locate(id events.ID) (Entry, []Entry, error) {
	all, err := w.Copies(id)
	if err != nil {
		return Entry{}, nil, err
	}
	if len(all) == 0 {
		return Entry{}, nil, &NotFoundError{Arg: id.String()}
	}
	others := lists.Filter(all[1:], func(e Entry) bool { return e.Local == all[0].Local })
	return all[0], others, nil
}
