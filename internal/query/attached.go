package query

import (
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/lists"
)

// withAttached adds the attachments to the metadata of the request that has their resources.
func withAttached(md events.Metadata, attachments []string) events.Metadata {
	if len(attachments) == 0 {
		return md
	}
	return md.WithJSON(events.MetadataAttached, attachments)
}

// Attached returns the attachments that were looked up for a turn of the stream, without those that
// were removed and declared again since: whoever does that wants their current content. Declared
// returns the attachments that a configuration of the conversation declares; base is the first
// configuration. Deltas that cannot be merged are ignored.
func Attached(
	s *events.Stream, base settings.Config, declared func(settings.Config) []string,
) map[string]bool {
	found := map[string]bool{}
	from := 0
	look := func(to int) {
		for ; from < to; from++ {
			for _, u := range attachedTo(s.At(from)) {
				found[u] = true
			}
		}
	}
	_ = settings.EachDelta(s, base, func(n int, before, after settings.Config) {
		if look(n); len(found) > 0 {
			forget(found, declared(before), declared(after))
		}
	})
	look(s.Len())
	return found
}

// attachedTo returns the attachments whose resources a request has. jp keeps the metadata of a
// request and drops its resources, unless they are inline: then they are attached again.
func attachedTo(e *events.Element) []string {
	if e.Dropped() {
		return nil
	}
	return attachmentsIn(e)
}

// attachmentsIn returns the attachments that the metadata of a request lists.
func attachmentsIn(e *events.Element) (urls []string) {
	if e.Kind() != events.KindChatRequest || !e.Metadata().JSON(events.MetadataAttached, &urls) {
		return nil
	}
	return urls
}

// forget deletes from found the attachments that are in after but not in before.
func forget(found map[string]bool, before, after []string) {
	old := lists.Set(before)
	for _, u := range after {
		if !old[u] {
			delete(found, u)
		}
	}
}

// Detach removes the record of attachments from a stream, for a fork: earlier requests keep their
// resources, and the next request gets all declared attachments.
func Detach(s *events.Stream) {
	for i, e := range s.Clone().All() {
		if attachmentsIn(e) != nil {
			s.Set(i, e.WithMetadata(e.Metadata().Without(events.MetadataAttached)))
		}
	}
}
