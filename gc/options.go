package gc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options select what is collected and how.
type Options struct {
	// Repo is the repository of the workspace, opened at its root. Required, except for user-local
	// content.
	Repo *gitint.Repo
	// Workspace is the workspace whose store is collected. Required.
	Workspace *workspace.Workspace
	// UserLocal collects the user-local store instead.
	UserLocal bool
	// Cache remembers what was read. May be nil.
	Cache *refs.Cache
	// Now is the clock. Required.
	Now func() time.Time
	// Grace is the minimum age of a blob, by the modification time of its file.
	Grace time.Duration
	// PID is this process, whose own lock of a conversation is ignored.
	PID int
	// OnlyUntracked keeps files that the index has.
	OnlyUntracked bool
	// KeepIndex removes files but not their entries in the index.
	KeepIndex bool
	// AcceptMissing continues although the content of some references is already missing.
	AcceptMissing bool
	// NoWait does not wait for a running collection. Hooks never wait.
	NoWait bool
	// Fetch, if not nil, fetches promised objects in one request. Without it a plan that needs
	// missing objects is refused.
	Fetch func(ctx context.Context, ids []gitint.OID) error
	// Progress, if not nil, is called with the progress of a stage.
	Progress func(stage string, done, total int)
	// Hook, if not nil, is called before each system call that changes something, with its path. An
	// error fails the call. For tests.
	Hook func(step Step, path string) error
}

// A Step is a system call that changes something.
type Step string

// The steps of a sweep, in addition to those of package atomicfile.
const (
	StepMove   Step = "move"
	StepCopy   Step = "copy"
	StepUnlink Step = "unlink"
	StepRmdir  Step = "rmdir"
	StepStamp  Step = "stamp"
	StepIndex  Step = "index"
)

var (
	// ErrNoUserLocal reports a workspace without user-local conversations.
	ErrNoUserLocal = errors.New("the workspace has no user-local store")
	// ErrElsewhere reports a workspace outside of the working tree of the repository.
	ErrElsewhere = errors.New("the workspace is not in the working tree of the repository")
	errNoRepo    = errors.New("collecting without a repository: its history is not known")
)

// A place has the paths on which a collection works.
type place struct {
	dir      string // that has the store: .jp, or the user-local one
	store    string // the directory of blobs
	trash    string // directory of runs
	prefix   string // of the store, from the root of the working tree; "" if user-local
	name     string // of the store in runs, relative to its repository
	lockFile string
}

// place checks the options and returns their place.
func (o *Options) place() (place, error) {
	if o.UserLocal {
		dir := o.Workspace.UserDir()
		if dir == "" {
			return place{}, ErrNoUserLocal
		}
		p := place{dir: dir, store: filepath.Join(dir, blobsName), name: "user-local"}
		p.trash = filepath.Join(p.store, ".tmp", "trash")
		p.lockFile = filepath.Join(p.store, ".tmp", "gc.lock")
		return p, nil
	}
	if o.Repo == nil {
		return place{}, errNoRepo
	}
	root, err := filepath.EvalSymlinks(o.Workspace.Root())
	if err != nil {
		return place{}, err
	}
	rel, err := filepath.Rel(o.Repo.Root(), root)
	if err != nil || !filepath.IsLocal(rel) || o.Repo.Root() == "" {
		return place{}, ErrElsewhere
	}
	tree, err := filepath.Rel(o.Repo.CommonDir(), o.Repo.GitDir())
	if err != nil {
		return place{}, err
	}
	dir := filepath.Join(root, workspace.DirName)
	p := place{
		dir: dir, store: filepath.Join(dir, blobsName), trash: filepath.Join(o.Repo.Dir(), "trash"),
		lockFile: filepath.Join(o.Repo.Dir(), "gc.lock"),
		prefix:   filepath.ToSlash(filepath.Join(rel, workspace.DirName, blobsName)),
	}
	p.name = filepath.ToSlash(tree) + ":" + p.prefix
	return p, nil
}

// pointer returns the file that marks an unfinished run of this store. It is in the store, so that
// any command finds it without a repository.
func (p place) pointer() string { return pointerFile(p.dir) }

// IsOpen reports whether the store in dir, a .jp or a user-local directory, has an unfinished
// collection. It costs one stat.
func IsOpen(dir string) bool { return regular.Exists(pointerFile(dir)) }

func pointerFile(dir string) string { return filepath.Join(dir, blobsName, ".tmp", "gc.open") }

func (o *Options) progress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

func (o *Options) step(s Step, path string) error {
	if o.Hook == nil {
		return nil
	}
	return o.Hook(s, path)
}

func (o *Options) cache() *refs.Cache {
	if o.Cache == nil {
		o.Cache = new(refs.Cache)
	}
	return o.Cache
}

// isThere is [regular.Exists] for callers that may not: a blob that cannot be examined for a moment
// is not missing.
func isThere(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
