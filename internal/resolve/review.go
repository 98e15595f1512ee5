package resolve

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Review examines one earlier merge commit.
type Review struct {
	Options

	commit gitint.Commit
	lost   merge.Lost
}

// NewReview finds the losses of a merge, as seen from HEAD, or from the merge itself if HEAD does
// not contain it. It asks no questions.
func NewReview(ctx context.Context, o Options, rev string) (_ *Review, err error) {
	r := &Review{Options: o}
	if r.commit.OID, err = r.Repo.Resolve(ctx, rev); err != nil {
		return nil, fmt.Errorf("read %s: %w", rev, err)
	}
	r.commit.Parents, err = r.Repo.Parents(ctx, r.commit.OID)
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
		return nil, &notMergeError{rev}
	}
	head, err := r.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	tips := []gitint.OID{head}
	if later, err := r.Repo.Commits(ctx, r.commit.OID.String(), "^HEAD"); err != nil {
		return nil, err
	} else if len(later) > 0 {
		tips = []gitint.OID{r.commit.OID}
	}
	r.lost, err = merge.Review{
		Repo: r.Repo, Tips: tips, Finder: gitint.NewDirFinder(workspace.DirName),
	}.Lost(ctx, r.commit)
	return r, err
}

// A notMergeError reports that a commit is not a merge, and squashed none.
type notMergeError struct{ rev string }

func (e *notMergeError) Error() string { return "read " + e.rev + ": it is not a merge" }

// Hints returns a command that lists the merges that could be named.
func (*notMergeError) Hints() []string {
	return []string{"'git log --oneline --merges' lists merges"}
}

// squashed returns the commits that a commit with one parent squashed, from its message or else
// from its files.
func (r *Review) squashed(ctx context.Context) ([]gitint.OID, error) {
	id := r.commit.OID
	named, err := r.Repo.Squashed(ctx, id.String()+"^!")
	if err != nil || len(named) > 0 {
		return named[id], err
	}
	seeming, err := merge.Squashes(ctx, r.Repo, id, []gitint.Commit{r.commit}, []string{r.Dir})
	if squash, ok := seeming[id]; ok {
		return []gitint.OID{squash.Of}, err
	}
	return nil, err
}

// Accept records in a commit of its own that the losses of a merge are accepted, those of other
// workspaces included. A commit reaches everyone who has the merge, including a fresh clone in CI,
// and changes no history.
func (r *Review) Accept(ctx context.Context) error {
	if len(r.lost.Losses) == 0 {
		r.note("merge %s left nothing out", r.commit.OID.String()[:12])
		return nil
	}
	said, err := r.Repo.CommitEmpty(ctx, fmt.Sprintf(
		"Accept what merge %s left out\n\n%s: %s\n",
		r.commit.OID.String()[:12], merge.ResolvedKey, r.commit.OID))
	if said != "" {
		r.note("%s", said)
	}
	if err != nil {
		return err
	}
	r.note("accepted: %s", r.summary())
	return nil
}

// summary describes the losses of the merge.
func (r *Review) summary() string {
	elements := 0
	for _, l := range r.lost.Losses {
		elements += len(l.Elements)
	}
	return render.Count(elements, "event") + " of " +
		render.Count(len(r.lost.Losses), "conversation")
}

// Restore restores in the working tree and the index the losses of a merge in the wanted
// conversations of this workspace, or of all if wanted is empty, and names the other workspaces
// that lost something.
func (r *Review) Restore(ctx context.Context, cache *refs.Cache, wanted []events.ID) error {
	var done []events.ID
	others := make(map[string]bool)
	for _, l := range r.lost.Losses {
		if len(wanted) > 0 && !slices.Contains(wanted, l.Conversation) {
			continue
		}
		if dir, _ := workspace.PathDir(l.Path); dir != r.Dir {
			others[dir] = true
			continue
		}
		if err := r.bringBack(ctx, l); err != nil {
			return err
		}
		if err := r.bringBeside(ctx, l.Conversation); err != nil {
			return err
		}
		done = append(done, l.Conversation)
	}
	for _, dir := range slices.Sorted(maps.Keys(others)) {
		r.note("merge %s left something out of %s: run this command there",
			r.commit.OID.String()[:12], dir)
	}
	if len(done) == 0 {
		if len(others) == 0 {
			r.note("nothing is missing that merge %s left out", r.commit.OID.String()[:12])
		}
		return nil
	}
	_, err := stage.Run(ctx, stage.Request{
		Repo: r.Repo, Dir: r.Dir, IDs: done, Cache: cache,
		MaxBlobBytes: r.MaxBlobBytes,
	})
	if err != nil {
		return err
	}
	r.note("staged; 'git commit' completes it")
	return nil
}

