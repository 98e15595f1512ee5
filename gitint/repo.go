package gitint

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trace"
)

// Options locate a repository and control how git is called.
type Options struct {
	// Dir is an absolute directory in the working tree or in the repository.
	Dir string // required
	// Env is the complete environment of the program, as of os.Environ.
	Env []string // required
	// Trace, if not nil, gets a line for every git that runs.
	Trace *trace.Log
	// Now, if not nil, is the clock of the trace.
	Now func() time.Time
	// LockTimeout is how long a write waits for a lock that another git holds.
	LockTimeout time.Duration
	// Limits are the size limits for files and objects that are read. A larger object is not
	// decompressed.
	Limits regular.Limits
	// Fetch, if not nil, is called before objects are fetched from a remote that has promised them,
	// with their number and size, 0 if only the remote knows it. If it returns an error, nothing is
	// fetched.
	Fetch func(objects int, bytes int64) error
}

// git returns what runs git in the directory.
func (o Options) git() *git.Runner {
	return &git.Runner{Dir: o.Dir, Env: slices.Clone(o.Env), Trace: o.Trace, Clock: o.Now}
}

// A Repo is one repository, seen from one of its working trees or from none.
type Repo struct {
	root         string
	gitDir       string
	commonDir    string
	objectDir    string
	indexPath    string
	objectFormat string
	bare         bool
	shallow      bool
	plain        bool // found without git

	git         *git.Runner
	lockTimeout time.Duration
	limits      regular.Limits
	fetch       func(objects int, bytes int64) error
	reads       atomic.Int64

	shapeMu sync.Mutex
	known   *shape
	own     *layout // of a plain repository

	objects objects
	refs    refState
	behind  promisedHistory
}

// Open finds the repository of opts.Dir as git does. It returns ErrNotRepository, an *UnsafeError,
// an *EmbeddedError or another error of git. It starts one process, and none for a plain
// repository; everything else is read on demand.
func Open(ctx context.Context, opts Options) (*Repo, error) {
	r := &Repo{
		git:         opts.git(),
		lockTimeout: opts.LockTimeout,
		limits:      opts.Limits,
		fetch:       opts.Fetch,
	}
	r.objects.batch, r.objects.check = r.git.CatFile(git.Contents), r.git.CatFile(git.Heads)
	if err := r.locate(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Close ends the processes and closes the files that are kept for reading. A later read opens them
// again.
func (r *Repo) Close() error {
	r.objects.close()
	return nil
}

// Limits returns the limits with which the repository was opened.
func (r *Repo) Limits() regular.Limits { return r.limits }

// Root returns the absolute path of the working tree. It is empty in a bare repository and inside a
// git directory.
func (r *Repo) Root() string { return r.root }

// GitDir returns the absolute path of this worktree's git directory.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the absolute path of the git directory that all worktrees share.
func (r *Repo) CommonDir() string { return r.commonDir }

// Dir returns the directory for this program's own state about the repository. It need not exist.
func (r *Repo) Dir() string { return filepath.Join(r.commonDir, "jp") }

// Bare reports whether the repository has no working tree.
func (r *Repo) Bare() bool { return r.bare }

// ObjectFormat returns "sha1" or "sha256".
func (r *Repo) ObjectFormat() string { return r.objectFormat }

// IndexPath returns the absolute path of the index that git uses now, which in a hook may not be
// that of the working tree.
func (r *Repo) IndexPath() string { return r.indexPath }

// Processes returns how many processes were started so far.
func (r *Repo) Processes() int { return r.git.Processes() }

// ObjectsRead returns how many objects were read with their content so far.
func (r *Repo) ObjectsRead() int { return int(r.reads.Load()) }

// Env returns a copy of the environment in which git runs.
func (r *Repo) Env() []string { return slices.Clone(r.git.Env) }
