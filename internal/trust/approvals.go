package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/filelock"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

const (
	fileName = "approvals.json"
	lockName = "approvals.lock"
	tempDir  = ".tmp"
	version  = 2
)

// How long to wait for another process, which holds the lock only while it reads and writes.
const (
	lockTries = 500
	lockPause = 10 * time.Millisecond
)

var errBusy = errors.New("another process holds them")

// An Approval is a claim that the user approved.
type Approval struct {
	Workspace Workspace `json:"workspace"`
	Kind      Kind      `json:"kind"`
	Key       string    `json:"key"`
	Value     string    `json:"value"` // for reading; the hash decides
	SHA256    string    `json:"sha256"`
	At        time.Time `json:"approved_at"`
}

// ID returns the id of the claim, as [Approvals.ID] does, "" if the file has none.
func (a Approval) ID() string {
	if len(a.SHA256) < idDigits {
		return ""
	}
	return a.SHA256[:idDigits]
}

// document is the content of the file.
type document struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
	// Declined are settings that the user declined: they are not asked about again unless
	// requested.
	Declined []Approval `json:"declined,omitempty"`
}

// Approvals are the user's approvals in one workspace. They are a [Gate] and safe for concurrent
// use.
type Approvals struct {
	// Own reports whether the current content of a file in the workspace was committed in this
	// clone. An approved command may run such a file without a question. If nil, no file is own.
	Own func(name string) bool

	store     Store
	workspace Workspace
	mu        sync.Mutex
	all       document    // guarded by mu
	seen      fs.FileInfo // of the file as read, nil if there was none; guarded by mu
}

// ErrInside is the error for a directory that others can write to by committing.
var ErrInside = errors.New("approvals would be stored inside the repository")

// A Store is where approvals are.
type Store struct {
	Dir string // need not exist
	// Repo is the root of the repository around the workspace, which may be above it: others can
	// commit what is in it. It is "" if there is none.
	Repo string
	// Mine reports whether a file belongs to the user; nil for all.
	Mine func(name string) bool
}

// Open reads the approvals of a workspace.
func Open(s Store, w Workspace) (*Approvals, error) {
	for _, root := range []string{w.Root, s.Repo} {
		inside, err := contains(root, s.Dir)
		if err == nil && inside {
			err = fmt.Errorf("%w %q", ErrInside, root)
		}
		if err != nil {
			return nil, fmt.Errorf("open approvals %q: %w", s.Dir, err)
		}
	}
	a := &Approvals{store: s, workspace: w}
	return a, a.read()
}

// contains reports whether dir is root or below it, by any of its names, with links resolved as far
// as they exist.
func contains(root, dir string) (bool, error) {
	if root == "" {
		return false, nil
	}
	root, err := resolve(root)
	if err != nil {
		return false, err
	}
	if dir, err = resolve(dir); err != nil {
		return false, err
	}
	return regular.PrefixOf(dir, root) != "", nil
}

// resolve is filepath.EvalSymlinks for paths whose end need not exist.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	real, err = resolve(parent)
	return filepath.Join(real, filepath.Base(path)), err
}

func (a *Approvals) path() string { return filepath.Join(a.store.Dir, fileName) }

func (a *Approvals) read() error {
	a.all = document{Version: version}
	a.seen, _ = os.Stat(a.path()) // the error is that of reading
	data, err := regular.ReadFile(a.path(), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read approvals: %w", err)
	}
	if a.store.Mine != nil && !a.store.Mine(a.path()) {
		return fmt.Errorf("read approvals %q: it belongs to another user", a.path())
	}
	if err := exact.Unmarshal(data, &a.all); err != nil {
		a.all = document{}
		return fmt.Errorf("read approvals %q: %w", a.path(), err)
	}
	if a.all.Version == 1 {
		// Version 1 approved only the command of a tool, not its input.
		a.all.Version = version
		a.all.Approvals = slices.DeleteFunc(a.all.Approvals, func(p Approval) bool {
			return strings.HasPrefix(p.Key, ToolKeys) && p.Kind == Process
		})
	}
	if v := a.all.Version; v != version {
		a.all = document{}
		return fmt.Errorf("read approvals %q: version %d is not known", a.path(), v)
	}
	return nil
}

// Allow implements [Gate].
func (a *Approvals) Allow(c Claim) error {
	if a.approved(c) {
		return nil
	}
	return &RefusedError{Claim: c, ID: a.ID(c)}
}

// idDigits is the length of an id, the prefix of a hash: long enough that nobody can make two
// claims that share one.
const idDigits = 32

// ID returns the id of a claim for the command line. Two claims that need separate approvals have
// different ids.
func (a *Approvals) ID(c Claim) string { return c.sum(a.workspace)[:idDigits] }

func (a *Approvals) approved(c Claim) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	return c.unbound() == nil && (a.holds(c) || a.follows(c))
}

// refresh reads the file again if another process has changed it since: a query lasts long, and the
// user may revoke an approval meanwhile. If it cannot be read, nothing is approved.
func (a *Approvals) refresh() {
	now, err := os.Stat(a.path())
	same := err == nil && a.seen != nil && os.SameFile(now, a.seen) &&
		now.ModTime().Equal(a.seen.ModTime())
	if !same && (err == nil || a.seen != nil) {
		_ = a.read()
	}
}

