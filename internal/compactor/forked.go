package compactor

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A forkedError reports that the last compaction made a fork: it changed nothing that an undo could
// put back.
type forkedError struct {
	at           time.Time
	fork, source events.ID
	isFork       bool // it is the conversation that was to be undone
	overlaid     bool // that has an older compaction of the overlay
	id           events.ID
}

// Error implements error.
func (e *forkedError) Error() string {
	if e.isFork {
		return fmt.Sprintf("the last one made it, as a fork of %s", e.source)
	}
	return fmt.Sprintf("the last one made a fork, %s", e.fork)
}

// Hints says how to go on without the fork.
func (e *forkedError) Hints() (all []string) {
	if e.isFork {
		all = append(all, fmt.Sprintf("'git jp use %s' goes back", e.source))
	}
	all = append(all, fmt.Sprintf("'git jp rm %s' removes the fork", e.fork))
	if e.overlaid {
		all = append(all, fmt.Sprintf(
			"'git jp compact --undo=all %s' removes the overlay, which is older", e.id))
	}
	return all
}

// lastFork returns the last compaction that made a fork, of the conversation or itself, of those
// whose other side is here. It is nil if there is none.
func (j Job) lastFork() (last *forkedError) {
	conv := j.Conversation
	entries, _, err := j.Workspace.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		entries = nil // no one knows of a fork then
	}
	own := compact.CompactedAt(conv.Stream)
	for _, e := range entries {
		isFork := isForkOf(conv.Details, e.ID)
		if d, err := j.Workspace.LoadDetails(e); err != nil || !isFork && !isForkOf(d, conv.ID) {
			continue
		}
		other, err := j.Workspace.Load(e)
		if err != nil {
			continue
		}
		found := &forkedError{id: conv.ID, fork: e.ID, at: compact.CompactedAt(other.Stream)}
		if found.at.Equal(own) {
			continue // an ordinary fork has what its source has
		}
		if isFork {
			found.isFork, found.source, found.fork, found.at = true, e.ID, conv.ID, own
		}
		if last == nil || found.at.After(last.at) {
			last = found
		}
	}
	return last
}

func isForkOf(d *events.Details, id events.ID) bool {
	origin := workspace.OriginOf(d)
	return origin != nil && origin.ID == id.String()
}
