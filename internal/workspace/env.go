package workspace

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// Env is what a workspace takes from the world around it.
type Env struct {
	Getenv func(string) string // required
	Now    func() time.Time    // required
	Home   string              // the user's home directory; "" for none: no user-local storage then
	Dir    string              // the working directory, for relative paths
	GOOS   string              // "" means runtime.GOOS
	Getsid func() (int, error) // the id of the terminal session; nil when there is none
	PID    int                 // written into locks; 0 means that of this process

	// Shares reports whether the workspace may have the user-local data at dir, whose link leads
	// to the directory .jp of another root, or which has no link and then no jp: an id is a file
	// that anybody may copy. Nil stands for yes.
	Shares func(dir, jp string) bool

	// Committed reports whether Git has a conversation, under whatever name: its directory
	// then keeps the name that it has. Nil stands for no Git.
	Committed func(id events.ID) bool

	// LeftOut returns the files, below the root, that Git has and a sparse checkout leaves out of
	// the working tree. It is called once. Nil stands for none.
	LeftOut func() ([]string, error)

	// Elsewhere has the workspace's blobs that have no file. Nil stands for none.
	Elsewhere Elsewhere

	Settings Settings
}

// An Elsewhere has blobs that need no file, and takes care that what is read together comes
// together.
type Elsewhere interface {
	blobs.Elsewhere
	// Expect says what may be read soon.
	Expect(refs iter.Seq[blobs.Ref])
}

// A Format is how contents are written.
type Format string

// The formats. The zero Format means FormatBlobs.
const (
	FormatBlobs  Format = "blobs"
	FormatInline Format = "inline"
)

// Settings are the parts of the configuration that matter here.
type Settings struct {
	Format       Format
	MaxBlobBytes int64 // 0 means the default of package blobs
	// MaxStreamBytes is the largest stream that is read or written; 0 means the default.
	MaxStreamBytes int64
	LockWait       time.Duration // how long to wait for a lock; 0 fails at once
}

func (s Settings) limits() regular.Limits {
	return regular.Limits{Stream: s.MaxStreamBytes, Blob: s.MaxBlobBytes}
}

// committed reports whether Git has the conversation of an entry.
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
	if e.GOOS != "" {
		return e.GOOS
	}
	return runtime.GOOS
}

// abs makes a path absolute that is relative to the working directory.
func (e Env) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir, name)
}

// jpDataDir is jp's directory in the user's data, "" when there is none.
func (e Env) jpDataDir() string {
	if dir := e.getenv("JP_USER_DATA_DIR"); dir != "" {
		return e.abs(dir)
	}
	return e.dataDir("jp")
}

// stateDir is our directory in the user's data, "" when there is none.
func (e Env) stateDir() string {
	if dir := e.getenv("JP_USER_DATA_DIR"); dir != "" {
		return filepath.Join(e.abs(dir), "git-jp")
	}
	return e.dataDir("git-jp")
}

// StateDir returns the directory of the user's data in which we keep what is ours, such
// as approvals; "" when there is none. It lies in no workspace.
func (e Env) StateDir() string { return e.stateDir() }

// dataDir is where the platform wants the data of a program.
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
