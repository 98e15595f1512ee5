package workspace

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// Env is the environment of a workspace.
type Env struct {
	Getenv func(string) string // required
	Now    func() time.Time    // required
	Home   string              // the user's home directory; "" means no user-local storage
	Dir    string              // the working directory, for relative paths
	GOOS   string              // "" means runtime.GOOS
	Getsid func() (int, error) // the id of the terminal session; nil if there is none
	PID    int                 // written into locks; 0 means the current process

	// Leader returns the age of the process that leads a terminal session, 0 if it is not known;
	// false if there is no such process. Nil means that nothing is known.
	Leader func(pid int) (age time.Duration, alive bool)

	// Shares reports whether the workspace may use the user-local data at dir. The link of the data
	// leads to jp, the .jp of another root, or there is no link and jp is "". The id alone proves
	// nothing, because it is in a file that anyone can copy. Nil means yes.
	Shares func(dir, jp string) bool

	// Committed reports whether git has a conversation, under any name: its directory then keeps
	// its name. Nil means no git.
	Committed func(id events.ID) bool

	// LeftOut returns the files, below the root, that git has and a sparse checkout leaves out of
	// the working tree. It is called once. Nil means none.
	LeftOut func() (LeftOutFiles, error)

	// Elsewhere has the workspace's blobs that have no file. Nil means none.
	Elsewhere Elsewhere

	// InGit reads a file below the root as git has it, if it has one. Only Init needs it. Nil means
	// no git.
	InGit func(name string) (data []byte, ok bool, err error)

	Settings Settings
}

// LeftOutFiles are files that git has and a sparse checkout leaves out of the working tree.
type LeftOutFiles interface {
	Names() []string
	// ReadFile reads one as the next commit has it.
	ReadFile(name string) ([]byte, error)
}

// An Elsewhere has blobs without files, and fetches those read together in one go.
type Elsewhere interface {
	blobs.Elsewhere
	// Fetches reports whether some blobs may have to be fetched, so that announcing reads pays.
	Fetches() bool
	// Expect announces reads.
	Expect(refs iter.Seq[blobs.Ref])
}

// A Format is the way in which contents are stored.
type Format string

// The formats. The zero Format means FormatBlobs.
const (
	FormatBlobs  Format = "blobs"
	FormatInline Format = "inline"
)

// Settings are the configuration of a workspace.
type Settings struct {
	Format       Format
	MaxBlobBytes int64 // 0 means the default of package blobs
	// MaxStreamBytes limits the size of a stream that is read or written; 0 means the default.
	MaxStreamBytes int64
	LockWait       time.Duration // how long to wait for a lock; 0 fails at once
}

func (s Settings) limits() regular.Limits {
	return regular.Limits{Stream: s.MaxStreamBytes, Blob: s.MaxBlobBytes}
}

// committed reports whether git has the conversation of an entry.
func (e Env) committed(at Entry) bool {
	return !at.Local && e.Committed != nil && e.Committed(at.ID)
}

func (e Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

func (e Env) pid() int {
	if e.PID != 0 {
		return e.PID
	}
	return os.Getpid()
}

func (e Env) goos() string {
	return cmp.Or(e.GOOS, runtime.GOOS)
}

// abs makes a path absolute that is relative to the working directory.
func (e Env) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir, name)
}

// jpDataDir returns jp's directory in the user's data, "" if there is none.
func (e Env) jpDataDir() string {
	if dir := e.getenv("JP_USER_DATA_DIR"); dir != "" {
		return e.abs(dir)
	}
	return e.dataDir("jp")
}

// userData returns the directory in the user's data that has a directory for each workspace, "" if
// the user has no data directory.
func (e Env) userData() string {
	data := e.jpDataDir()
	if data == "" {
		return ""
	}
	return filepath.Join(data, "workspace")
}

// StateDir returns the directory in the user's data for git-jp's own files, such as approvals; ""
// if there is none. It is outside of all workspaces.
func (e Env) StateDir() string {
	if dir := e.getenv("JP_USER_DATA_DIR"); dir != "" {
		return filepath.Join(e.abs(dir), "git-jp")
	}
	return e.dataDir("git-jp")
}

// dataDir returns the platform's directory for the data of a program.
func (e Env) dataDir(program string) string {
	if dir := e.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, program)
	}
	switch local := e.getenv("LOCALAPPDATA"); {
	case e.goos() == "windows" && local != "":
		return filepath.Join(local, program, "data")
	case e.goos() == "windows" || e.Home == "":
		return ""
	case e.goos() == "darwin":
		return filepath.Join(e.Home, "Library", "Application Support", program)
	default:
		return filepath.Join(e.Home, ".local", "share", program)
	}
}
