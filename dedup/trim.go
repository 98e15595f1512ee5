package dedup

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// Stub returns the text that replaces a superseded result.
func Stub(tool string) string { return "[superseded] " + tool + ": a later result has this" }

// StaleStub returns the text that replaces a result about a file that was changed later. attached
// reports whether a later message has the changed file.
func StaleStub(tool, key string, attached bool) string {
	stub := "[superseded] " + tool + ": the file was changed after this"
	if !attached {
		return stub
	}
	name := strings.TrimPrefix(strings.TrimPrefix(key, "file://"), "/$WORKSPACE/")
	return stub + ", a later message has it: " + name
}

// outdated is the mark of a result about a file that was changed later.
type outdated struct {
	Stale    string `json:"stale"` // the key of the file
	Attached bool   `json:"attached,omitempty"`
}

// WithStale marks a result as [WithTrimmed] does, because a file was changed later. attached
// reports whether one of by has the changed file.
func WithStale(
	e *events.Element, by []*events.Element, key string, attached bool,
) *events.Element {
	md := withReplacers(e.Metadata(), by)
	return e.WithMetadata(md.WithJSON(Trimmed, outdated{key, attached}))
}

// WithTrimmed marks an element, see [Trimmed], that has content superseded by elements that
// together have all of it. If one of them is no longer given to the model, the content is given
// again.
func WithTrimmed(e *events.Element, by []*events.Element, blocks ...int) *events.Element {
	md := withReplacers(e.Metadata(), by)
	if e.Kind() != events.KindChatRequest {
		return e.WithMetadata(md.WithJSON(Trimmed, true))
	}
	all := slices.Concat(trimmedBlocks(md), blocks)
	slices.Sort(all)
	return e.WithMetadata(md.WithJSON(Trimmed, slices.Compact(all)))
}

// trimmedFor is the key of an event's metadata that names the elements which have the trimmed
// content. Without it, as earlier releases wrote conversations, a mark always counts.
const trimmedFor = Trimmed + "_for"

func withReplacers(md events.Metadata, by []*events.Element) events.Metadata {
	all := append(replacers(md), lists.Map(by, nameOf)...)
	if len(all) == 0 {
		return md
	}
	slices.Sort(all)
	return md.WithJSON(trimmedFor, slices.Compact(all))
}

func replacers(md events.Metadata) (names []string) {
	if !md.JSON(trimmedFor, &names) {
		return nil
	}
	return names
}

// nameOf returns a name that distinguishes an element from the others of its stream, since ids of
// calls repeat.
func nameOf(e *events.Element) string {
	id := ""
	if r, ok := e.Event().(*events.ToolCallResponse); ok {
		id = r.ID
	}
	return e.Time().UTC().Format(time.RFC3339Nano) + " " + id
}

// given returns the names of the results and requests of a stream whose content is in it, not
// replaced by an overlay or a strategy.
func given(s *events.Stream, tools map[int]string) map[string]bool {
	all := map[string]bool{}
	for i, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ToolCallResponse:
			in := Invocation{Tool: tools[i], Result: ev}
			if in.Shown() && len(e.Metadata().Stripped()) == 0 {
				all[nameOf(e)] = true
			}
		case *events.ChatRequest:
			if len(e.Metadata().Stripped()) == 0 {
				all[nameOf(e)] = true
			}
		}
	}
	return all
}

func trimmedBlocks(md events.Metadata) (blocks []int) {
	if !md.JSON(Trimmed, &blocks) {
		return nil
	}
	return blocks
}

// Trim returns a stream without the content that was marked as superseded, as long as its
// replacement exists: turns can be cut off, hidden and removed. Elements without a mark are shared
// with s.
func Trim(s *events.Stream) *events.Stream {
	var out *events.Stream
	names := map[int]string{}
	var there map[string]bool
	for i, e := range s.All() {
		v, ok := e.Metadata().Value(Trimmed)
		if !ok {
			continue
		}
		if out == nil {
			out = s.Clone()
			for _, c := range s.Calls() {
				names[c.Response] = c.Name
			}
			there = given(s, names)
		}
		if slices.ContainsFunc(replacers(e.Metadata()), func(n string) bool { return !there[n] }) {
			continue
		}
		switch ev := e.Event().(type) {
		case *events.ToolCallResponse:
			if stub := stubOf(v, names[i]); stub != "" {
				out.Set(i, trimmedResult(e, ev, stub))
			}
		case *events.ChatRequest:
			out.Set(i, trimmedRequest(e, ev))
		}
	}
	if out == nil {
		return s
	}
	return out
}

// RoomStub returns the text that replaces a result which was removed to make room. It warns the
// model against repeating the call without thought, since the call may have had an effect.
func RoomStub(tool string) string {
	return "[compacted] " + tool +
		": the call was made; what it returned was taken out to make room"
}

// forRoom is the mark of a result that was removed to make room.
const forRoom = `{"room":true}`

// WithoutResult marks a result that is no longer given because the model's window is full.
func WithoutResult(e *events.Element) *events.Element {
	return e.WithMetadata(e.Metadata().With(Trimmed, []byte(forRoom)))
}

// trimmedRoom is set in addition to the mark of a superseded or stale result that was only removed
// because the model's window was full.
const trimmedRoom = Trimmed + "_room"

// ForRoom records on a marked element that it was removed because the model's window was full.
func ForRoom(e *events.Element) *events.Element {
	return e.WithMetadata(e.Metadata().With(trimmedRoom, []byte("true")))
}

// Returned returns a stream in which everything that was removed to make room is given again, and
// how many results and requests that is.
func Returned(s *events.Stream) (*events.Stream, int) {
	out, n := s.Clone(), 0
	for i, e := range s.All() {
		v, _ := e.Metadata().Value(Trimmed)
		if _, room := e.Metadata().Value(trimmedRoom); room || string(v) == forRoom {
			md := e.Metadata().Without(Trimmed).Without(trimmedFor).Without(trimmedRoom)
			out.Set(i, e.WithMetadata(md))
			n++
		}
	}
	return out, n
}

// stubOf returns the text that replaces a result with a mark, or "" for an unknown mark.
func stubOf(mark []byte, tool string) string {
	var stale outdated
	switch {
	case string(mark) == "true":
		return Stub(tool)
	case string(mark) == forRoom:
		return RoomStub(tool)
	case json.Unmarshal(mark, &stale) == nil && stale.Stale != "":
		return StaleStub(tool, stale.Stale, stale.Attached)
	default:
		return ""
	}
}

func trimmedResult(e *events.Element, r *events.ToolCallResponse, stub string) *events.Element {
	short := *r
	short.Blocks = []events.Block{{
		Type: events.BlockText, Content: blobs.Loaded([]byte(stub)),
	}}
	return e.With(&short).WithMetadata(Unmarked(e.Metadata()))
}

func trimmedRequest(e *events.Element, r *events.ChatRequest) *events.Element {
	gone := trimmedBlocks(e.Metadata())
	short := *r
	short.Resources = nil
	var lost []events.Resource
	marked, known := Marked(e.Metadata())
	var moved []int
	for n, res := range r.Resources {
		if slices.Contains(gone, n) {
			lost = append(lost, res)
			continue
		}
		if slices.Contains(marked, n) {
			moved = append(moved, len(short.Resources))
		}
		short.Resources = append(short.Resources, res)
	}
	md := Unmarked(e.Metadata()).WithStripped(lost...)
	if known { // decisions about the others are kept
		md = WithMark(md, moved)
	}
	return e.With(&short).WithMetadata(md)
}
