package importer

import (
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
)

// knownRedacted has the conversations with redactions, read once for many sessions.
type knownRedacted struct {
	mu     sync.Mutex
	read   bool
	copies secrets.Copies
}

// knowRedacted reads these conversations, because an agent's copy of one has the original text,
// even if the agent or a damaged line gives it another name. Missing or unreadable conversations
// are ignored.
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

// isRedacted reports whether a conversation may have text that was redacted, in it or in another
// one.
func (im *Importer) isRedacted(c *sessions.Conversation) bool {
	return im.Redactions.Concern(c.Stream) || im.redacted.copies.Concern(c.Stream)
}

// redact removes from a conversation the text that was redacted in it, or in another of which it is
// a copy, and adds its new contents to those held.
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
			_, _ = kept.Write(text) // held.Write cannot fail
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

// retitle renews a title that was taken from text that was redacted.
func retitle(d *events.Details, r secrets.Replaced) error {
	title := strings.TrimSuffix(d.Name(), "…")
	has := func(text []byte) bool {
		return strings.Contains(strings.Join(strings.Fields(string(text)), " "), title)
	}
	if title == "" || !has(r.Was) || has(r.Is) {
		return nil
	}
	return d.SetImportTitle(sessions.FirstWords(string(r.Is)))
}