// bringBack restores the lost elements of one conversation, and the content that they refer to.
func (r *Review) bringBack(ctx context.Context, l merge.Loss) error {
	recovery := merge.Recovery{
		Resolver: merge.Resolver{Repo: r.Repo, Workspace: r.Workspace, Dir: r.Dir, Now: r.Now},
		Merge:    r.commit, Loss: l,
	}
	at, left, err := recovery.Run(ctx)
	if err != nil {
		return err
	}
	for _, name := range left {
		r.Terminal.Warn("%s was left out: it has what was redacted in the conversation", name)
	}
	name := filepath.Join(r.Repo.Root(), filepath.FromSlash(at), workspace.EventsFile)
	data, err := regular.ReadFile(name, r.Repo.Limits().OfStream())
	if err != nil {
		return err
	}
	s, err := events.Decode(data)
	if err != nil {
		return err
	}
	if n := l.Missing(s); n > 0 {
		return fmt.Errorf("restore what merge %s lost of %s: %s could not be restored",
			r.commit.OID, l.Conversation, render.Count(n, "event"))
	}
	if err := r.restoreContent(ctx, l.Conversation, data); err != nil {
		return err
	}
	r.note("%s: restored %s of %s", l.Conversation, render.Count(len(l.Elements), "event"),
		render.Count(l.Turns, "turn"))
	return nil
}

// bringBeside restores the files beside a conversation that the merge left out, except those that a
// side removed. Without the redaction entries among them, the next import would bring the redacted
// text back.
func (r *Review) bringBeside(ctx context.Context, id events.ID) error {
	merged, err := r.trees(ctx, r.commit.OID)
	if err != nil {
		return err
	}
	sides, err := r.trees(ctx, r.commit.Parents...)
	if err != nil {
		return err
	}
	ids, err := r.Repo.MergeBases(ctx, r.commit.Parents[0], r.commit.Parents[1:]...)
	if err != nil {
		return err
	}
	bases, err := r.trees(ctx, ids...)
	if err != nil {
		return err
	}
	for _, side := range sides {
		names, err := stage.FilesBeside(r.Repo, side, r.Dir, id)
		if err != nil {
			return err
		}
		for _, name := range names {
			below := strings.TrimPrefix(name, r.Dir+"/")
			has := func(t *gitint.Tree) bool { _, ok := t.OID(name); return ok }
			lacks := func(t *gitint.Tree) bool { return !has(t) }
			removed := slices.ContainsFunc(bases, has) && slices.ContainsFunc(sides, lacks)
			if removed || slices.ContainsFunc(merged, has) ||
				path.Dir(below) == workspace.RemovedDir {
				continue
			}
			data, err := side.ReadFile(name)
			if err != nil {
				return err
			}
			if err := r.Workspace.WriteFile(below, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Review) trees(ctx context.Context, ids ...gitint.OID) (all []*gitint.Tree, err error) {
	for _, id := range ids {
		tree, err := r.Repo.Tree(ctx, id.String())
		if err != nil {
			return nil, err
		}
		all = append(all, tree)
	}
	return all, nil
}

// restoreContent restores the blobs to which a stream refers and that the store lacks.
func (r *Review) restoreContent(ctx context.Context, id events.ID, stream []byte) error {
	all, err := events.References(stream)
	if err != nil {
		return err
	}
	var lost []repair.Lost
	for _, at := range all {
		if r.Workspace.Blobs().Verify(at.Ref) != nil {
			lost = append(lost, repair.Lost{
				Hash: at.Ref.Hash, Size: at.Ref.Size, In: []events.ID{id},
			})
		}
	}
	if len(lost) == 0 {
		return nil
	}
	_, err = repair.Restore(ctx, repair.Sources{Workspace: r.Workspace, Repo: r.Repo},
		r.Workspace.Blobs(), lost)
	return err
}

func (r *Review) note(format string, args ...any) { r.Terminal.Note(format, args...) }
