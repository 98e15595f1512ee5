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
