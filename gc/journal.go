package gc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/regular"
)

// A run is a directory in the trash:
//
//	run.json     what was begun, and its state; written first, it makes the directory a run
//	items.jsonl  the blobs to move, one a line, complete before the first is moved
//	files/       the blobs, by hash
//
// A blob of an open run is in its place or in files/, or, while it is copied, in both.

// journalVersion is the version of a run's files. Runs of another version are not touched.
const journalVersion = 1

// A state is the progress of a run.
type state string

const (
	moving   state = "moving" // after a crash everything is moved back
	indexing state = "index"  // after a crash blobs still in the index are moved back
	done     state = "done"
)

func (s state) known() bool { return s == moving || s == indexing || s == done }

const journalName = "run.json"

// A header is run.json.
type header struct {
	Version int       `json:"version"`
	Run     string    `json:"run"`
	State   state     `json:"state"`
	Started time.Time `json:"started"`
	Store   string    `json:"store"` // relative to its repository
}

// known reports whether this version knows what the run means.
func (h header) known() bool { return h.Version == journalVersion && h.State.known() }

// A record is a line of items.jsonl.
type record struct {
	Hash         blobs.Hash `json:"hash"`
	Size         int64      `json:"size"`
	ModTime      time.Time  `json:"mtime"`
	Path         string     `json:"path"`
	Tracked      bool       `json:"tracked,omitempty"`
	Object       string     `json:"object,omitempty"` // of its entry in the index
	Mode         uint32     `json:"mode,omitempty"`
	Conversation string     `json:"conversation,omitempty"`
	Title        string     `json:"title,omitempty"`
	Commit       string     `json:"commit,omitempty"`
}

// A run is one run, opened.
type run struct {
	header
	o     *Options
	place place
	dir   string
	items []record
}

func (r *run) file(h blobs.Hash) string { return filepath.Join(r.dir, "files", h.String()) }

// target returns the place of a blob in the store.
func (r *run) target(h blobs.Hash) string {
	return filepath.Join(r.place.store, filepath.FromSlash(h.Path()))
}

// hook adapts the hook of the options to the steps of writing a file.
func (o *Options) hook() func(atomicfile.Step, string) error {
	if o.Hook == nil {
		return nil
	}
	return func(s atomicfile.Step, name string) error { return o.Hook(Step(s), name) }
}

// write replaces a file in a directory, durably.
func (o *Options) write(dir, name string, data []byte) error {
	return atomicfile.WriteIn(dir, name, data, atomicfile.Options{
		TempDir: "tmp", Private: true, Hook: o.hook(),
	})
}

// mkdir creates a directory, closed to other users unless it belongs to the working tree.
func (o *Options) mkdir(dir string) error {
	if err := o.step(Step(atomicfile.StepMkdir), dir); err != nil {
		return err
	}
	if o.UserLocal || isBelow(dir, o.Repo.Dir()) {
		return atomicfile.MkdirPrivate(dir)
	}
	return os.MkdirAll(dir, atomicfile.DirPerm)
}

// newRun creates a run that lists the blobs to move. Nothing is moved before the list is durable.
// No run has its name already: while this process holds the lock, no other creates runs.
func newRun(o *Options, p place, items []record) (*run, error) {
	moment, err := quarantine.Moment(p.trash, "", o.Now())
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%sZ-%d", moment, o.PID)
	r := &run{o: o, place: p, dir: filepath.Join(p.trash, name), items: items}
	r.header = header{
		Version: journalVersion, Run: name, State: moving, Started: o.Now().UTC(), Store: p.name,
	}
	if err := o.mkdir(filepath.Join(r.dir, "files")); err != nil {
		return nil, err
	}
	if err := r.save(moving); err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, i := range items {
		if err := out.Encode(i); err != nil {
			return nil, err
		}
	}
	if err := o.write(r.dir, "items.jsonl", lines.Bytes()); err != nil {
		return nil, err
	}
	if err := o.mkdir(filepath.Join(p.store, ".tmp")); err != nil {
		return nil, err
	}
	return r, o.writePointer(p, r.dir)
}

func (o *Options) writePointer(p place, dir string) error {
	return atomicfile.WriteIn(p.store, ".tmp/gc.open", []byte(dir+"\n"),
		atomicfile.Options{TempDir: ".tmp", Hook: o.hook()})
}

