package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/trust"
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

// told names what was attached for others and is not as git has it.
func (r *reach) told(a *app) {
	if len(r.changed) > 0 {
		a.warn("attached with changes that are not staged: %s",
			strings.Join(slices.Sorted(maps.Keys(r.changed)), ", "))
	}
}

// pathClaims returns the claims of attachments that reach what others cannot know. Of what the
// user typed that is also a pattern which stands for such a file.
func (a *app) pathClaims(
	ctx context.Context, conf *jpconfig.Config, typed bool,
) (all []trust.Claim, err error) {
	files, closeFiles, err := a.attachedFiles(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	r := newReach(ctx, files, conf)
	resolver := attach.New(attach.Options{
		Files: files, Conversations: a.openWorkspace, Admits: r.admits,
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

// An ignoredError is a file that the user attaches and git ignores.
type ignoredError struct {
	url string
	by  gitint.Ignored
}

func (e *ignoredError) Error() string {
	return fmt.Sprintf("attach %q: git ignores it (%s:%d), and its content would become part of "+
		"the conversation, of the commit and of what the model is given",
		e.url, e.by.Source, e.by.Line)
}

// Hints say how to attach it all the same.
func (e *ignoredError) Hints() []string {
	return []string{fmt.Sprintf("to attach it all the same: -a '%s?ignored=true'", e.url)}
}

// askIgnored asks once about files that the user attaches although git ignores them.
func (k *talk) askIgnored(ctx context.Context, urls []string) error {
	if k.files.Repo == nil {
		return nil
	}
	type attachment struct{ url, name string }
	byPath := map[string]attachment{}
	for _, u := range urls {
		name, ok := attach.FileNamed(u, k.files.Tree)
		if !ok {
			continue
		}
		if in, err := k.files.InRepo(name); err == nil {
			byPath[in] = attachment{u, name}
		}
	}
	ignored, err := k.files.Repo.CheckIgnore(ctx, slices.Sorted(maps.Keys(byPath)))
	if err != nil {
		return err
	}
	for _, by := range ignored {
		at := byPath[by.Path]
		claim := trust.Claim{Kind: trust.Path, Key: jpconfig.AttachmentsKey, Value: at.url}
		_, tracked := k.reach.find(at.name)
		if tracked || strings.HasPrefix(by.Pattern, "!") ||
			trust.WithoutAsking(k.gate).Allow(claim) == nil {
			continue
		}
		if err := k.allowIgnored(ctx, &ignoredError{at.url, by}, claim); err != nil {
			return err
		}
	}
	return nil
}

// allowIgnored asks about one of them. A yes is remembered.
func (k *talk) allowIgnored(ctx context.Context, why *ignoredError, claim trust.Claim) error {
	if k.prompter == nil {
		return why
	}
	s, err := k.prompter.Open(ctx)
	if err != nil {
		return why
	}
	answer, err := s.Key("%v.\nAttach it? [y]es, [N]o: ", why)
	if closeErr := s.Close(); err != nil || closeErr != nil || answer != "y" && answer != "yes" {
		return why
	}
	if asker, ok := k.gate.(*trust.Asker); ok {
		return asker.Approvals.Approve(k.app.now(), claim)
	}
	return nil
}

// refreshable returns what of the conversation's resources may be looked up again without a
// question: what was attached now or is declared and approved, and files. A conversation that
// somebody else wrote names commands, hosts and secrets, too: files are given as theirs are.
func (k *talk) refreshable(uris, approved []string) []string {
	known := map[string]bool{}
	for _, a := range approved {
		known[k.resolver.Canonical(a)] = true
	}
	for _, u := range uris {
		if u = k.resolver.Canonical(u); !known[u] {
			k.reach.foreign[attach.FileURL(u)] = true
		}
	}
	return slices.DeleteFunc(uris, func(u string) bool {
		return events.URIScheme(u) != "file" && !known[k.resolver.Canonical(u)]
	})
}
