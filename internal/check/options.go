package check

import (
	"io/fs"
	"runtime"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/refs"
)

// Options chooses what is checked. The zero value checks presence in the workspace at the
// root of the source.
type Options struct {
	// Content reads and hashes the content of every blob that is referred to.
	Content bool
	// Strict makes warnings fail the check.
	Strict bool
	// MaxBlobBytes is the limit of a reference; 0 means the default.
	MaxBlobBytes int64
	// LimitIn, when not nil, is MaxBlobBytes of a workspace, by its directory .jp.
	LimitIn func(dir string) int64
	// Dirs are the workspaces: slash paths of directories .jp. nil means ".jp".
	Dirs []string
	// Select, when not nil, limits the check to the conversations it accepts.
	// What lies between conversations and in the store is then not reported.
	Select func(events.ID) bool
	// Cache remembers what streams refer to. nil remembers for this call.
	Cache *refs.Cache
	// Rules name the program, and with it the rules that it checks by. The cache then remembers of
	// a tree that is checked alone that nothing was found by them; "" remembers no verdict.
	Rules string
	// LeftOut has the blobs that a lazy clone leaves out of its working tree, as
	// [LeftOutOf] returns it: they are present there all the same.
	LeftOut []Source
	// LFS is the local store of Git LFS, <git-common-dir>/lfs/objects, or nil.
	LFS fs.FS
	// NoPointers makes a Git LFS pointer in place of a blob a finding: for who looks for content
	// and not for what a clone is to have.
	NoPointers bool
	// Gaps say why the repository may lack objects or history.
	Gaps []Gap
	// Progress, when not nil, is told how far a stage has come.
	Progress func(stage string, done, total int)
	// Workers bounds how many files are read at a time; 0 means one a processor.
	Workers int
}

// A Gap says why a repository is incomplete, in the words of gitint.
type Gap struct {
	Reason string // "shallow", "partial" or another word
	Detail string
	// Meant says that the clone is lazy: the gap is what was wanted, and is not reported.
	Meant bool
}

func (o *Options) dirs() []string {
	if o.Dirs == nil {
		return []string{".jp"}
	}
	return o.Dirs
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// in are the options for a workspace.
func (o *Options) in(dir string) *Options {
	if o.LimitIn == nil {
		return o
	}
	own := *o
	own.MaxBlobBytes = o.LimitIn(dir)
	return &own
}

// loosest are the options for what several workspaces may have: what one of them refers to
// beyond its limit the reference tells.
func (o *Options) loosest() *Options {
	if o.LimitIn == nil {
		return o
	}
	all := *o
	for i, dir := range o.dirs() {
		limits := o.in(dir).limits()
		if i == 0 || limits.Max() > all.limits().Max() {
			all.MaxBlobBytes = limits.MaxBlobBytes
		}
	}
	return &all
}

func (o *Options) limits() blobs.Limits { return blobs.Limits{MaxBlobBytes: o.MaxBlobBytes} }

func (o *Options) selects(id events.ID) bool { return o.Select == nil || o.Select(id) }

func (o *Options) progress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

func (o *Options) partial() bool {
	for _, gap := range o.Gaps {
		if gap.Reason == "partial" {
			return true
		}
	}
	return false
}
