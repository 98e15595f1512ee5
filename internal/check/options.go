package check

import (
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/refs"
)

// Options selects the checks. The zero value checks presence in the workspace at the root of the
// source.
type Options struct {
	// Content reads and hashes the content of every referenced blob.
	Content bool
	// Strict makes warnings fail the check.
	Strict bool
	// MaxBlobBytes is the largest allowed size of a reference; 0 means the default.
	MaxBlobBytes int64
	// LimitIn, if not nil, returns MaxBlobBytes for a workspace, given its directory .jp.
	LimitIn func(dir string) int64
	// Dirs are the workspaces: slash paths of directories .jp. nil means ".jp".
	Dirs []string
	// Select, if not nil, limits the check to the conversations it accepts. Foreign files between
	// conversations and in the store are then not reported.
	Select func(events.ID) bool
	// Cache stores what streams refer to. With nil a cache is used for this call only.
	Cache *refs.Cache
	// Rules identifies the program and thus its rules. If it is set and a tree is checked alone,
	// the cache records that nothing was found by these rules; "" records no verdict.
	Rules string
	// LeftOut has the blobs that a lazy clone leaves out of its working tree, as [LeftOutOf]
	// returns them. They count as present.
	LeftOut []Source
	// LFS is the local store of Git LFS, <git-common-dir>/lfs/objects, or nil.
	LFS fs.FS
	// NoPointers makes a Git LFS pointer in place of a blob a finding, for callers that need the
	// content itself.
	NoPointers bool
	// Gaps lists why the repository may lack objects or history.
	Gaps []Gap
	// Progress, if not nil, is called with the progress of a stage.
	Progress func(stage string, done, total int)
}

// A Gap is a reason why a repository is incomplete, in the words of gitint.
type Gap struct {
	Reason string // "shallow", "partial" or another word
	Detail string
	// Meant reports whether the clone is lazy: then the gap is intended and not reported.
	Meant bool
}

func (o *Options) dirs() []string {
	if o.Dirs == nil {
		return []string{".jp"}
	}
	return o.Dirs
}

// in returns the options for a workspace.
func (o *Options) in(dir string) *Options {
	if o.LimitIn == nil {
		return o
	}
	own := *o
	own.MaxBlobBytes = o.LimitIn(dir)
	return &own
}

// loosest returns the options for content that several workspaces may share, with the largest limit
// of all. A reference beyond the limit of its own workspace is reported with the reference.
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
	return slices.ContainsFunc(o.Gaps, func(gap Gap) bool { return gap.Reason == "partial" })
}
