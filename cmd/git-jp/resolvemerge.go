package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A mergeReview is a look at one merge commit of the past.
type mergeReview struct {
	*app
	workspace *workspace.Workspace
	repo      *gitint.Repo
	dir       string // .jp, from the root of the working tree
	commit    gitint.Commit
	lost      merge.Lost
}

// review looks at what a merge left out, as seen from HEAD. What other branches merged is looked
// at as it was made.
func (a *app) review(ctx context.Context, rev string) (*mergeReview, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	r := &mergeReview{app: a, workspace: w}
	if r.repo, err = a.repo(ctx); err != nil {
		return nil, err
	}
	if r.dir, err = a.dirInRepo(w, r.repo); err != nil {
		return nil, err
	}
	if r.commit.OID, err = r.repo.Resolve(ctx, rev); err != nil {
		return nil, fmt.Errorf("read %s: %w", rev, err)
	}
	r.commit.Parents, err = merge.Parents(ctx, r.repo, r.commit.OID)
	if err != nil {
		return nil, err
	}
	if len(r.commit.Parents) == 1 {
		squashed, err := r.squashed(ctx)
		if err != nil {
			return nil, err
		}
		r.commit.Parents = append(r.commit.Parents, squashed...)
	}
	if len(r.commit.Parents) < 2 {
		return nil, fmt.Errorf("read %s: it is no merge", rev)
	}
	head, err := r.repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	tips := []gitint.OID{head}
	if later, err := r.repo.Commits(ctx, r.commit.OID.String(), "^HEAD"); err != nil {
		return nil, err
	} else if len(later) > 0 {
		tips = []gitint.OID{r.commit.OID}
	}
	r.lost, err = merge.Review{Repo: r.repo, Tips: tips}.Lost(ctx, r.commit, []string{r.dir})
	return r, err
}

// squashed returns what a commit with one parent squashed, by its message or else its files.
func (r *mergeReview) squashed(ctx context.Context) ([]gitint.OID, error) {
	id := r.commit.OID
	named, err := r.repo.Squashed(ctx, id.String()+"^!")
	if err != nil || len(named) > 0 {
		return named[id], err
	}
	seeming, err := merge.Squashes(ctx, r.repo, id, []gitint.Commit{r.commit}, []string{r.dir})
	if squash, ok := seeming[id]; ok {
		return []gitint.OID{squash.Of}, err
	}
	return nil, err
}

// accept says in a commit of its own that what a merge left out is to stay out. A commit reaches
// everybody who gets the merge, a fresh clone in CI too, and changes no history.
func (c resolveCmd) accept(ctx context.Context, a *app) error {
	if len(c.Conversation) > 0 {
		return usagef("--accept is about a whole merge: name no conversation")
	}
	r, err := a.review(ctx, c.Accept)
	if err != nil {
		return err
	}
	if len(r.lost.Losses) == 0 {
		a.note("merge %s left nothing out", r.commit.OID.String()[:12])
		return nil
	}
	said, err := r.repo.CommitEmpty(ctx, fmt.Sprintf(
		"Accept what merge %s left out\n\n%s: %s\n",
		r.commit.OID.String()[:12], merge.ResolvedKey, r.commit.OID))
	if said != "" {
		a.note("%s", said)
	}
	if err != nil {
		return err
	}
	a.note("accepted: %s", r.summary())
	return nil
}

// summary says what the merge left out.
func (r *mergeReview) summary() string {
	elements := 0
	for _, l := range r.lost.Losses {
		elements += len(l.Elements)
	}
	return render.Count(elements, "event") + " of " +
		render.Count(len(r.lost.Losses), "conversation")
}

// restore brings back to the working tree and the index what a merge left out.
func (c resolveCmd) restore(ctx context.Context, a *app) error {
	r, err := a.review(ctx, c.Restore)
	if err != nil {
		return err
	}
	wanted, err := a.stageIDs(c.Conversation)
	if err != nil {
		return err
	}
	var done []events.ID
	for _, l := range r.lost.Losses {
		if len(wanted) > 0 && !slices.Contains(wanted, l.Conversation) {
			continue
		}
		if err := r.bringBack(ctx, l); err != nil {
			return err
		}
		done = append(done, l.Conversation)
	}
	if len(done) == 0 {
		a.note("nothing is missing that merge %s left out", r.commit.OID.String()[:12])
		return nil
	}
	settings, err := a.settings()
	if err != nil {
		return err
	}
	_, err = stage.Run(ctx, stage.Request{
		Repo: r.repo, Dir: r.dir, IDs: done, Cache: a.refsCache(r.repo),
		MaxBlobBytes: settings.Storage.MaxBlobBytes,
	})
	if err != nil {
		return err
	}
	a.note("staged; 'git commit' completes it")
	return nil
}

// bringBack brings back what is missing of one conversation, and the content it refers to.
func (r *mergeReview) bringBack(ctx context.Context, l merge.Loss) error {
	recovery := merge.Recovery{
		Resolver: merge.Resolver{Repo: r.repo, Workspace: r.workspace, Dir: r.dir, Now: r.now},
		Merge:    r.commit, Loss: l,
	}
	at, err := recovery.Run(ctx)
	if err != nil {
		return err
	}
	name := filepath.Join(r.repo.Root(), filepath.FromSlash(at), workspace.EventsFile)
	data, err := regular.ReadFile(name, r.repo.Limits().OfStream())
	if err != nil {
		return err
	}
	s, err := events.Decode(data)
	if err != nil {
		return err
	}
	if n := l.Missing(s); n > 0 {
		return fmt.Errorf("bring back what %s lost of %s: %s could not be brought back",
			r.commit.OID, l.Conversation, render.Count(n, "event"))
	}
	if err := r.restoreContent(ctx, l.Conversation, data); err != nil {
		return err
	}
	r.note("%s: brought back %s of %s", l.Conversation, render.Count(len(l.Elements), "event"),
		render.Count(l.Turns, "turn"))
	return nil
}

// restoreContent brings back the blobs to which a stream refers and that are not in the store.
func (r *mergeReview) restoreContent(ctx context.Context, id events.ID, stream []byte) error {
	all, err := events.References(stream)
	if err != nil {
		return err
	}
	var lost []repair.Lost
	for _, at := range all {
		if r.workspace.Blobs().Verify(at.Ref) != nil {
			lost = append(lost, repair.Lost{
				Hash: at.Ref.Hash, Size: at.Ref.Size, In: []events.ID{id},
			})
		}
	}
	if len(lost) == 0 {
		return nil
	}
	_, err = repair.Restore(ctx, repair.Sources{Workspace: r.workspace, Repo: r.repo},
		r.workspace.Blobs(), lost)
	return err
}
