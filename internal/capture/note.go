package capture

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
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A Note says that a session grew.
type Note struct {
	Agent   sessions.Agent `json:"agent"`
	Session string         `json:"session"`
	// Path is the transcript, "" if the agent does not report it or keeps everything in a database.
	Path string `json:"path,omitempty"`
	Size int64  `json:"size,omitempty"` // of the transcript
	Root string `json:"root"`           // of the workspace that it belongs to

	files []string // that contain it
}

// IsGone reports whether there is nothing left to import it into: its workspace is not there any
// more, as in a worktree that was removed, or the note is damaged. A sweep finds the session by
// itself if its workspace comes back.
func (n Note) IsGone() bool {
	_, err := os.Lstat(n.Root)
	return errors.Is(err, fs.ErrNotExist)
}

// A Store keeps notes in the directory of a clone.
type Store struct{ dir string }

// StoreIn returns the store of a clone, by the directory that its working trees share.
func StoreIn(commonDir string) Store { return Store{filepath.Join(commonDir, "jp", "captures")} }

const (
	noteEnd = ".json"
	busyEnd = ".busy"
	maxNote = 64 << 10
	// busyFor limits how long an agent that began a turn is waited for: it may have been killed.
	busyFor = time.Hour
)

// key returns the name of a session in file names.
func key(a sessions.Agent, session string) string {
	sum := sha256.Sum256([]byte(string(a) + "\x00" + session))
	return hex.EncodeToString(sum[:8])
}

// Add keeps a note. Each hook has its own, so that removing one never removes another that was
// added meanwhile: a session may grow and have the same length, or none that is known.
func (s Store) Add(n Note) error { return s.add(n, os.Getpid()) }

func (s Store) add(n Note, pid int) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d-%d%s", key(n.Agent, n.Session), n.Size, pid, noteEnd)
	return s.write(name, data)
}

func (s Store) write(name string, data []byte) error {
	if err := atomicfile.MkdirPrivate(s.dir); err != nil {
		return err
	}
	return atomicfile.WriteIn(s.dir, name, data, atomicfile.Options{
		TempDir: "tmp", Private: true, NoSync: true,
	})
}

// Begin notes that an agent is in a turn.
func (s Store) Begin(n Note) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.write(key(n.Agent, n.Session)+busyEnd, data)
}

// End notes that it is not.
func (s Store) End(a sessions.Agent, session string) error {
	err := os.Remove(filepath.Join(s.dir, key(a, session)+busyEnd))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// InTurn returns the sessions whose agents are in a turn in the working tree at root.
func (s Store) InTurn(now time.Time, root string) (in []Note) {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return nil // no agent ever was
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || filepath.Ext(e.Name()) != busyEnd ||
			now.Sub(info.ModTime()).Abs() >= busyFor {
			continue
		}
		var n Note
		data, err := regular.ReadFile(filepath.Join(s.dir, e.Name()), maxNote)
		if err == nil && json.Unmarshal(data, &n) == nil && below(n.Root, root) {
			in = append(in, n)
		}
	}
	return in
}

// below reports whether a path is a directory or in it. Agents name the directory as they were
// started, maybe by a link.
func below(path, dir string) bool {
	if regular.PrefixOf(path, dir) != "" {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && regular.PrefixOf(real, dir) != ""
}

// Notes returns the notes, one for each session: its last. It leaves out what a later version
// noted, such as an agent that this one does not know: that version imports its sessions.
func (s Store) Notes() ([]Note, error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	var notes []Note
	at := map[string]int{}
	for _, e := range list {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), noteEnd) {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		n := Note{files: []string{path}}
		data, err := regular.ReadFile(path, maxNote)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by another process
		}
		if err != nil {
			return nil, fmt.Errorf("read note %s: %w", path, err)
		}
		if !json.Valid(data) {
			// Notes are not synced, so a crash may empty one.
			notes = append(notes, Note{files: n.files})
			continue
		}
		if json.Unmarshal(data, &n) != nil || !slices.Contains(sessions.Agents, n.Agent) {
			continue
		}
		k := key(n.Agent, n.Session)
		i, ok := at[k]
		switch {
		case !ok:
			at[k] = len(notes)
			notes = append(notes, n)
		case n.Size >= notes[i].Size:
			n.files = append(n.files, notes[i].files...)
			notes[i] = n
		default:
			notes[i].files = append(notes[i].files, n.files...)
		}
	}
	return notes, nil
}

// Done removes a note that was imported.
func (s Store) Done(n Note) error {
	var errs []error
	for _, f := range n.files {
		if err := os.Remove(f); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const (
	sweptFile = "swept"
	// sweepEvery is the time between sweeps: commits may follow each other quickly.
	sweepEvery = 10 * time.Minute
)

// SweepDue reports whether the last sweep was some time ago, and notes this one. It costs one look
// at a file, and writes one when a sweep is due; then it removes what killed agents left.
func (s Store) SweepDue(now time.Time) (bool, error) {
	info, err := os.Lstat(filepath.Join(s.dir, sweptFile))
	if err == nil && now.Sub(info.ModTime()).Abs() < sweepEvery {
		return false, nil
	}
	if err := s.write(sweptFile, nil); err != nil {
		return false, err
	}
	s.tidy(now)
	return true, os.Chtimes(filepath.Join(s.dir, sweptFile), now, now)
}

// leftFor is how long the files of agents that were killed stay.
const leftFor = 24 * busyFor

// tidy removes the files of turns that did not end. What cannot be removed stays, and so does what
// only a later version knows.
func (s Store) tidy(now time.Time) {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		info, err := e.Info()
		if err == nil && filepath.Ext(e.Name()) == busyEnd && info.Mode().IsRegular() &&
			now.Sub(info.ModTime()).Abs() >= leftFor {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

const (
	excludeFile = "exclude"
	maxExclude  = 1 << 20
)

// Exclude excludes sessions from now on: by an id, or all that run below an absolute path.
func (s Store) Exclude(what ...string) error {
	all, err := s.Excluded()
	if err != nil {
		return err
	}
	for _, w := range what {
		if strings.ContainsAny(w, "\r\n") || w == "" {
			return fmt.Errorf("exclude %q: it is neither a session nor a path", w)
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return s.write(excludeFile, []byte(strings.Join(all, "\n")+"\n"))
}

// Excluded returns what is excluded.
func (s Store) Excluded() ([]string, error) {
	data, err := regular.ReadFile(filepath.Join(s.dir, excludeFile), maxExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is excluded: %w", err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), nil
}

// Excludes reports whether a session is excluded, by its id or by the directory in which it runs.
// If the list cannot be read, every session is.
func (s Store) Excludes(session, dir string) bool {
	all, err := s.Excluded()
	return err != nil || slices.ContainsFunc(all, func(w string) bool {
		if !filepath.IsAbs(w) {
			return w == session
		}
		return below(dir, w)
	})
}
