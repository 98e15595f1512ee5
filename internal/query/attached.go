package query

import (
	"encoding/json"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// metadataAttached is the key under which a request says which attachments it has the
// resources of. What a pattern, a command or a directory gave cannot be told from URIs.
const metadataAttached = events.MetadataPrefix + "attached"

// withAttached returns metadata of a request with resources of these attachments.
func withAttached(md events.Metadata, attachments []string) events.Metadata {
	if len(attachments) == 0 {
		return md
	}
	v, err := json.Marshal(attachments)
	if err != nil {
		return md // strings
	}
	return md.With(metadataAttached, v)
}

// Attached returns the attachments that were looked up for a turn of the stream. One that
// was taken away and declared again since then is none of them: whoever does that wants it
// as it is now. Declared returns what a configuration of the conversation declares, of which base
// is the first; deltas that cannot be joined change none.
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

func attachedTo(e *events.Element) (urls []string) {
	if e.Kind() != events.KindChatRequest {
		return nil
	}
	v, ok := e.Metadata().Value(metadataAttached)
	if !ok || json.Unmarshal(v, &urls) != nil {
		return nil
	}
	return urls
}

// forget takes out what stands in after and not in before.
func forget(found map[string]bool, before, after []string) {
	old := map[string]bool{}
	for _, u := range before {
		old[u] = true
	}
	for _, u := range after {
		if !old[u] {
			delete(found, u)
		}
	}
}

// Detach makes the stream one in which nothing was attached yet, as a fork is: what its
// requests have stays, and the next one gets what is declared.
func Detach(s *events.Stream) {
	for i, e := range s.Clone().All() {
		if attachedTo(e) != nil {
			s.Set(i, e.WithMetadata(e.Metadata().Without(metadataAttached)))
		}
	}
}
