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
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options say what is collected and how.
type Options struct {
	// Repo is the repository of the workspace, opened at its root. Required, except for
	// user-local content.
	Repo *gitint.Repo
	// Workspace is the one whose store is collected. Required.
	Workspace *workspace.Workspace
	// UserLocal collects the user-local store in its place.
	UserLocal bool
	// Cache remembers what was read. Nil remembers nothing.
	Cache *refs.Cache
	// Now is the clock. Required.
	Now func() time.Time
	// Grace is how old a blob must be, by the modification time of its file.
	Grace time.Duration
	// PID is this process, whose own lock of a conversation does not count.
	PID int
	// OnlyUntracked leaves files alone that the index has.
	OnlyUntracked bool
	// KeepIndex removes files and leaves their entries in the index.
	KeepIndex bool
	// AcceptMissing goes on where references are without content already.
	AcceptMissing bool
	// NoWait does not wait for a collection that is running. Hooks never wait.
	NoWait bool
	// Fetch, when not nil, brings objects that a remote has promised, in one request. Without
	// it a plan that needs what is not here is refused.
	Fetch func(ctx context.Context, ids []gitint.OID) error
	// Progress, when not nil, is told how far a stage has come.
	Progress func(stage string, done, total int)
	// Hook, when not nil, is called before each system call that changes something, with
	// the path that it is about. Its error is taken as that of the call. For tests.
	Hook func(step Step, path string) error
}

// A Step is a system call that changes something.
type Step string

// The steps of a sweep, beside those of package atomicfile.
const (
	StepMove   Step = "move"
	StepCopy   Step = "copy"
	StepUnlink Step = "unlink"
	StepRmdir  Step = "rmdir"
	StepStamp  Step = "stamp"
	StepIndex  Step = "index"
)

var (
	// ErrNoUserLocal says that the workspace has no user-local conversations.
	ErrNoUserLocal = errors.New("the workspace has no user-local store")
	// ErrElsewhere says that the workspace is in no working tree of the repository.
	ErrElsewhere = errors.New("the workspace is not in the working tree of the repository")
	errNoRepo    = errors.New("collecting without a repository: its history is not known")
)

// A place is where the files are that a collection works on.
type place struct {
	dir      string // that holds the store: .jp, or the user-local one
	store    string // the directory of blobs
	trash    string // where runs lie
	prefix   string // of the store, from the root of the working tree; "" if user-local
	name     string // by which runs know the store, wherever it is moved with its repository
	lockFile string
}

// place checks that the options fit together.
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

// pointer is the file that says that a run of this store is not finished. It lies in the
// store, so that any command finds it without asking for a repository.
func (p place) pointer() string { return pointerFile(p.dir) }

// IsOpen reports whether a collection of the store in dir, a .jp or a user-local directory,
// was begun and is not finished. It costs one look at a file.
func IsOpen(dir string) bool { return exists(pointerFile(dir)) }

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

// exists is for where it does no harm to take for absent what cannot be looked at.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isThere is exists for where it would: a blob that cannot be looked at for a moment is not
// one that is gone.
func isThere(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
