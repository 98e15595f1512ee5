package importer

import (
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
)

// knownRedacted are the conversations in which something was redacted, read once for many sessions.
type knownRedacted struct {
	mu     sync.Mutex
	read   bool
	copies secrets.Copies
}

// knowRedacted reads these conversations: an agent's copy of one, which the agent or a damaged line
// names otherwise, has the original. Those that are not here, or cannot be read, say nothing.
func (im *Importer) knowRedacted() {
	r := &im.redacted
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read {
		return
	}
	for digits := range im.Redactions.Conversations() {
		id, err := events.ParseID(digits)
		if err != nil {
			continue
		}
		e, _, err := im.findAny(ofID(id))
		if err != nil {
			continue
		}
		if c, err := im.Workspace.Load(e); err == nil {
			r.copies.Know(im.Redactions, id, c.Stream, im.Workspace.BlobsOf(e))
		}
	}
	r.read = true
}

// isRedacted reports whether a conversation may have what was redacted, here or in another.
func (im *Importer) isRedacted(c *sessions.Conversation) bool {
	return im.Redactions.Concern(c.Stream) || im.redacted.copies.Concern(c.Stream)
}

// redact takes out of a conversation what was redacted in it, or in another of which it is a copy,
// and adds what it has then to what is held.
func (im *Importer) redact(
	id events.ID, s *events.Stream, d *events.Details, kept held,
) (*events.Stream, error) {
	for _, copied := range []bool{false, true} {
		entries := im.Redactions
		if copied {
			entries = secrets.NewRedactions(im.redacted.copies.Of(id, s, kept))
		}
		applied, err := entries.Apply(id, s, kept)
		if err != nil {
			return nil, err
		}
		for _, text := range applied.Store {
			_, _ = kept.Write(text) // it only remembers
		}
		for _, r := range applied.Replaced {
			if err := retitle(d, r); err != nil {
				return nil, err
			}
		}
		s = applied.Stream
	}
	return s, nil
}

// retitle gives a conversation whose title is words of a text that was replaced those of what is
// there now.
func retitle(d *events.Details, r secrets.Replaced) error {
	title := strings.TrimSuffix(title(d), "…")
	has := func(text []byte) bool {
		return strings.Contains(strings.Join(strings.Fields(string(text)), " "), title)
	}
	if title == "" || !has(r.Was) || has(r.Is) {
		return nil
	}
	return d.SetImportTitle(sessions.FirstWords(string(r.Is)))
}
