package repair

import (
	"context"
	"path"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A redaction removes from the merged versions the text that the workspace lists as redacted, so
// that it does not come back and causes no conflict with a directory that still has it.
type redaction struct {
	entries   secrets.Redactions
	workspace *workspace.Workspace
	texts     [][]byte // texts that replace content and are in no store yet
}

// redaction reads the list of the working tree.
func (m *planner) redaction() (r redaction, err error) {
	entries, err := leaks.RedactionsOf(m.Workspace, nil)
	if err != nil {
		return r, err
	}
	return redaction{entries: entries.Redactions, workspace: m.Workspace}, nil
}

// restorable returns a version of a file as a repair may write it. It reports false if it is beside
// the stream and has text that was redacted in the stream, as far as a version of that has it.
func (m *planner) restorable(
	ctx context.Context, id events.ID, name string, data []byte,
) (_ []byte, ok bool, err error) {
	r, err := m.redaction()
	if err != nil || len(r.entries) == 0 || path.Base(name) == workspace.EventsFile {
		return data, true, err
	}
	var hidden secrets.Originals
	stream := versionKey{id, workspace.EventsFile}
	err = m.versions.each(ctx, stream, func(_ version, text []byte) bool {
		if s, err := events.Decode(text); err == nil {
			done, _ := r.entries.Apply(id, s, r.workspace.Blobs()) // nothing if it fails
			hidden = append(hidden, done.Originals()...)
		}
		return false
	})
	data, ok = merge.Restorable(hidden, name, data)
	return data, ok, err
}

// from returns a conversation without redacted text. If it fails the conversation is returned
// unchanged, and a check finds the secret.
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

// fromStream is from for an encoded stream.
func (r *redaction) fromStream(data []byte, id events.ID) []byte {
	s, err := events.Decode(data)
	if err != nil {
		return data // the merge reports it
	}
	return r.from(&workspace.Conversation{Stream: s}, id).Stream.Encode()
}

// store writes the texts to which the streams refer.
func (r *redaction) store() error {
	for _, text := range r.texts {
		if _, err := r.workspace.Blobs().Write(text); err != nil {
			return err
		}
	}
	return nil
}