// save records the state of the run.
func (r *run) save(s state) error {
	r.State = s
	data, err := json.Marshal(r.header)
	if err != nil {
		return err
	}
	return r.o.write(r.dir, journalName, append(data, '\n'))
}

// end closes the run: from here on its blobs are in the trash.
func (r *run) end() error {
	if err := r.save(done); err != nil {
		return err
	}
	return r.o.remove(r.place.pointer())
}

// drop removes a run whose blobs are all back in place. Blobs that could not be moved back are kept
// as those of a completed run.
func (r *run) drop() error {
	left, err := os.ReadDir(filepath.Join(r.dir, "files"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(left) > 0 {
		return r.end()
	}
	if err := r.o.remove(r.place.pointer()); err != nil {
		return err
	}
	return r.erase()
}

// erase removes a run with all its files.
func (r *run) erase() error {
	if err := r.o.step(StepUnlink, r.dir); err != nil {
		return err
	}
	return os.RemoveAll(r.dir)
}

func (o *Options) remove(path string) error {
	if there, err := isThere(path); !there || err != nil {
		return err
	}
	if err := o.step(StepUnlink, path); err != nil {
		return err
	}
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// errNotRun reports a directory that is no run, or one of another version.
var errNotRun = errors.New("not a run that this version knows")

// openRun reads a run.
func openRun(o *Options, p place, dir string) (*run, error) {
	r := &run{o: o, place: p, dir: dir}
	data, err := regular.ReadFile(filepath.Join(dir, journalName), regular.MaxOther)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r.header); err != nil || !r.known() {
		return nil, fmt.Errorf("%s: %w", dir, errNotRun)
	}
	file, err := regular.OpenFile(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var i record
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			return nil, fmt.Errorf("read %s: %w", file.Name(), err)
		}
		r.items = append(r.items, i)
	}
	return r, lines.Err()
}

// runs returns the runs of this store, oldest first. It ignores other directories and files.
func runs(o *Options, p place) ([]*run, error) {
	return runsOf(o, p, func(store string) bool { return store == p.name })
}

// isGone reports whether a store was in a linked working tree that git does not know any more, or
// at a place of this working tree where no workspace is any more. No other collection finds its
// runs.
func (o *Options) isGone(p place, store string) bool {
	tree, prefix, ok := strings.Cut(store, ":")
	if !ok || o.UserLocal || !filepath.IsLocal(filepath.FromSlash(tree)) {
		return false
	}
	gone := func(path string) bool {
		there, err := isThere(path)
		return !there && err == nil
	}
	if own, _, _ := strings.Cut(p.name, ":"); tree == own {
		return gone(filepath.Join(o.Repo.Root(), filepath.Dir(filepath.FromSlash(prefix))))
	}
	return gone(filepath.Join(o.Repo.CommonDir(), filepath.FromSlash(tree)))
}

// elsewhere reports whether the store of the run was at another place in its working tree than the
// one that is collected.
func (r *run) elsewhere() bool {
	return r.Store != r.place.name && !strings.HasSuffix(r.Store, ":"+r.place.prefix)
}

func runsOf(o *Options, p place, isOf func(store string) bool) ([]*run, error) {
	entries, err := os.ReadDir(p.trash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []*run
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		r, err := openRun(o, p, filepath.Join(p.trash, e.Name()))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRun) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", e.Name(), err)
		}
		if isOf(r.Store) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *run) int { return strings.Compare(a.Run, b.Run) })
	return all, nil
}

// unknownRun returns an error if the pointer names a run of another version. A run is looked for by
// its name, since the repository may have been moved.
func (p place) unknownRun() error {
	data, err := regular.ReadFile(p.pointer(), regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := filepath.Join(p.trash, filepath.Base(strings.TrimSpace(string(data))))
	journal, err := regular.ReadFile(filepath.Join(dir, journalName), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var h header
	if json.Unmarshal(journal, &h) == nil && h.known() {
		return nil
	}
	return &RefusedError{Obstacles: []Obstacle{{
		Reason: ReasonForeign, Root: dir,
		Detail: "another version began this and has not finished it",
	}}}
}

// isBelow reports whether a path is a directory or below it.
func isBelow(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
