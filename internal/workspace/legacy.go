package workspace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A pair is one element of a messages.json: a message and its reply.
type pair struct {
	Timestamp string          `json:"timestamp"`
	Message   json.RawMessage `json:"message"` // a query, or the results of tools
	Reply     reply           `json:"reply"`
}

type reply struct {
	Reasoning string     `json:"reasoning"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

type toolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type toolResult struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Error   bool   `json:"error"`
}

// encodedSince is when jp began to write arguments and results in base64.
func encodedSince() time.Time { return time.Date(2025, 10, 20, 0, 0, 0, 0, time.UTC) }

// decodeMessages converts a messages.json to a stream, for reading and printing. It drops what
// later formats do not have (providers, configuration).
func decodeMessages(data []byte) (*events.Stream, error) {
	var pairs []pair
	if err := json.Unmarshal(data, &pairs); err != nil {
		return nil, fmt.Errorf("old generation: %w", err)
	}
	s := events.New()
	for i, p := range pairs {
		elems, err := p.elements()
		if err != nil {
			return nil, fmt.Errorf("old generation: message %d: %w", i, err)
		}
		s.Append(elems...)
	}
	return s, nil
}

func (p pair) elements() ([]*events.Element, error) {
	at, err := messageTime(p.Timestamp)
	if err != nil {
		return nil, err
	}
	encoded := !at.Before(encodedSince())
	said, err := p.said(encoded)
	if err != nil {
		return nil, err
	}
	var elems []*events.Element
	for _, ev := range append(said, p.Reply.events(encoded)...) {
		elems = append(elems, events.NewElement(at, ev, events.Metadata{}))
	}
	return elems, nil
}

func messageTime(s string) (time.Time, error) {
	for _, layout := range []string{
		"2006-1-2 15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("time %q has an unknown format", s)
}

// said returns the user's part: a query begins a turn, results of tools continue it.
func (p pair) said(encoded bool) ([]events.Event, error) {
	var query string
	switch text := bytes.TrimSpace(p.Message); {
	case len(text) == 0 || string(text) == "null":
		return nil, nil
	case text[0] == '"':
		if err := json.Unmarshal(text, &query); err != nil {
			return nil, err
		}
		return []events.Event{&events.TurnStart{}, &events.ChatRequest{Content: query}}, nil
	}
	var results []toolResult
	if err := json.Unmarshal(p.Message, &results); err != nil {
		return nil, err
	}
	all := make([]events.Event, 0, len(results))
	for _, r := range results {
		content := blobs.Loaded([]byte(once(r.Content, encoded)))
		all = append(all, &events.ToolCallResponse{
			ID: r.ID, IsError: r.Error,
			Blocks: []events.Block{{Type: events.BlockText, Content: content}},
		})
	}
	return all, nil
}

func (r reply) events(encoded bool) []events.Event {
	var all []events.Event
	if r.Reasoning != "" {
		all = append(all, &events.ChatResponse{Form: events.FormReasoning, Text: r.Reasoning})
	}
	if r.Content != "" {
		all = append(all, &events.ChatResponse{Form: events.FormMessage, Text: r.Content})
	}
	for _, c := range r.ToolCalls {
		arguments := decodeStrings(c.Arguments, encoded)
		all = append(all, &events.ToolCallRequest{ID: c.ID, Name: c.Name, Arguments: arguments})
	}
	return all
}

// decodeStrings returns a JSON object with its strings decoded, {} for anything else.
func decodeStrings(raw []byte, encoded bool) []byte {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&object) != nil || object == nil {
		return []byte("{}")
	}
	if !encoded {
		return raw
	}
	out, err := json.Marshal(decodeValue(object))
	if err != nil {
		return raw
	}
	return out
}

func decodeValue(v any) any {
	switch v := v.(type) {
	case string:
		return once(v, true)
	case []any:
		for i := range v {
			v[i] = decodeValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = decodeValue(v[k])
		}
	}
	return v
}

// once decodes base64 text of either alphabet, and returns anything else unchanged.
func once(s string, encoded bool) string {
	if !encoded || strings.ContainsAny(s, "\r\n") {
		return s
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if b, err := enc.Strict().DecodeString(s); err == nil && utf8.Valid(b) {
			return string(b)
		}
	}
	return s
}
