package compactor

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
)

// The errors for a pin whose name matches nothing, and for one to be removed where none is.
var (
	errNoPlace   = errors.New("it has no turn, call or file with that name")
	errNotPinned = errors.New("it is not pinned")
)

// Pin sets pins by their names and removes others. It reports whether the conversation was changed.
func (j Job) Pin(ctx context.Context, pins, unpins []string) (changed bool, err error) {
	s := j.Conversation.Stream
	var done []string
	for _, step := range []struct {
		verb  string
		names []string
		do    func(*events.Stream, string) (*events.Stream, int)
	}{{"pin", pins, compact.Pin}, {"unpin", unpins, compact.Unpin}} {
		for _, name := range step.names {
			held, n := step.do(s, name)
			if n == 0 {
				why := errNoPlace
				if _, places := compact.Pin(s, name); places > 0 {
					why = errNotPinned
				}
				return false, fmt.Errorf("%s %q in %s: %w", step.verb, name, j.Conversation.ID, why)
			}
			s = held
			done = append(done,
				fmt.Sprintf("%sned %s in %s", step.verb, name, render.Count(n, "place")))
		}
	}
	if changed, err = j.rewrite(ctx, s); err != nil {
		return false, err
	}
	for _, line := range done {
		j.terminal().Note("%s", line)
	}
	return changed, nil
}

// Undo undoes the last compaction, or removes compactions of the overlay, where n is as in
// [compact.RemoveOverlay]. It reports whether the conversation was changed.
func (j Job) Undo(ctx context.Context, n int) (changed bool, err error) {
	s := j.Conversation.Stream
	last, err := j.lastInPlace(ctx)
	if n < 0 {
		overlaid := compact.LastOverlay(s)
		// When results went to make room is not recorded; it was since, or the fork has them.
		_, room := dedup.Returned(s)
		if fork := j.lastFork(); fork != nil && room == 0 && fork.at.After(overlaid) &&
			fork.at.After(last.kept.At) {
			fork.overlaid = !overlaid.IsZero()
			return false, fmt.Errorf("undo the compaction of %s: %w", j.Conversation.ID, fork)
		}
		if last.kept.At.After(overlaid) {
			return j.bringBack(ctx, last, err)
		}
	}
	out, gone, none := compact.RemoveOverlay(s, n)
	returned := 0
	if none != nil && n <= 0 || n == 0 {
		if none != nil {
			out = s
		}
		if out, returned = dedup.Returned(out); returned > 0 {
			none = nil
		} else if errors.Is(none, compact.ErrNoOverlay) && errors.Is(err, quarantine.ErrNone) {
			none = fmt.Errorf("it has no compaction, and %w", err)
		} else if errors.Is(none, compact.ErrNoOverlay) ||
			none != nil && !errors.Is(err, quarantine.ErrNone) {
			return j.bringBack(ctx, last, err)
		}
	}
	if none != nil {
		return false, fmt.Errorf("undo the compaction of %s: %w", j.Conversation.ID, none)
	}
	back, err := j.rewriteKept(ctx, out)
	if err != nil {
		return false, err
	}
	j.tellUndone(gone, returned, back)
	return !j.DryRun, nil
}

// rewriteKept saves another stream, and keeps the conversation as it was. It returns the command
// that restores that, "" in a dry run.
func (j Job) rewriteKept(ctx context.Context, s *events.Stream) (back string, err error) {
	if j.DryRun {
		return "", nil
	}
	kept, err := j.keep(ctx, quarantine.Undone, s)
	if err != nil {
		return "", err
	}
	return "git jp gc undo " + kept.Name, nil
}

// tellUndone prints what an undo removed, and how to get it back.
func (j Job) tellUndone(gone []*events.Compaction, returned int, back string) {
	gave, removed := "gave", "removed"
	if j.DryRun {
		gave, removed = "would give", "would remove"
	}
	if returned > 0 {
		j.terminal().Note("%s back %s that went to make room", gave,
			render.Count(returned, "result"))
	}
	for _, g := range gone {
		j.terminal().Note("%s the compaction of %s", removed, listing.NewCompactionRecord(g))
	}
	if back != "" {
		j.terminal().Note("'%s' restores it", back)
	}
}

// An inPlace is a compaction in place: the copy from before it, and the conversation without it.
type inPlace struct {
	kept quarantine.Copy
	was  *events.Stream
}

// lastInPlace returns the last compaction in place that is not undone. The error is
// [quarantine.ErrNone] without one; with another error kept alone is set.
func (j Job) lastInPlace(ctx context.Context) (last inPlace, failed error) {
	failed = quarantine.ErrNone
	for _, kept := range j.Host.Copies(ctx, j.Workspace.Root(), j.Conversation.ID) {
		was, err := kept.Restored(j.Conversation.Stream)
		switch {
		case err == nil:
			return inPlace{kept, was}, nil
		case !errors.Is(err, quarantine.ErrNone) && last.kept.Dir == "":
			last.kept, failed = kept, err
		}
	}
	return last, failed
}

// bringBack restores what the last compaction in place removed. err is the result of lastInPlace.
func (j Job) bringBack(ctx context.Context, last inPlace, err error) (changed bool, _ error) {
	id := j.Conversation.ID
	if err != nil {
		return false, fmt.Errorf("undo the compaction of %s: %w", id, err)
	}
	if j.DryRun {
		j.terminal().Note("would restore %s to its state of %s", id,
			j.terminal().Moment(last.kept.At))
		return false, nil
	}
	return true, j.Restore(ctx, last.kept, last.was)
}

// Restore restores the conversation from a copy.
func (j Job) Restore(ctx context.Context, kept quarantine.Copy, was *events.Stream) error {
	err := j.writer().Restore(ctx, kept, was)
	if err == nil {
		j.terminal().Note("restored %s to its state of %s", j.Conversation.ID,
			j.terminal().Moment(kept.At))
	}
	return err
}
