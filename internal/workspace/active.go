package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

const sessionsDir = "sessions"

// history is the content of a session file, with its keys in jp's order.
type history struct {
	History []visit `json:"history"` // the latest first
	Session
}

type visit struct {
	ID          events.ID
	ActivatedAt string
}

// visitJSON is a visit with the id as a number, where an ID alone would be text.
type visitJSON struct {
	ID          int64  `json:"id"`
	ActivatedAt string `json:"activated_at"`
}

// MarshalJSON writes a visit as jp does.
func (v visit) MarshalJSON() ([]byte, error) {
	return json.Marshal(visitJSON{int64(v.ID), v.ActivatedAt})
}

// UnmarshalJSON reads what jp writes.
func (v *visit) UnmarshalJSON(data []byte) error {
	var j visitJSON
	err := json.Unmarshal(data, &j)
	v.ID, v.ActivatedAt = events.ID(j.ID), j.ActivatedAt
	return err
}

// Active returns the session's active conversation: the latest in its history that still exists. If
// that is archived, there is none. The error is a [*NotFoundError].
func (w *Workspace) Active(s Session) (Entry, error) {
	return w.recent(s, 0, ".")
}

// Previous returns the conversation that was active before the active one. The error
// is a [*NotFoundError].
func (w *Workspace) Previous(s Session) (Entry, error) {
	return w.recent(s, 1, "-")
}

// recent returns the session's n-th live conversation.
func (w *Workspace) recent(s Session, n int, arg string) (Entry, error) {
	for _, v := range w.history(s) {
		e, _, err := w.locate(v.ID)
		var none *NotFoundError
		switch {
		case errors.As(err, &none):
			continue
		case err != nil:
			return Entry{}, err
		case e.Partition == Archive:
			return Entry{}, &NotFoundError{Arg: arg}
		case n == 0:
			return e, nil
		}
		n--
	}
	return Entry{}, &NotFoundError{Arg: arg}
}

// Activate makes a conversation the session's active one, in the file that jp reads if there is
// user-local storage. It does not change the metadata: see [Workspace.UpdateDetails].
func (w *Workspace) Activate(s Session, id events.ID) error {
	root, opts, err := w.sessions()
	if err != nil {
		return fmt.Errorf("activate conversation %s: %w", id, err)
	}
	at := w.env.Now().UTC().Format(time.RFC3339Nano)
	h := history{Session: s, History: []visit{{ID: id, ActivatedAt: at}}}
	for _, v := range w.history(s) {
		if v.ID != id {
			h.History = append(h.History, v)
		}
	}
	data, err := json.MarshalIndent(h, "", "  ")
	if err == nil {
		name := sessionsDir + "/" + s.key() + ".json"
		err = atomicfile.Write(root, name, append(data, '\n'), opts)
	}
	if err == nil {
		w.removeGone(root)
	}
	if err := errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("activate conversation %s: %w", id, err)
	}
	return nil
}

// sessions opens the directory that contains the directory of session files. It creates git-jp's
// own if jp has none.
func (w *Workspace) sessions() (*os.Root, atomicfile.Options, error) {
	if w.userLocal != nil {
		root, err := regular.OpenRoot(w.userLocal.dir)
		return root, atomicfile.Options{TempDir: tempDir, Private: true}, err
	}
	dir := w.ownState()
	if dir == "" {
		return nil, atomicfile.Options{}, ErrNoUserData
	}
	if err := atomicfile.MkdirPrivate(dir); err != nil {
		return nil, atomicfile.Options{}, err
	}
	root, err := regular.OpenRoot(dir)
	return root, atomicfile.Options{TempDir: ".tmp", Private: true}, err
}

// ownState returns the directory for sessions if there is no user-local storage: below .jp they
// would be foreign files that may be committed.
func (w *Workspace) ownState() string {
	state := w.env.StateDir()
	if state == "" {
		return ""
	}
	name := w.wsid
	if name == "" {
		sum := sha256.Sum256([]byte(w.root))
		name = "path-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(state, "workspace", name)
}

// history reads the session's file: jp's, else git-jp's, else one in jp's older form. A file that
// cannot be read, or that belongs to another session, is ignored.
func (w *Workspace) history(s Session) []visit {
	var places []fs.FS
	if w.userLocal != nil {
		places = append(places, w.userLocal.fsys)
	}
	if dir := w.ownState(); dir != "" {
		if root, err := regular.OpenRoot(dir); err == nil {
			defer func() { _ = root.Close() }() // it was only read
			places = append(places, regular.In(root))
		}
	}
	began := s.began(w.env)
	for _, place := range places {
		for _, key := range []string{s.key(), s.ID} {
			if visits, ok := readHistory(place, key, s); ok {
				return since(began, visits)
			}
		}
	}
	return nil
}

// since returns the visits of this session, the latest first: earlier ones were made in a terminal
// that is gone, whose process had the same number.
func since(began time.Time, visits []visit) []visit {
	for i, v := range visits {
		at, err := time.Parse(time.RFC3339Nano, v.ActivatedAt)
		if err == nil && at.Before(began) {
			return visits[:i:i]
		}
	}
	return visits
}

// keptSession is how long the file of a session stays after its process has ended. It may have
// ended on this machine only: a home directory can be that of several.
const keptSession = 30 * 24 * time.Hour

// removeGone removes the files of sessions whose terminals are gone. jp does so in its directory,
// and at once. What cannot be removed stays until next time.
func (w *Workspace) removeGone(root *os.Root) {
	entries, err := fs.ReadDir(regular.In(root), sessionsDir)
	if err != nil || w.env.Leader == nil {
		return
	}
	for _, e := range entries {
		key, isFile := strings.CutSuffix(e.Name(), ".json")
		digits, isTerminal := strings.CutPrefix(key, terminal+"-")
		pid, err := strconv.Atoi(digits)
		if !isFile || !isTerminal || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil || w.env.Now().Sub(info.ModTime()) < keptSession {
			continue
		}
		if _, alive := w.env.Leader(pid); !alive {
			_ = root.Remove(sessionsDir + "/" + e.Name())
		}
	}
}

func readHistory(fsys fs.FS, key string, s Session) ([]visit, bool) {
	name := sessionsDir + "/" + key + ".json"
	if !fs.ValidPath(name) {
		return nil, false
	}
	data, err := regular.ReadUnlinked(fsys, name, regular.MaxNote)
	var h history
	if err != nil || json.Unmarshal(data, &h) != nil {
		return nil, false
	}
	if h.ID == "" && key == s.ID { // the older form is named by the bare value
		h.Session = s
	}
	return slices.Clip(h.History), h.Session == s
}
