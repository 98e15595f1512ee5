package workspace

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
)

// originKey is the member of metadata.json that records the origin of a fork.
const originKey = "git_jp_forked_from"

// An Origin is the conversation from which another one was forked.
type Origin struct {
	ID   string `json:"id"`
	Turn int    `json:"turn"` // the last turn that was kept, counted from 1
}

// String returns both, "" if o is nil.
func (o *Origin) String() string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%s, turn %d", o.ID, o.Turn)
}

// OriginOf returns the origin of a conversation, nil if its metadata has none.
func OriginOf(d *events.Details) *Origin {
	value, ok := d.Value(originKey)
	o := new(Origin)
	if !ok || json.Unmarshal(value, o) != nil || o.ID == "" {
		return nil
	}
	return o
}

// ForkDetails returns the metadata of a fork created at a time.
func ForkDetails(c *Conversation, o events.ForkOptions, at time.Time) (*events.Details, error) {
	d := c.Details.Clone()
	d.LastActivatedAt, d.ExpiresAt, d.ArchivedAt = at.UTC(), nil, nil
	d.Copied()
	from, err := json.Marshal(Origin{c.ID.String(), lastTurn(c.Stream, o)})
	if err != nil {
		return nil, err
	}
	return d, d.SetValue(originKey, from)
}

// lastTurn returns the last turn of the source that the fork has, counted from 1.
func lastTurn(s *events.Stream, o events.ForkOptions) int {
	turns := s.Turns()
	for i := len(turns) - 1; i >= 0; i-- {
		kept := !o.KeepNone && (o.Until.IsZero() || s.At(turns[i].First).Time().Before(o.Until))
		if kept && (o.First == 0 || o.Last > 0 || i < o.First) {
			return i + 1
		}
	}
	return 0
}
