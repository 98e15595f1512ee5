package search

import (
	"bytes"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Hit is a text with at least one matching line.
type Hit struct {
	Scope   Scope
	Turn    int    // 0-based, -1 for the title
	Element int    // -1 for the title
	Where   string // name of the tool or URI of the resource, else ""
	Lines   []Line
}

// A Problem is content that could not be searched.
type Problem struct {
	Turn  int // 0-based
	Where string
	Ref   blobs.Ref
	Err   error
}

// Error implements error.
func (p *Problem) Error() string {
	return fmt.Sprintf("search turn %d (%s): %v", p.Turn+1, p.Where, p.Err)
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Title returns the hit in a conversation's title, if there is one.
func (p *Pattern) Title(title string) (Hit, bool) {
	if !p.wants(Title) {
		return Hit{}, false
	}
	lines := p.lines(title)
	return Hit{Scope: Title, Turn: -1, Element: -1, Lines: lines}, lines != nil
}

// Stream returns the hits in a stream in its order, and the content that could not be read.
func (p *Pattern) Stream(s *events.Stream, r blobs.Reader) ([]Hit, []*Problem) {
	w := walk{pattern: p, reader: r, turns: s.TurnOf(), tools: toolNames(s)}
	for i, e := range s.All() {
		w.element = i
		w.event(e.Event())
	}
	return w.hits, w.problems
}

// toolNames maps the element of each tool response to the tool's name.
func toolNames(s *events.Stream) map[int]string {
	names := make(map[int]string)
	for _, call := range s.Calls() {
		if !call.Open() {
			names[call.Response] = call.Name
		}
	}
	return names
}

// A walk is one search through one stream.
type walk struct {
	pattern  *Pattern
	reader   blobs.Reader
	turns    []int
	tools    map[int]string
	element  int
	hits     []Hit
	problems []*Problem
}

func (w *walk) event(ev events.Event) {
	switch ev := ev.(type) {
	case *events.ChatRequest:
		w.text(User, ev.Author, ev.Content)
		for i := range ev.Resources {
			w.resource(Attachment, ev.Resources[i].URI, &ev.Resources[i])
		}
	case *events.ChatResponse:
		w.response(ev)
	case *events.ToolCallRequest:
		w.data(ToolCall, ev.Name, ev.Name+" ", ev.Arguments)
	case *events.ToolCallResponse:
		w.result(ev)
	case *events.InquiryRequest:
		w.data(Inquiry, "", "", ev.Question)
	case *events.InquiryResponse:
		w.data(Inquiry, "", "", ev.Answer)
	}
}

func (w *walk) response(ev *events.ChatResponse) {
	switch ev.Form {
	case events.FormMessage:
		w.text(Assistant, "", ev.Text)
	case events.FormReasoning:
		w.text(Reasoning, "", ev.Text)
	case events.FormData:
		w.data(Structured, "", "", ev.Data)
	}
}

func (w *walk) result(ev *events.ToolCallResponse) {
	tool := w.tools[w.element]
	for i := range ev.Blocks {
		b := &ev.Blocks[i]
		switch {
		case b.Resource != nil:
			w.resource(ToolResult, tool, b.Resource)
		case !b.Content.IsZero():
			w.content(ToolResult, tool, b.Content)
		default:
			w.data(ToolResult, tool, "", b.Raw)
		}
	}
}

// resource searches the URI and the content of a resource, and its formatted text for the model.
func (w *walk) resource(scope Scope, where string, r *events.Resource) {
	w.text(scope, where, r.URI)
	if r.Formatted != nil {
		w.content(scope, where, *r.Formatted)
	}
	if !r.Content.IsZero() {
		w.content(scope, where, r.Content)
	}
}

func (w *walk) content(scope Scope, where string, c blobs.Content) {
	if !w.pattern.wants(scope) {
		return
	}
	b, err := c.Bytes(w.reader)
	if err != nil {
		w.problems = append(w.problems, &Problem{
			Turn: w.turns[w.element], Where: where, Ref: c.Ref(), Err: err,
		})
		return
	}
	if utf8.Valid(b) {
		w.text(scope, where, string(b))
	}
}

// data searches a JSON value behind a lead. If it is not found in the value as it is written, it is
// looked for in each of its strings, in which JSON escapes quotes, backslashes and line feeds.
func (w *walk) data(scope Scope, where, lead string, v []byte) {
	before := len(w.hits)
	w.text(scope, where, lead+string(v))
	if len(w.hits) > before || !w.pattern.wants(scope) || !bytes.ContainsRune(v, '\\') {
		return
	}
	for text := range Texts(v) {
		w.text(scope, where, text)
	}
}

// Texts yields the names, strings and numbers of a JSON value. Strings are not escaped.
func Texts(v []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(v))
		for {
			t, err := dec.ReadToken()
			if err != nil {
				return // the end
			}
			if k := t.Kind(); (k == '"' || k == '0') && !yield(t.String()) {
				return
			}
		}
	}
}

func (w *walk) text(scope Scope, where, text string) {
	if !w.pattern.wants(scope) {
		return
	}
	if lines := w.pattern.lines(text); lines != nil {
		w.hits = append(w.hits, Hit{scope, w.turns[w.element], w.element, where, lines})
	}
}
