package events

import (
	"slices"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// writesUsual reports whether a new element of an event is usual JSON, as [jsonspan.IsUsual] would
// find by reading all of it: what is written as a string is, if it is UTF-8. False also means that
// it is not known.
func writesUsual(ev Event, md Metadata) bool {
	if md.raw != nil && !jsonspan.IsUsual(md.raw) {
		return false
	}
	switch ev := ev.(type) {
	case *TurnStart:
		return true
	case *ChatRequest:
		return areText(ev.Content, ev.Author) && ev.Schema == nil && ev.Resources == nil
	case *ChatResponse:
		return areText(ev.Text) && ev.Data == nil
	case *ToolCallRequest:
		return areText(ev.ID, ev.Name) && jsonspan.IsUsual(ev.Arguments)
	case *ToolCallResponse:
		return areText(ev.ID) && !slices.ContainsFunc(ev.Blocks, hasJSON)
	default:
		return false
	}
}

// hasJSON reports whether a block has JSON that someone else wrote, or a name that is not UTF-8.
func hasJSON(b Block) bool {
	if r := b.Resource; r != nil && (r.Raw != nil || r.Annotations != nil ||
		!areText(r.URI, r.MIMEType, r.Name, r.Title, r.Description)) {
		return true
	}
	return b.Raw != nil || !areText(string(b.Type), b.MIMEType)
}

func areText(all ...string) bool {
	for _, s := range all {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}
