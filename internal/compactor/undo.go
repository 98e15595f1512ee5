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

// errNoPlace is the error for a pin whose name matches nothing.
var errNoPlace = errors.New("it has no turn, call or file with that name")

// Pin sets pins by their names and removes others. It reports whether the conversation was changed.
func (j Job) Pin(ctx context.Context, pins, unpins []string) (changed bool, err error) {
	s := j.Conversation.Stream
	for _, step := range []struct {
		verb  string
		names []string
		do    func(*events.Stream, string) (*events.Stream, int)
	}{{"pin", pins, compact.Pin}, {"unpin", unpins, compact.Unpin}} {
		for _, name := range step.names {
			held, n := step.do(s, name)
			if n == 0 {
				return false, fmt.Errorf("%s %q in %s: %w", step.verb, name, j.Conversation.ID,
					errNoPlace)
			}
			s = held
			j.terminal().Note("%sned %s in %s", step.verb, name, render.Count(n, "place"))
		}
	}
	return j.rewrite(ctx, s)
}

// Undo removes compactions of the overlay, where n is as in [compact.RemoveOverlay], or else
// restores what the last compaction removed. It reports whether the conversation was changed.
func (j Job) Undo(ctx context.Context, n int) (changed bool, err error) {
	out, gone, err := compact.RemoveOverlay(j.Conversation.Stream, n)
	returned := 0
	if none := errors.Is(err, compact.ErrNoOverlay); none && n <= 0 || n == 0 {
		if none {
			out = j.Conversation.Stream
		}
		if out, returned = dedup.Returned(out); returned > 0 {
			err = nil
		} else if none {
			return j.bringBack(ctx)
		}
	}
	if err != nil {
		return false, fmt.Errorf("undo the compaction of %s: %w", j.Conversation.ID, err)
	}
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
	return j.rewrite(ctx, out)
}

// bringBack restores what the last compaction in place removed.
func (j Job) bringBack(ctx context.Context) (changed bool, err error) {
	id := j.Conversation.ID
	for _, kept := range j.Host.Copies(ctx, j.Workspace.Root(), id) {
		was, ok := kept.Restored(j.Conversation.Stream)
		if !ok {
			continue
		}
		if j.DryRun {
			j.terminal().Note("would restore %s to its state of %s", id,
				j.terminal().Moment(kept.At))
			return false, nil
		}
		return true, j.Restore(ctx, kept, was)
	}
	return false, fmt.Errorf("undo the compaction of %s: %w", id, quarantine.ErrNone)
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
