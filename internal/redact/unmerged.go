package redact

import (
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unmerged returns the conversations that have unmerged files in the index.
func (t Tracked) unmerged(index *gitint.Index) map[events.ID]bool {
	ids := map[events.ID]bool{}
	for _, name := range index.Conflicts() {
		if id, ok := workspace.PathIDIn(t.Dir, name); ok {
			ids[id] = true
		}
	}
	return ids
}

// An UnmergedError reports a conversation that cannot be restored because it is in conflict.
type UnmergedError struct{ ID events.ID }

// Error implements error.
func (e *UnmergedError) Error() string { return fmt.Sprintf("%s is unmerged", e.ID) }

// Hints returns the command that decides.
func (e *UnmergedError) Hints() []string { return []string{check.Resolve(e.ID.String())} }
