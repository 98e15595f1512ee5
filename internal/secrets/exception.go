package secrets

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// Exceptions are findings that a workspace allows, by the digits of their conversation.
type Exceptions map[string]exceptions

// exceptions are those of a conversation, and what they say of values alone: without the number
// that a finding has in its event, and an event among those with one key.
type exceptions struct{ entries, values map[Allowed]bool }

// Add takes in one more.
func (x Exceptions) Add(a Allowed) {
	if _, ok := x[a.Conversation]; !ok {
		x[a.Conversation] = exceptions{map[Allowed]bool{}, map[Allowed]bool{}}
	}
	x[a.Conversation].entries[a] = true
	key, number, ok := strings.Cut(a.Event, "~")
	if ok && strings.Trim(number, "0123456789") == "" {
		a.Event = key
	}
	a.Ordinal = 0
	x[a.Conversation].values[a] = true
}

// Has reports whether a finding is allowed.
func (x Exceptions) Has(a Allowed) bool { return x[a.Conversation].entries[a] }

// Allow reports whether a value in an event of a conversation that is being made is allowed. Which
// of the event's findings it is does not count: what is in front may be redacted by now, or not
// yet. Of events with one key each is meant.
func (x Exceptions) Allow(id events.ID, event, rule string, value []byte) bool {
	return x[id.Digits()].values[NewFinding(rule, id, event, 0, value)]
}

// Digest names the exceptions of a conversation; "" where it has none.
func (x Exceptions) Digest(id events.ID) string {
	var names []string
	for a := range x[id.Digits()].entries {
		names = append(names, a.Fingerprint()+"\n")
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return digest([]byte(strings.Join(names, "")))[:exceptionsDigits]
}

// exceptionsDigits is how many digits tell one set of exceptions from another.
const exceptionsDigits = 8
