package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// MetadataSource is the metadata key under which an imported event keeps the key of its source.
const MetadataSource = MetadataPrefix + "source"

// Keys returns a name for each element that stays the same when the stream is imported again,
// merged, redacted or repaired. Links to an event, allowed findings and redactions use it. It does
// not depend on the element's content. docs/format.md defines it.
func (s *Stream) Keys() []string {
	keys := make([]string, s.Len())
	starts := s.turnStarts()
	seen := make(map[string]int, s.Len())
	for i, turn := range s.TurnOf() {
		key := sourceKey(s.At(i))
		if key == "" {
			key = derivedKey(s.At(i), turn, starts)
		}
		seen[key]++
		if n := seen[key]; n > 1 {
			key += "~" + strconv.Itoa(n)
		}
		keys[i] = key
	}
	return keys
}

// turnStarts returns the time at which each turn begins.
func (s *Stream) turnStarts() []time.Time {
	var starts []time.Time
	for i, turn := range s.events() {
		if turn == len(starts) {
			starts = append(starts, s.At(i).Time())
		}
	}
	return starts
}

// sourceKey returns the source's key of an imported element, or "". Elements of kinds without
// metadata have it as a member.
func sourceKey(e *Element) string {
	if key, ok := e.Metadata().Text(MetadataSource); ok {
		return key
	}
	if e.Kind().IsEvent() || !bytes.HasPrefix(e.Raw(), []byte("{")) {
		return ""
	}
	ms, _, _ := jsonspan.MembersAt(e.Raw(), 0, nil)
	key, _ := (&reader{raw: e.Raw(), members: ms}).maybe(MetadataSource)
	return key
}

func derivedKey(e *Element, turn int, starts []time.Time) string {
	start := time.Time{} // a merge may move an element that belongs to no turn
	if e.Kind().IsEvent() {
		start = starts[turn]
	}
	kind := keyKind(e)
	at := "0"
	if !e.Time().IsZero() {
		at = strconv.FormatInt(e.Time().UnixNano(), 10)
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + e.EventID() + "\x00" + at))
	return keyTime(start) + "-" + keyTime(e.Time()) + "-" + kind + "-" + hex.EncodeToString(sum[:4])
}

// keyKind returns the kind of an element for use in its key. A message and reasoning have different
// ones, so that removing reasoning does not rename the message with the same time.
func keyKind(e *Element) string {
	if ev, ok := e.Event().(*ChatResponse); ok {
		return [...]string{"message", "reasoning", "data"}[ev.Form]
	}
	return string(e.Kind())
}

func keyTime(at time.Time) string {
	if at.IsZero() {
		return "0"
	}
	return strconv.FormatInt(at.UnixMicro(), 10)
}
