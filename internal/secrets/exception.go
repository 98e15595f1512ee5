package secrets

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// Exceptions holds the findings that a workspace allows, by the digits of their conversation.
type Exceptions map[string]exceptions

// exceptions holds the findings allowed in one conversation. In values, their ordinal is 0 and the
// number that distinguishes events with the same key is cut off.
type exceptions struct{ entries, values map[Allowed]bool }

// Add adds an allowed finding.
func (x Exceptions) Add(a Allowed) {
	if _, ok := x[a.Conversation]; !ok {
		x[a.Conversation] = exceptions{map[Allowed]bool{}, map[Allowed]bool{}}
	}
	x[a.Conversation].entries[a] = true
	a.Event, a.Ordinal = withoutNumber(a.Event), 0
	x[a.Conversation].values[a] = true
}

// withoutNumber returns an event's key without the number that distinguishes events with the same
// key.
func withoutNumber(event string) string {
	key, number, ok := strings.Cut(event, "~")
	if ok && strings.Trim(number, "0123456789") == "" {
		return key
	}
	return event
}

// AllowRedacted reports whether everything that an entry redacts is allowed: it was no secret.
func (x Exceptions) AllowRedacted(r Redaction) bool {
	return !slices.ContainsFunc(r.Ranges, func(g Range) bool {
		return !x[r.Conversation].values[Allowed{
			Rule: g.Rule, Conversation: r.Conversation, Event: withoutNumber(r.Event),
			Check: g.Check,
		}]
	})
}

// Has reports whether a finding is allowed.
func (x Exceptions) Has(a Allowed) bool { return x[a.Conversation].entries[a] }

// Allow reports whether a value is allowed in an event of a conversation that is being written. The
// finding's ordinal is ignored, because findings before it may be redacted already or not yet. If
// several events have the key, the exception applies to each of them.
func (x Exceptions) Allow(id events.ID, event, rule string, value []byte) bool {
	return x[id.Digits()].values[NewFinding(rule, id, event, 0, value)]
}

// Digest identifies the exceptions of a conversation; it is "" if there are none.
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

// exceptionsDigits is the length of a digest of exceptions.
const exceptionsDigits = 8
