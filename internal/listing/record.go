package listing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Record is a conversation in JSON, in every command that lists some.
type Record struct {
	ID           string            `json:"id"`
	Title        string            `json:"title"`
	Path         string            `json:"path"`
	Active       bool              `json:"active"`
	Archived     bool              `json:"archived"`
	Local        bool              `json:"local"`
	Legacy       bool              `json:"legacy"`
	CreatedAt    time.Time         `json:"created_at"`
	LastActiveAt *time.Time        `json:"last_active_at"` // null when the metadata is damaged
	PinnedAt     *time.Time        `json:"pinned_at"`
	ArchivedAt   *time.Time        `json:"archived_at"`
	ExpiresAt    *time.Time        `json:"expires_at"`
	Labels       map[string]string `json:"labels"`
	ForkedFrom   *workspace.Origin `json:"forked_from"`
}

// NewRecord returns the record of a conversation that is not the active one.
func NewRecord(e workspace.Entry, d *events.Details) Record {
	r := Record{
		ID: e.ID.String(), Path: e.Path, Archived: e.Partition == workspace.Archive,
		Local: e.Local, Legacy: e.Legacy, CreatedAt: d.CreatedAt(e.ID),
		PinnedAt: d.PinnedAt, ExpiresAt: d.ExpiresAt,
		Labels: map[string]string{}, ForkedFrom: workspace.OriginOf(d),
	}
	if r.Archived {
		r.ArchivedAt = d.ArchivedAt // it may remain in an unarchived one
	}
	if !d.LastActivatedAt.IsZero() {
		r.LastActiveAt = &d.LastActivatedAt
	}
	maps.Copy(r.Labels, d.Labels)
	r.Title = d.Name()
	return r
}

// lastActive is the zero time if unknown.
func (r Record) lastActive() time.Time {
	if r.LastActiveAt == nil {
		return time.Time{}
	}
	return *r.LastActiveAt
}

func (r Record) marks() string {
	var b strings.Builder
	for _, m := range []struct {
		on   bool
		mark byte
	}{
		{r.Active, '*'},
		{r.PinnedAt != nil, '^'},
		{r.Archived, 'a'},
		{r.Local, 'l'},
		{r.Legacy, 'o'},
	} {
		if m.on {
			b.WriteByte(m.mark)
		}
	}
	return b.String()
}

// LabelText returns labels in brackets, each after a space.
func LabelText(labels map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == "" {
			fmt.Fprintf(&b, " [%s]", key)
		} else {
			fmt.Fprintf(&b, " [%s=%s]", key, labels[key])
		}
	}
	return b.String()
}

// withoutSession removes the labels of an import's bookkeeping.
func withoutSession(labels map[string]string) map[string]string {
	shown := maps.Clone(labels)
	for _, key := range []string{
		events.LabelSession, events.LabelImport, events.LabelRules, events.LabelParent,
		events.LabelDir,
	} {
		delete(shown, key)
	}
	maps.DeleteFunc(shown, func(key, _ string) bool {
		return strings.HasPrefix(key, events.LabelImport+"-")
	})
	return shown
}
