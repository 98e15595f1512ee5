package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Workspace is an open .jp directory and the user-local storage that belongs to it. It is safe
// for concurrent use, except creating the first user-local conversation.
type Workspace struct {
	root      string // absolute, holds .jp
	env       Env
	wsid      string
	main      *store
	userLocal *store // nil when there is none

	strange string // user-local data of another root with our id; "" for none
	leftOut func() (leftOut, error)
}

// Open opens the workspace whose .jp lies in root. Nothing is created or changed.
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
		// User-local storage that cannot be opened is not the workspace's fault.
		if userLocal, err := openStore(dir, "", true, env); err == nil {
			w.userLocal = userLocal
		} else if !errors.Is(err, os.ErrPermission) {
			return nil, errors.Join(err, main.close())
		}
	}
	return w, nil
}

// Limits are how large the files are that this workspace reads and writes.
func (w *Workspace) Limits() regular.Limits { return w.env.Settings.limits() }

// Close releases the directories.
func (w *Workspace) Close() error { return errors.Join(w.main.close(), w.userLocal.close()) }

// Root returns the absolute path of the directory that holds .jp.
func (w *Workspace) Root() string { return w.root }

// Dir returns the absolute path of .jp.
func (w *Workspace) Dir() string { return w.main.dir }

// WorkspaceID returns what .jp/.id says, "" when there is no valid one.
func (w *Workspace) WorkspaceID() string { return w.wsid }

// StrangeDir returns the directory of user-local data that has the id of this workspace and is
// another one's, or nobody's, "" when there is none.
func (w *Workspace) StrangeDir() string { return w.strange }

// Adopt takes the user-local data of [Workspace.StrangeDir] for this workspace's, as the user said.
func (w *Workspace) Adopt() error {
	userLocal, err := openStore(w.strange, "", true, w.env)
	if err != nil {
		return fmt.Errorf("open user-local conversations: %w", err)
	}
	w.userLocal, w.strange = userLocal, ""
	return nil
}

// UserDir returns the directory of user-local storage, "" when there is none.
func (w *Workspace) UserDir() string {
	if w.userLocal == nil {
		return ""
	}
	return w.userLocal.dir
}

// Format returns how contents are written here.
func (w *Workspace) Format() Format {
	if w.env.Settings.Format == "" {
		return FormatBlobs
	}
	return w.env.Settings.Format
}

// Blobs returns the contents of the workspace's conversations.
func (w *Workspace) Blobs() *blobs.Store { return w.main.blobs }

// BlobsOf returns the contents that e refers to: user-local conversations have a
// store of their own.
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

// stores returns the workspace's, then the user's.
func (w *Workspace) stores() []*store {
	if w.userLocal == nil {
		return []*store{w.main}
	}
	return []*store{w.main, w.userLocal}
}

// Copies returns every directory of a conversation, in the workspace and in user-local storage,
// live before archived: whoever removes one wants to know whether it is the last.
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

// AllCopies is [Workspace.Copies] of all conversations at the price of one listing.
func (w *Workspace) AllCopies() (map[events.ID][]Entry, error) {
	all := map[events.ID][]Entry{}
	for _, s := range w.stores() {
		entries, problems, err := s.scan()
		if err = errors.Join(err, Unlisted(problems)); err != nil {
			return nil, err
		}
		for _, e := range entries {
			all[e.ID] = append(all[e.ID], e)
		}
	}
	return all, nil
}

// locate returns the directory that an id means: the first of the workspace, else
// the first user-local one. The others are returned too.
func (w *Workspace) locate(id events.ID) (Entry, []Entry, error) {
	all, err := w.Copies(id)
	if err != nil {
		return Entry{}, nil, err
	}
	if len(all) == 0 {
		return Entry{}, nil, &NotFoundError{Arg: id.String()}
	}
	var others []Entry
	for _, e := range all[1:] {
		if e.Local == all[0].Local {
			others = append(others, e)
		}
	}
	return all[0], others, nil
}
