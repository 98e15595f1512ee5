package repair

import (
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A redaction takes out of what is united what the workspace says was redacted: with a directory
// that still has it there is nothing to decide, and it does not come back.
type redaction struct {
	entries   secrets.Redactions
	workspace *workspace.Workspace
	texts     [][]byte // that stand in the place of content and are in no store yet
}

// redaction reads the entries of the working tree.
func (m *planner) redaction() (r redaction, err error) {
	entries, err := leaks.EntriesOf(m.Workspace)
	if err != nil {
		return r, err
	}
	return redaction{entries: entries.Redactions, workspace: m.Workspace}, nil
}

// from returns a conversation without what was redacted. Where that cannot be done it stays as it
// is: a check finds what it has.
func (r *redaction) from(c *workspace.Conversation, id events.ID) *workspace.Conversation {
	if len(r.entries) == 0 {
		return c
	}
	done, err := r.entries.Apply(id, c.Stream, r.workspace.Blobs())
	if err != nil || len(done.Replaced) == 0 {
		return c
	}
	r.texts = append(r.texts, done.Store...)
	out := *c
	out.Stream = done.Stream
	return &out
}

// fromStream is from for a stream that encodes so.
func (r *redaction) fromStream(data []byte, id events.ID) []byte {
	s, err := events.Decode(data)
	if err != nil {
		return data // the merge says so
	}
	return r.from(&workspace.Conversation{Stream: s}, id).Stream.Encode()
}

// store writes the texts that the streams refer to.
func (r *redaction) store() error {
	for _, text := range r.texts {
		if _, err := r.workspace.Blobs().Write(text); err != nil {
			return err
		}
	}
	return nil
}
