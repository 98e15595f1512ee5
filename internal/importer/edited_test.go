package importer

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/sessions"
)

// TestEditsOfAnImportMerge merges an import of which a person edited an event with a longer one, by
// this or by a later importer. Base does not have the event, whose turn may have been open. The edit
// is in the result, or a person decides.
func TestEditsOfAnImportMerge(t *testing.T) {
	all := prefixes(t, transcript())
	long := side(all[len(all)-1])
	for range 2 {
		for i, c := range all[1:11] {
			for at, e := range c.Stream.All() {
				for _, content := range []string{"Edited", "D"} { // the latter begins what was there
					if ours, ok := edited(c, at, content); ok && !isSaid(all[0], e) {
						for _, r := range eitherWay(t, []threeway.Side{{}, side(all[0])}, ours, long) {
							if !hasEdit(r, content) {
								t.Errorf("%d lines: the edit of a %s is lost", i+2, e.Kind())
							}
						}
					}
				}
			}
		}
		long.Source.Version.Revision++
	}
}

// eitherWay returns the merges of two sides with several bases, each either way.
func eitherWay(t *testing.T, bases []threeway.Side, a, b threeway.Side) (all []threeway.Result) {
	t.Helper()
	for _, base := range bases {
		for _, sides := range [][2]threeway.Side{{a, b}, {b, a}} {
			r, err := threeway.Merge(base, sides[0], sides[1])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	return all
}

// isSaid reports whether an import has an event.
func isSaid(c *sessions.Conversation, e *events.Element) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(maps.Collect(c.Stream.All()))),
		func(o *events.Element) bool { return events.Equal(e, o) })
}

// edited returns an import of which a person edited an event, if that has a text.
func edited(c *sessions.Conversation, at int, content string) (threeway.Side, bool) {
	out := side(c)
	out.Stream = c.Stream.Clone()
	switch e := c.Stream.At(at); was := e.Event().(type) {
	case *events.ChatRequest:
		out.Stream.Set(at, e.With(&events.ChatRequest{Content: content}))
	case *events.ChatResponse:
		out.Stream.Set(at, e.With(&events.ChatResponse{Form: was.Form, Text: content}))
	default:
		return out, false
	}
	return out, true
}

// hasEdit reports whether a merge has an edit, or asks about it.
func hasEdit(r threeway.Result, content string) bool {
	all := slices.Collect(maps.Values(maps.Collect(r.Stream.All())))
	for _, c := range r.Conflicts {
		all = slices.Concat(all, c.Ours, c.Theirs)
	}
	return slices.ContainsFunc(all, func(e *events.Element) bool {
		return strings.Contains(string(e.Raw()), `"`+content+`"`)
	})
}
