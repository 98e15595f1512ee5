package quarantine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Quarantine is the directory into which commands move or copy the files that they change or
// remove. The runs of garbage collection are in the same directory and are not items.
type Quarantine struct {
	// Dir need not exist.
	Dir string
	// Root is the root of the workspace from which files are quarantined.
	Root string
	// Keep is how long they are kept at least, whatever the grace period of a later collection.
	Keep time.Duration
	// Hook, if not nil, is called before each step. Its error counts as that of the step.
	Hook func(step atomicfile.Step, name string) error
}

// A Kind is the command that quarantined something. The texts are part of the format.
type Kind string

// The kinds.
const (
	Compacted Kind = "compacted"
	// Undone is a conversation from before compactions of the overlay were removed from it.
	Undone   Kind = "undone"
	Repaired Kind = "repair"
	// Redacted is a conversation from before secrets were removed, with the secrets: garbage
	// collection does not keep content in a store because of it.
	Redacted Kind = "redacted"
)

// HasUndo reports whether an item is a conversation from before a change that can be taken back.
func (k Kind) HasUndo() bool { return k == Compacted || k == Undone }

// ManifestFile is in the directory of each item. It is written first, so that the remains of a
// crash have a time too.
const ManifestFile = "aside.json"

const (
	version = 1
	gone    = "expired-" // prefix for names of items that are being removed
	stamp   = "20060102T150405.000"
)

// A manifest describes the content of a directory and how long it is kept.
type manifest struct {
	Version int       `json:"version"`
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"`
	// Workspace is the root of the workspace, relative to the quarantine: both may be moved.
	Workspace    string `json:"workspace"`
	Conversation string `json:"conversation,omitempty"`
}

// An Item holds the files that one command quarantined.
type Item struct {
	Name string
	Kind Kind
	At   time.Time
	// Until is the time before which it is not removed.
	Until time.Time
	// Conversation is the conversation that it belongs to, 0 if there may be several.
	Conversation events.ID
	Files        int
	Bytes        int64

	dir  string
	hook func(atomicfile.Step, string) error
}

// Dir returns its directory.
func (a Item) Dir() string { return a.dir }

// begin creates a directory with its manifest.
func (q Quarantine) begin(name string, m manifest) (*Item, error) {
	a := &Item{
		Name: name, Kind: m.Kind, At: m.At, Until: m.At.Add(q.Keep),
		dir: filepath.Join(q.Dir, name), hook: q.Hook,
	}
	m.Version, m.Until = version, a.Until
	m.Workspace = q.workspace()
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.MkdirPrivate(q.Dir); err != nil {
		return nil, err
	}
	if err := atomicfile.MkdirPrivate(a.dir); err != nil {
		return nil, err
	}
	return a, a.write(ManifestFile, append(data, '\n'))
}

