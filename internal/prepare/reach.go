package prepare

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A reach decides which files of the workspace foreign attachments can attach: those that git
// tracks here, since the author of the attachments has them too. All others need an approval.
type reach struct {
	ctx     context.Context // of the command
	files   builtin.Workspace
	foreign map[string]bool // attachments that are restricted to these

	mu      sync.Mutex // models resolve several resources at once
	listed  bool
	tracked map[string]gitint.TrackedFile // by path in the repository
	changed map[string]bool               // attached files with changes that are not staged
}

func newReach(ctx context.Context, files builtin.Workspace, conf *jpconfig.Config) *reach {
	r := &reach{
		ctx: ctx, files: files, foreign: map[string]bool{}, changed: map[string]bool{},
	}
	for _, at := range conf.Attachments() {
		if at.Foreign {
			r.foreign[at.Shown()] = true
		}
	}
	return r
}

// own marks an attachment as the user's, even if a foreign layer declares the same.
func (r *reach) own(attachment string) { delete(r.foreign, attachment) }

// admits implements Admits of [attach.Options].
func (r *reach) admits(attachment, name string) bool {
	if !r.foreign[attachment] {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.find(name)
	if !ok || f.Pinned || f.Mode != gitint.ModeFile && f.Mode != gitint.ModeExecutable ||
		!r.plain(name) {
		return false
	}
	if f.Changed {
		r.changed[name] = true
	}
	return true
}

// find returns git's entry for a file of the workspace.
func (r *reach) find(name string) (f gitint.TrackedFile, ok bool) {
	if r.files.Repo == nil {
		return f, false
	}
	if !r.listed {
		r.listed = true
		r.tracked, _ = r.files.Repo.Tracked(r.ctx) // on an error, no file counts as tracked
	}
	in, err := r.files.InRepo(name)
	if err != nil {
		return f, false
	}
	f, ok = r.tracked[in]
	return f, ok
}

// plain reports whether a name is that of a regular file without links to it, symbolic or hard.
func (r *reach) plain(name string) bool {
	root, err := filepath.EvalSymlinks(r.files.Tree.Root())
	if err != nil {
		return false
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real != path {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && regular.Links(info) == 1
}

// open returns the URL of an attachment if its author may attach it, or if it is approved.
func (r *reach) open(
	at jpconfig.Attachment, resolver *attach.Resolver, gate trust.Gate,
) (string, error) {
	shown := at.Shown()
	claim, foreign := at.Guarded().URL.Claim()
	if foreign && trust.WithoutAsking(gate).Allow(claim) == nil {
		delete(r.foreign, shown) // the user approved it; a pattern with all its files
	}
	at = r.guarded(at, resolver)
	u, err := at.URL.Open(gate)
	if _, claimed := at.URL.Claim(); err == nil && claimed {
		delete(r.foreign, u)
	}
	return u, err
}

// guarded adds a claim to an attachment that reaches files which its author may not have.
func (r *reach) guarded(
	at jpconfig.Attachment, resolver *attach.Resolver,
) jpconfig.Attachment {
	if at.Foreign && resolver.Reaches(at.Shown()) {
		return at.Guarded()
	}
	return at
}

// warn lists files of foreign attachments that have changes which are not staged.
func (r *reach) warn(h *Host) {
	if len(r.changed) > 0 {
		h.warn("attached with changes that are not staged: %s",
			strings.Join(slices.Sorted(maps.Keys(r.changed)), ", "))
	}
}

// PathClaims returns the claims of attachments that reach files which their author may not have. If
// typed is set, these include patterns that match such files.
func (h *Host) PathClaims(
	ctx context.Context, w *workspace.Workspace, conf *jpconfig.Config, typed bool,
) (all []trust.Claim, err error) {
	files, err := h.openFiles(ctx, w.Root())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Tree.Close()) }()
	r := newReach(ctx, files, conf)
	resolver := attach.New(attach.Options{
		Files: files, Conversations: w, Admits: r.admits,
	})
	for _, at := range conf.Attachments() {
		if _, claimed := at.URL.Claim(); claimed {
			continue
		}
		guarded := r.guarded(at, resolver)
		if typed && at.Foreign && resolver.Withholds(ctx, at.Shown()) {
			guarded = at.Guarded()
		}
		if claim, reaches := guarded.URL.Claim(); reaches {
			all = append(all, claim)
		}
	}
	return all, nil
}