// follows reports whether a claim was approved before with other content of files that the user has
// committed since.
func (a *Approvals) follows(c Claim) bool {
	if a.Own == nil {
		return false
	}
	return slices.ContainsFunc(a.all.Approvals, func(p Approval) bool {
		if !a.isOf(p, c) {
			return false
		}
		names, ok := onlyFiles(p.Value, c.Value)
		return ok && !slices.ContainsFunc(names, func(name string) bool { return !a.Own(name) })
	})
}

// isOf reports whether an approval is valid and for the setting of a claim.
func (a *Approvals) isOf(p Approval, c Claim) bool {
	// The value is compared later, so it must be the one that the hash was computed of.
	of := Claim{Kind: p.Kind, Key: p.Key, Value: p.Value}
	return p.Workspace == a.workspace && p.Key == c.Key && p.Kind == c.Kind &&
		p.SHA256 == of.sum(a.workspace)
}

// before returns the last other value that was approved for the setting of a claim, "" for none.
func (a *Approvals) before(c Claim) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range slices.Backward(a.all.Approvals) {
		if a.isOf(p, c) && p.Value != c.Value {
			return p.Value
		}
	}
	return ""
}

// holds is approved with the lock held.
func (a *Approvals) holds(c Claim) bool {
	return slices.ContainsFunc(a.all.Approvals, a.isAbout(c))
}

// Approve stores approvals of claims for this workspace. Approvals of other workspaces do not
// change.
func (a *Approvals) Approve(at time.Time, claims ...Claim) error {
	for _, c := range claims {
		if c.unbound() != nil {
			return &RefusedError{Claim: c, ID: a.ID(c)}
		}
	}
	return a.change(func() {
		for _, c := range claims {
			a.all.Declined = slices.DeleteFunc(a.all.Declined, a.isAbout(c))
			if !a.holds(c) {
				a.all.Approvals = append(a.all.Approvals, a.answer(at, c))
			}
		}
	})
}

func (a *Approvals) answer(at time.Time, c Claim) Approval {
	return Approval{
		Workspace: a.workspace, Kind: c.Kind, Key: c.Key, Value: c.Value,
		SHA256: c.sum(a.workspace), At: at.UTC(),
	}
}

func (a *Approvals) isAbout(c Claim) func(Approval) bool {
	sum := c.sum(a.workspace)
	return func(p Approval) bool { return p.SHA256 == sum }
}

// Decline stores that the user declined settings with these values. For other kinds of claims it
// stores nothing: a user who is asked again may have changed their mind.
func (a *Approvals) Decline(at time.Time, claims ...Claim) error {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool {
		return c.Kind != Setting || a.Declined(c)
	})
	if len(claims) == 0 {
		return nil
	}
	return a.change(func() {
		for _, c := range claims {
			a.all.Declined = append(a.all.Declined, a.answer(at, c))
		}
	})
}

// Declined reports whether the user declined a setting with this value.
func (a *Approvals) Declined(c Claim) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.all.Declined, a.isAbout(c))
}

// Revoke removes the approvals of a key in this workspace, or all of them if key is "", and the
// declined claims. It returns their number.
func (a *Approvals) Revoke(key string) (n int, err error) {
	gone := func(p Approval) bool {
		return p.Workspace == a.workspace && (key == "" || p.Key == key)
	}
	err = a.change(func() {
		n = len(a.all.Approvals) + len(a.all.Declined)
		a.all.Approvals = slices.DeleteFunc(a.all.Approvals, gone)
		a.all.Declined = slices.DeleteFunc(a.all.Declined, gone)
		n -= len(a.all.Approvals) + len(a.all.Declined)
	})
	return n, err
}

// List returns the approvals of this workspace in the order in which they were given.
func (a *Approvals) List() []Approval { return a.here(&a.all.Approvals) }

// ListDeclined returns the claims that the user declined in this workspace.
func (a *Approvals) ListDeclined() []Approval { return a.here(&a.all.Declined) }

func (a *Approvals) here(all *[]Approval) []Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(*all), func(p Approval) bool {
		return p.Workspace != a.workspace
	})
}

// change reads the file, changes its content and writes it, while no other process does.
func (a *Approvals) change(change func()) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lock, err := a.lock()
	if err != nil {
		return fmt.Errorf("lock approvals: %w", err)
	}
	defer func() {
		_ = filelock.Unlock(lock) // closing it does the same, later
		err = errors.Join(err, lock.Close())
	}()
	if err := a.read(); err != nil {
		return err
	}
	change()
	return a.write()
}

// lock waits until no other process changes the file. A file system without locks has to do
// without.
func (a *Approvals) lock() (*os.File, error) {
	if err := atomicfile.MkdirPrivate(a.store.Dir); err != nil {
		return nil, err
	}
	name := filepath.Join(a.store.Dir, lockName)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: regular.ErrNot}
	}
	f, err := atomicfile.OpenPrivate(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		held, err := filelock.Try(f)
		if held || errors.Is(err, filelock.ErrNoLocks) {
			return f, nil
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		time.Sleep(lockPause)
	}
	return nil, errors.Join(errBusy, f.Close())
}

func (a *Approvals) write() error {
	data, err := json.MarshalIndent(a.all, "", "  ")
	if err == nil {
		options := atomicfile.Options{TempDir: tempDir, Private: true}
		err = atomicfile.WriteIn(a.store.Dir, fileName, append(data, '\n'), options)
	}
	if err != nil {
		return fmt.Errorf("write approvals: %w", err)
	}
	return nil
}

// Unapproved returns the claims that are not approved.
func (a *Approvals) Unapproved(claims []Claim) []Claim {
	return lists.Filter(claims, func(c Claim) bool { return a.Allow(c) != nil })
}
