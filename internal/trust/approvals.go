package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

const (
	fileName = "approvals.json"
	tempDir  = ".tmp"
	version  = 2
)

// An Approval is one claim that the user approved.
type Approval struct {
	Workspace Workspace `json:"workspace"`
	Kind      Kind      `json:"kind"`
	Key       string    `json:"key"`
	Value     string    `json:"value"` // to be read by people; the hash counts
	SHA256    string    `json:"sha256"`
	At        time.Time `json:"approved_at"`
}

// ID returns the id of the claim, as [Approvals.ID] does, "" when the file has none.
func (a Approval) ID() string {
	if len(a.SHA256) < idDigits {
		return ""
	}
	return a.SHA256[:idDigits]
}

// document is the file's form.
type document struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
	// Declined are settings to which the user said no: nobody asks about them again unless told to.
	Declined []Approval `json:"declined,omitempty"`
}

// Approvals are what the user approved in one workspace. They are a [Gate] and may be
// used by several goroutines.
type Approvals struct {
	// Own reports whether what a file of the workspace holds now was committed in this clone;
	// nil reports nothing. A command that was approved runs such a file without a question.
	Own func(name string) bool

	dir       string
	workspace Workspace
	mu        sync.Mutex
	all       document // guarded by mu
}

// ErrInside is the error of a directory that others can write to by committing.
var ErrInside = errors.New("approvals would lie inside the workspace")

// Open reads the approvals below dir, which need not exist.
func Open(dir string, w Workspace) (*Approvals, error) {
	inside, err := contains(w.Root, dir)
	if err != nil {
		return nil, fmt.Errorf("open approvals: %w", err)
	}
	if inside {
		return nil, fmt.Errorf("open approvals %q: %w", dir, ErrInside)
	}
	a := &Approvals{dir: dir, workspace: w}
	return a, a.read()
}

// contains reports whether dir is root or lies below it, links resolved as far as
// they exist.
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
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return false, nil //nolint:nilerr // on another volume
	}
	return rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}

// resolve is filepath.EvalSymlinks for paths whose end does not exist yet.
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

func (a *Approvals) path() string { return filepath.Join(a.dir, fileName) }

func (a *Approvals) read() error {
	a.all = document{Version: version}
	data, err := regular.ReadFile(a.path(), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read approvals: %w", err)
	}
	if err := json.Unmarshal(data, &a.all); err != nil {
		a.all = document{}
		return fmt.Errorf("read approvals %q: %w", a.path(), err)
	}
	if a.all.Version == 1 {
		// Of tools, the first version approved the command alone, and not what it is given.
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

// idDigits is how much of a hash names a claim: too much for two claims to be made that
// share it.
const idDigits = 32

// ID returns what names a claim in this workspace on a command line. Two claims that an
// approval tells apart have different ones.
func (a *Approvals) ID(c Claim) string { return c.sum(a.workspace)[:idDigits] }

func (a *Approvals) approved(c Claim) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holds(c) || a.follows(c)
}

// follows reports whether a claim is one that was approved, except for files that the user has
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

// isOf reports whether an approval that holds is about the setting of a claim.
func (a *Approvals) isOf(p Approval, c Claim) bool {
	// What is to be read by people counts here, so it has to be what the hash is of.
	of := Claim{Kind: p.Kind, Key: p.Key, Value: p.Value}
	return p.Workspace == a.workspace && p.Key == c.Key && p.Kind == c.Kind &&
		p.SHA256 == of.sum(a.workspace)
}

// before returns what was approved last for the setting of a claim, "" for nothing.
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
	sum := c.sum(a.workspace)
	return slices.ContainsFunc(a.all.Approvals, func(p Approval) bool { return p.SHA256 == sum })
}

// Approve approves claims for this workspace, now and later. Approvals of other
// workspaces stay.
func (a *Approvals) Approve(at time.Time, claims ...Claim) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.read(); err != nil {
		return err
	}
	for _, c := range claims {
		a.all.Declined = slices.DeleteFunc(a.all.Declined, a.isAbout(c))
		if !a.holds(c) {
			a.all.Approvals = append(a.all.Approvals, a.answer(at, c))
		}
	}
	return a.write()
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

// Decline remembers that the user said no to settings, for these values. Of other claims a no
// counts once: whoever meets them again may have changed their mind.
func (a *Approvals) Decline(at time.Time, claims ...Claim) error {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool {
		return c.Kind != Setting || a.Declined(c)
	})
	if len(claims) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.read(); err != nil {
		return err
	}
	for _, c := range claims {
		a.all.Declined = append(a.all.Declined, a.answer(at, c))
	}
	return a.write()
}

// Declined reports whether the user said no to a setting with this value.
func (a *Approvals) Declined(c Claim) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.all.Declined, a.isAbout(c))
}

// Revoke takes back the approvals of a key in this workspace, all of them when key is
// "", and forgets what was declined. It returns how many there were.
func (a *Approvals) Revoke(key string) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.read(); err != nil {
		return 0, err
	}
	before := len(a.all.Approvals) + len(a.all.Declined)
	gone := func(p Approval) bool {
		return p.Workspace == a.workspace && (key == "" || p.Key == key)
	}
	a.all.Approvals = slices.DeleteFunc(a.all.Approvals, gone)
	a.all.Declined = slices.DeleteFunc(a.all.Declined, gone)
	n := before - len(a.all.Approvals) - len(a.all.Declined)
	if n == 0 {
		return 0, nil
	}
	return n, a.write()
}

// List returns the approvals of this workspace in the order in which they were given.
func (a *Approvals) List() []Approval { return a.here(&a.all.Approvals) }

// ListDeclined returns what the user said no to in this workspace.
func (a *Approvals) ListDeclined() []Approval { return a.here(&a.all.Declined) }

func (a *Approvals) here(all *[]Approval) []Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(*all), func(p Approval) bool {
		return p.Workspace != a.workspace
	})
}

func (a *Approvals) write() error {
	data, err := json.MarshalIndent(a.all, "", "  ")
	if err == nil {
		err = atomicfile.MkdirPrivate(a.dir)
	}
	if err == nil {
		options := atomicfile.Options{TempDir: tempDir, Private: true}
		err = atomicfile.WriteIn(a.dir, fileName, append(data, '\n'), options)
	}
	if err != nil {
		return fmt.Errorf("write approvals: %w", err)
	}
	return nil
}

// Unapproved returns those of the claims that nobody approved.
func (a *Approvals) Unapproved(claims []Claim) (left []Claim) {
	for _, c := range claims {
		if a.Allow(c) != nil {
			left = append(left, c)
		}
	}
	return left
}
