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

// A reach decides which files of the workspace the attachments that others wrote may give:
// what git tracks here, which whoever wrote them had as well. Everything else that they name
// has to be approved.
type reach struct {
	ctx     context.Context // of the command
	files   builtin.Workspace
	foreign map[string]bool // attachments that give nothing else

	mu      sync.Mutex // models look several resources up at once
	listed  bool
	tracked map[string]gitint.TrackedFile // by path in the repository
	changed map[string]bool               // names that were given and are not as in the index
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

// own says that an attachment is the user's, in whoever's words.
func (r *reach) own(attachment string) { delete(r.foreign, attachment) }

// admits is for [attach.Options].
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

// find returns what git knows of a file of the workspace.
func (r *reach) find(name string) (f gitint.TrackedFile, ok bool) {
	if r.files.Repo == nil {
		return f, false
	}
	if !r.listed {
		r.listed = true
		r.tracked, _ = r.files.Repo.Tracked(r.ctx) // what cannot be listed is not tracked
	}
	in, err := r.files.InRepo(name)
	if err != nil {
		return f, false
	}
	f, ok = r.tracked[in]
	return f, ok
}

// plain reports whether a name is that of a regular file, no link leads to it, and it has no
// other name.
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

// open returns the URL of an attachment when it is for its author to give, or approved.
func (r *reach) open(
	at jpconfig.Attachment, resolver *attach.Resolver, gate trust.Gate,
) (string, error) {
	shown := at.Shown()
	claim, foreign := at.Guarded().URL.Claim()
	if foreign && trust.WithoutAsking(gate).Allow(claim) == nil {
		delete(r.foreign, shown) // the user said so, of a pattern for all that it stands for
	}
	at = r.guarded(at, resolver)
	u, err := at.URL.Open(gate)
	if _, claimed := at.URL.Claim(); err == nil && claimed {
		delete(r.foreign, u)
	}
	return u, err
}

// guarded returns an attachment with a claim where it reaches what others cannot know.
func (r *reach) guarded(
	at jpconfig.Attachment, resolver *attach.Resolver,
) jpconfig.Attachment {
	if at.Foreign && resolver.Reaches(at.Shown()) {
		return at.Guarded()
	}
	return at
}

// warn names what was attached for others and is not as git has it.
func (r *reach) warn(h *Host) {
	if len(r.changed) > 0 {
		h.warn("attached with changes that are not staged: %s",
			strings.Join(slices.Sorted(maps.Keys(r.changed)), ", "))
	}
}

// PathClaims returns the claims of attachments that reach what others cannot know. Of what the
// user typed that is also a pattern which stands for such a file.
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
