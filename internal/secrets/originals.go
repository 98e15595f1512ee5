package secrets

import (
	"bytes"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// Originals are the values that redactions replaced in a version of a conversation. Entries do not
// have them; whoever restores other files of that version must not bring them back with these.
type Originals []Value

// LeastText is the minimal length of a text that is looked for outside of its place: a shorter one
// is in texts that have nothing to do with it.
const LeastText = 6

// Originals returns the replaced values.
func (a Applied) Originals() (all Originals) {
	for _, r := range a.Replaced {
		for _, v := range r.Values {
			if len(v.Text) >= LeastText {
				all = append(all, v)
			}
		}
	}
	return all
}

// In reports whether a text has one of the values, also with escapes and in base64. The marker that
// replaces it may have the same text, and does not count.
func (all Originals) In(text []byte) bool {
	return slices.ContainsFunc(all, func(v Value) bool {
		text := bytes.ReplaceAll(text, []byte(Marker(v.Rule)), nil)
		return len(ValueRules(v.Rule, v.Text).Scan(text)) > 0
	})
}

// Mask replaces the values in title and labels with markers.
func (all Originals) Mask(d *events.Details) {
	d.MapTexts(func(_, text string) string {
		for _, v := range all {
			text = strings.ReplaceAll(text, v.Text, Marker(v.Rule))
		}
		return text
	})
}

// IsRedacted reports whether a short text, such as a title, is another one in which values were
// replaced by markers: what is around these is the same, and is enough to tell.
func IsRedacted(text, was string) bool {
	before, rest, ok := strings.Cut(text, markerPrefix)
	around := len(before)
	if !ok || !strings.HasPrefix(was, before) {
		return false
	}
	was = was[len(before):]
	for ok {
		var part string
		if _, rest, ok = strings.Cut(rest, "]"); !ok {
			return false // no marker
		}
		part, rest, ok = strings.Cut(rest, markerPrefix)
		at := strings.Index(was, part)
		if !ok { // the last
			at = len(was) - len(part)
		}
		if at <= 0 || !strings.HasPrefix(was[at:], part) {
			return false // nothing was replaced
		}
		around += len(part)
		was = was[at+len(part):]
	}
	return around >= minAround
}
