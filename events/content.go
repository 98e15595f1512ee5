package events

import (
	"iter"

	"github.com/git-jp/git-jp/blobs"
)

// A ContentAt is a piece of content and its place in the stream.
type ContentAt struct {
	Element int
	Turn    int    // 0-based
	Call    string // id of the tool call, "" in other events
	Tool    string // name of the called tool, "" when the request is not there
	Part    Part
	URI     string // of the resource, "" for other content
	Content blobs.Content
	Legacy  bool // in jp's form: a base64 string, or metadata beside it
}

// A Part is the role of a piece of content in its event.
type Part string

// The parts that hold content.
const (
	PartText       Part = "text"       // of a text block
	PartResource   Part = "resource"   // content of a resource block
	PartFormatted  Part = "formatted"  // text for a model, replaces a resource
	PartAttachment Part = "attachment" // content of a resource in a chat request
	PartImage      Part = "image"
	PartAudio      Part = "audio"
)

// Contents yields all content of the stream, in order and in all forms. It reads no blob.
func (s *Stream) Contents() iter.Seq[ContentAt] {
	return func(yield func(ContentAt) bool) {
		var calls tools
		turn := -1
		for i, it := range s.items {
			if startsTurn(it.el, turn) {
				turn++
			}
			tool := calls.see(turn, it.el.event)
			for _, slot := range it.el.slots {
				c := ContentAt{
					Element: i, Turn: turn, Tool: tool, Part: slot.part, URI: slot.uri,
					Content: slot.content, Legacy: slot.legacy,
				}
				if r, ok := it.el.event.(*ToolCallResponse); ok {
					c.Call = r.ID
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// tools finds the name of the tool for a response, pairing as [Stream.Calls] does.
type tools struct {
	open  pending
	names []string
}

func (t *tools) see(turn int, ev Event) string {
	switch ev := ev.(type) {
	case *ToolCallRequest:
		t.request(turn, ev.ID, ev.Name)
	case *ToolCallResponse:
		return t.response(turn, ev.ID)
	}
	return ""
}

func (t *tools) request(turn int, id, name string) {
	t.open.add(turn, id, len(t.names))
	t.names = append(t.names, name)
}

func (t *tools) response(turn int, id string) string {
	if n, ok := t.open.take(turn, id); ok {
		return t.names[n]
	}
	return ""
}
