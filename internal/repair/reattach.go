package repair

import (
	"context"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// reattach restores the resources that jp dropped from requests when it saved a stream: those that
// the same request has in another version, newest first. Everything else stays as jp saved it. It
// is certain: jp keeps the list of the attachments of which it drops the resources, so nobody
// removed them.
func (m *planner) reattach(
	ctx context.Context, id events.ID, _ string, data []byte,
) (*cure, error) {
	stream, err := events.Decode(data)
	if err != nil {
		return nil, nil //nolint:nilerr // it changed in the meantime; the next check reports it
	}
	if err := m.lookForVersions(ctx); err != nil {
		return nil, err
	}
	r, err := m.redaction(ctx)
	if err != nil {
		return nil, err
	}
	lacking := lackingIn(stream)
	from := ""
	err = m.versions.each(ctx, versionKey{id, workspace.EventsFile},
		func(v version, data []byte) bool {
			was, err := events.Decode(data)
			if err != nil {
				return false
			}
			c := r.from(&workspace.Conversation{Stream: was}, id)
			if restoreFrom(c.Stream, stream, lacking) && from == "" {
				from = v.title()
			}
			return len(lacking) == 0
		})
	if err != nil {
		return nil, err
	}
	if from == "" {
		return &cure{remedy: "the next question attaches what they are now"}, nil
	}
	return &cure{
		data: stream.Encode(), certain: true, redacted: r,
		remedy: "restore them from " + from,
	}, nil
}

// An askedAt identifies a request, whatever its text is.
type askedAt struct {
	at       int64
	attached string
}

func askedIn(e *events.Element) askedAt {
	list, _ := e.Metadata().Value(events.MetadataAttached)
	return askedAt{e.Time().UnixNano(), string(list)}
}

// lackingIn returns the indexes of the requests without their resources.
func lackingIn(s *events.Stream) map[askedAt]int {
	all := map[askedAt]int{}
	for i, e := range s.All() {
		if e.Dropped() {
			all[askedIn(e)] = i
		}
	}
	return all
}

// restoreFrom gives requests of a stream the resources that they had, and removes them from those
// that lack some. It reports whether there were any.
func restoreFrom(was, is *events.Stream, lacking map[askedAt]int) (some bool) {
	for _, e := range was.All() {
		had, ok := e.Event().(*events.ChatRequest)
		if !ok || len(had.Resources) == 0 {
			continue
		}
		i, lacks := lacking[askedIn(e)]
		if !lacks {
			continue
		}
		now := *is.At(i).Event().(*events.ChatRequest)
		now.Resources = had.Resources
		is.Set(i, is.At(i).With(&now))
		delete(lacking, askedIn(e))
		some = true
	}
	return some
}
