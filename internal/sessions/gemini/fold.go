package gemini

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// A fold is the result of a session's records: the last version of each message, and at each rewind
// the messages after that point.
type fold struct {
	items []item
	at    map[string]int // index of each message by id; nil until needed
	about metadata
	size  int
}

// An item is a message, a record of another kind, or a list of rewound items.
type item struct {
	id      string
	said    message
	raw     []byte
	kind    string    // of a record
	at      time.Time // of a record
	rewound []item
	isFork  bool
}

// maxFold limits the size of a session in memory: a fold needs all of it.
const maxFold = 512 << 20

var errLarge = errors.New("its messages have more than 512 MiB, and are needed all at once")

// take folds a record. It reports whether the record only repeats the fold.
func (f *fold) take(r *record, line []byte) (repeats bool, err error) {
	switch {
	case r.RewindTo != "":
		f.rewind(string(r.RewindTo))
		return true, nil
	case r.Set != nil:
		return f.set(r, line)
	case r.ID != "":
		return true, f.put(&r.message, line)
	case r.isSession():
		f.describe(&r.metadata)
	}
	return false, f.keep(r.Start.Time, "metadata", line)
}

func (f *fold) keep(at time.Time, kind string, line []byte) error {
	f.items = append(f.items, item{raw: slices.Clone(line), kind: kind, at: at})
	return f.grow(len(line))
}

func (f *fold) grow(n int) error {
	if f.size += n; f.size > maxFold {
		return errLarge
	}
	return nil
}

func (f *fold) describe(m *metadata) {
	if m.Summary != "" {
		f.about.Summary = m.Summary
	}
}

// set folds a change of the metadata, which may have a new list of all messages.
func (f *fold) set(r *record, line []byte) (repeats bool, err error) {
	var all struct {
		metadata
		Messages jsontext.Value `json:"messages"`
	}
	var members map[string]jsontext.Value
	if sessions.Unmarshal(r.Set, &all) != nil || sessions.Unmarshal(r.Set, &members) != nil {
		return false, f.keep(time.Time{}, "unknown", line)
	}
	f.describe(&all.metadata)
	if all.Messages.Kind() == '[' {
		if err := f.replace(all.Messages); err != nil {
			return true, err
		}
	}
	for _, name := range []string{"messages", "lastUpdated", "sessionId", "summary"} {
		delete(members, name)
	}
	if len(members) == 0 {
		return true, nil
	}
	return true, f.keep(all.Updated.Time, "metadata", sessions.Marshal(members))
}

// index returns the index of a message, -1 for an unknown id.
func (f *fold) index(id string) int {
	if f.at == nil {
		f.at = map[string]int{}
		for n := range f.items {
			id := f.items[n].id
			if _, twice := f.at[id]; id != "" && !twice {
				f.at[id] = n
			}
		}
	}
	if n, ok := f.at[id]; ok {
		return n
	}
	return -1
}

// put appends a message, or replaces its earlier version.
func (f *fold) put(m *message, line []byte) error {
	next := item{id: string(m.ID), said: m.clone(), raw: slices.Clone(line)}
	if i := f.index(next.id); i >= 0 {
		f.size -= len(f.items[i].raw)
		next.said.keep(&f.items[i].said)
		f.items[i] = next
	} else {
		f.at[next.id] = len(f.items)
		f.items = append(f.items, next)
	}
	return f.grow(len(line))
}

// clone returns a message that does not share memory with the line it was read from.
func (m *message) clone() message {
	c := *m
	c.Content, c.Display = m.Content.Clone(), m.Display.Clone()
	c.Calls.Value = nil
	for _, v := range m.Calls.Value {
		c.Calls.Value = append(c.Calls.Value, v.Clone())
	}
	return c
}

// keep copies members that a newer version of a message lacks: when a session is continued, the
// agent rewrites its messages from what the model is given, which has no token figures.
func (m *message) keep(old *message) {
	if !old.Time.IsZero() {
		m.Time = old.Time
	}
	if len(m.Calls.Value) < len(old.Calls.Value) {
		m.Calls = old.Calls
	}
	if len(m.Thoughts.Value) < len(old.Thoughts.Value) {
		m.Thoughts = old.Thoughts
	}
	if m.Tokens.Value == nil {
		m.Tokens = old.Tokens
	}
	m.Model = cmp.Or(m.Model, old.Model)
	if m.Display == nil {
		m.Display = old.Display
	}
}

// rewind removes a message and all after it, as the agent does; an unknown message removes all.
func (f *fold) rewind(id string) { f.cut(max(0, f.index(id))) }

func (f *fold) cut(at int) {
	gone := slices.Clone(f.items[at:])
	if !slices.ContainsFunc(gone, func(i item) bool { return i.says() }) {
		return // there is nothing to remove
	}
	f.items, f.at = append(f.items[:at], item{isFork: true, rewound: gone}), nil
}

// replace replaces all messages. Messages missing in the new list count as rewound; rewound
// messages in it are restored.
func (f *fold) replace(messages jsontext.Value) error {
	var all []jsontext.Value
	_ = sessions.Unmarshal(messages, &all) // an array, by its kind
	said, kept := make([]message, len(all)), map[string]bool{}
	for i, v := range all {
		_ = sessions.Unmarshal(v, &said[i]) // empty if it is no object
		kept[string(said[i].ID)] = true
	}
	f.restore(kept)
	for i := range f.items {
		if f.items[i].says() && !kept[f.items[i].id] {
			f.cut(i)
			break
		}
	}
	for i := range said {
		if said[i].ID == "" {
			said[i].ID = sessions.Text(fmt.Sprint("#", i))
		}
		if err := f.put(&said[i], all[i]); err != nil {
			return err
		}
	}
	return nil
}

// restore restores rewound messages that are kept now: the agent empties a session before it fills
// it again.
func (f *fold) restore(kept map[string]bool) {
	for i := len(f.items) - 1; i >= 0; i-- {
		if gone := f.items[i]; gone.isFork && slices.ContainsFunc(gone.rewound, func(i item) bool {
			return i.says() && kept[i.id] && f.index(i.id) < 0
		}) {
			f.items, f.at = slices.Replace(f.items, i, i+1, gone.rewound...), nil
		}
	}
}

// says reports whether an item has text of its own: results of calls are also stored with the
// calls.
func (i *item) says() bool {
	return i.id != "" && (i.said.Type != "user" || len(text(parts(i.said.Content))) > 0)
}

// isAwaited reports whether an item is a message of the model without text, whose calls are written
// next.
func (i *item) isAwaited() bool {
	return i.said.Type == "gemini" && string(i.said.Content) == `""` &&
		len(i.said.Calls.Value)+len(i.said.Thoughts.Value) == 0 &&
		i.said.Calls.Odd == nil && i.said.Thoughts.Odd == nil
}