func (q Quarantine) workspace() string {
	// The directory need not exist, and its parents may be symbolic links.
	dir := filepath.Join(regular.Resolved(filepath.Dir(q.Dir)), filepath.Base(q.Dir))
	rel, err := filepath.Rel(dir, regular.Resolved(q.Root))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// write writes a file into the directory, durably. The name is a slash path.
func (a *Item) write(name string, data []byte) error {
	return atomicfile.WriteIn(a.dir, name, data, atomicfile.Options{
		TempDir: tempDir, Private: true, Hook: a.hook,
	})
}

const tempDir = ".tmp"

// Items returns the items of the workspace at Root, oldest first. Directories without a manifest
// that this version knows are ignored.
func (q Quarantine) Items() ([]Item, error) {
	all, err := q.all()
	own := q.workspace()
	all = slices.DeleteFunc(all, func(f found) bool {
		return f.Workspace != own || strings.HasPrefix(f.Name, gone)
	})
	return lists.Map(all, func(f found) Item { return f.Item }), err
}

// Unknown returns the directories of the workspace at Root that this version cannot read, because
// another version made them. What that redacted is left out.
func (q Quarantine) Unknown() (dirs []string, err error) {
	entries, err := os.ReadDir(q.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(q.Dir, e.Name())
		m, err := readManifest(dir)
		known := err == nil && (m.Kind.HasUndo() || m.Kind == Repaired)
		if m.Version != 0 && m.Workspace == q.workspace() && !known && m.Kind != Redacted {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

type found struct {
	Item
	manifest
}

func (q Quarantine) all() ([]found, error) {
	entries, err := os.ReadDir(q.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []found
	for _, e := range entries {
		dir := filepath.Join(q.Dir, e.Name())
		m, err := readManifest(dir)
		if err != nil {
			continue // a run of garbage collection, or left by another version
		}
		a := Item{Name: e.Name(), Kind: m.Kind, At: m.At, Until: m.Until, dir: dir, hook: q.Hook}
		if id, err := events.ParseID(m.Conversation); err == nil {
			a.Conversation = id
		}
		for _, f := range a.files() {
			a.Files++
			a.Bytes += f.size
		}
		all = append(all, found{a, m})
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.Item.At.Compare(b.Item.At) })
	return all, nil
}

// errMoved reports that the removal of an item has begun: it was moved to another name, by copying
// it where it cannot be renamed, and this is what a crash left of the original.
var errMoved = errors.New("it is being removed")

func readManifest(dir string) (m manifest, err error) {
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), gone+filepath.Base(dir))); err == nil {
		return m, errMoved
	}
	data, err := regular.ReadFile(filepath.Join(dir, ManifestFile), regular.MaxOwn)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && m.Version != version {
		err = fmt.Errorf("%s: version %d is not known", dir, m.Version)
	}
	return m, err
}

// A kept is a quarantined file.
type kept struct {
	name string // slash path
	size int64
}

// files lists the quarantined files, without manifest and record.
func (a Item) files() (all []kept) {
	_ = filepath.WalkDir(a.dir, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(a.dir, name)
		switch {
		case err != nil || relErr != nil:
			return fs.SkipDir
		case d.IsDir() && d.Name() == tempDir && path.Dir(filepath.ToSlash(rel)) == ".":
			return fs.SkipDir
		case rel == ManifestFile || rel == recordFile || !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err == nil {
			all = append(all, kept{filepath.ToSlash(rel), info.Size()})
		}
		return nil
	})
	return all
}

// Has reports whether an item of the workspace has a file with this content.
func (q Quarantine) Has(data []byte) bool {
	items, _ := q.Items() // one that cannot be read does not have it
	for _, a := range items {
		for _, f := range a.files() {
			if f.size != int64(len(data)) {
				continue
			}
			name := filepath.Join(a.dir, filepath.FromSlash(f.name))
			is, err := regular.ReadFile(name, regular.MaxOwn)
			if err == nil && bytes.Equal(is, data) {
				return true
			}
		}
	}
	return false
}

// Expired returns the items of all workspaces that are older than the grace period of a collection
// and than the time that was promised when they were quarantined.
func (q Quarantine) Expired(now time.Time, grace time.Duration) ([]Item, error) {
	all, err := q.all()
	var old []Item
	for _, f := range all {
		if now.After(f.Item.Until) && now.Sub(f.Item.At) > grace {
			old = append(old, f.Item)
		}
	}
	return old, err
}

// Erase removes an item. From its first step on the rest is not taken for a complete item, and
// after a crash it is removed together with the next item that expires.
func (a Item) Erase() error {
	dir := a.dir
	if !strings.HasPrefix(a.Name, gone) {
		dir = filepath.Join(filepath.Dir(a.dir), gone+a.Name)
		if err := a.rename(dir); err != nil {
			return err
		}
	}
	if err := a.step("unlink", dir); err != nil {
		return err
	}
	original := strings.TrimPrefix(filepath.Base(dir), gone)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(dir), original)); err != nil {
		return err // what a move that died has left of it
	}
	// The manifest, which has the age, is removed last.
	for _, name := range a.names(dir) {
		if name != ManifestFile {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(dir)
}

// rename renames its directory.
func (a Item) rename(to string) error {
	trash, err := filepath.EvalSymlinks(filepath.Dir(a.dir)) // it may be a link out of the root
	if err != nil {
		return err
	}
	root, err := regular.OpenRoot(filepath.Dir(trash))
	if err != nil {
		return err
	}
	in, name := filepath.Base(trash), filepath.Base(a.dir)
	// The collector removes what a crash leaves in that directory.
	err = atomicfile.MoveDir(root, path.Join(in, name), path.Join(in, filepath.Base(to)),
		atomicfile.Options{TempDir: "tmp", Private: true, Hook: a.hook})
	return errors.Join(err, root.Close())
}

func (a Item) names(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // if it cannot be listed, RemoveAll fails
	names = append(names, lists.Map(entries, os.DirEntry.Name)...)
	return names
}

func (a Item) step(s atomicfile.Step, name string) error {
	if a.hook == nil {
		return nil
	}
	return a.hook(s, name)
}

// A Keeper quarantines files that a command replaces or removes. It creates its directory for the
// first file.
type Keeper struct {
	Quarantine

	Kind Kind // "" means Repaired
	Now  func() time.Time
	PID  int

	item *Item
}

// Keep quarantines a file, durably. The name is its slash path from the root of the workspace.
func (k *Keeper) Keep(name string, data []byte) error {
	if k.item == nil {
		now, kind := k.Now().UTC(), cmp.Or(k.Kind, Repaired)
		prefix := string(kind) + "-"
		moment, err := Moment(k.Dir, prefix, now)
		if err != nil {
			return err
		}
		a, err := k.begin(fmt.Sprintf("%s%sZ-%d", prefix, moment, k.PID),
			manifest{Kind: kind, At: now})
		if err != nil {
			return err
		}
		k.item = a
	}
	return k.item.write(name, data)
}

// Name returns the name of its item, "" if it has kept nothing.
func (k *Keeper) Name() string {
	if k.item == nil {
		return ""
	}
	return k.item.Name
}

// A Restored lists the restored files.
type Restored struct {
	// Files holds the slash paths of the restored files.
	Files []string
	// Kept holds those that stay in the quarantine because another file is in their place.
	Kept []string
}

// PutBack restores files whose place is free, a directory in one step. It removes files that are no
// longer needed.
func (a Item) PutBack(root *os.Root, temp string) (*Restored, error) {
	res := new(Restored)
	var taken []string
	byDir := make(map[string][]string)
	for _, f := range a.files() {
		byDir[path.Dir(f.name)] = append(byDir[path.Dir(f.name)], f.name)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		names := byDir[dir]
		_, err := root.Lstat(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return res, err
		}
		below := func(taken string) bool { return strings.HasPrefix(dir, taken+"/") }
		if err == nil || slices.ContainsFunc(taken, below) {
			taken = append(taken, dir)
			res.Kept = append(res.Kept, names...)
			continue
		}
		if err := a.putBack(root, temp, names); err != nil {
			return res, fmt.Errorf("put back %s: %w", dir, err)
		}
		res.Files = append(res.Files, names...)
	}
	if len(res.Kept) > 0 {
		return res, nil
	}
	return res, a.Erase()
}

// putBack creates a directory with some files and renames it into place.
func (a Item) putBack(root *os.Root, temp string, names []string) error {
	dir := path.Dir(names[0])
	o := atomicfile.Options{TempDir: temp, Hook: a.hook}
	built, err := atomicfile.MkdirTemp(root, path.Base(dir), o)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := filepath.Join(a.dir, filepath.FromSlash(name))
		data, err := regular.ReadFile(file, regular.MaxOwn)
		if err == nil {
			err = atomicfile.Write(root, path.Join(built, path.Base(name)), data, o)
		}
		if err != nil {
			return errors.Join(err, root.RemoveAll(built))
		}
	}
	return atomicfile.PublishDir(root, built, dir, o)
}
