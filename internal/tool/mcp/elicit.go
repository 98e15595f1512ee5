package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Replies to a server's questions.
const (
	accepted = "accept"
	declined = "decline"
)

// maxFields limits the questions in a form.
const maxFields = 32

// callKey is the key of the call in a context.
type callKey struct{}

// enter registers a running call, and returns its context and a function that unregisters it.
func (s *Session) enter(ctx context.Context, c *tool.Call) (_ context.Context, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return context.WithValue(ctx, callKey{}, c), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = slices.DeleteFunc(s.calls, func(other *tool.Call) bool { return other == c })
	}
}

// current returns the call that a question belongs to. In the protocol of 2025, servers do not say
// which; then it is the last of the running calls.
func (s *Session) current(ctx context.Context) *tool.Call {
	if c, ok := ctx.Value(callKey{}).(*tool.Call); ok {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return nil
	}
	return s.calls[len(s.calls)-1]
}

// elicit asks the user a server's form, one question for each field. The server is told that it was
// declined outside a call, if no user can be asked, if a question is not answered, and if it wants
// to open a page.
func (s *Session) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	call := s.current(ctx)
	if call == nil || call.Asker == nil || r.Params.Mode == "url" {
		return &mcp.ElicitResult{Action: declined}, nil
	}
	f, err := readForm(r.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	if len(f.Properties) > maxFields {
		return &mcp.ElicitResult{Action: declined}, nil
	}
	ask := func(q tool.Question) (jsontext.Value, error) {
		q.Tool, q.Call = call.Name, call.ID
		q.Target = jsontext.Value(`"user"`) // never the model: the server asks the user
		return call.Asker.Ask(ctx, q)
	}
	intro := fmt.Sprintf("MCP server %q: %s", s.server.ID, described(r.Params.Message))
	if len(f.Properties) == 0 {
		answer, err := ask(tool.Question{ID: "confirm", Text: intro, Type: tool.AnswerBoolean})
		if err != nil || string(answer) != "true" {
			return &mcp.ElicitResult{Action: declined}, nil //nolint:nilerr // that is what it means
		}
		return &mcp.ElicitResult{Action: accepted, Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for i, name := range f.names() {
		q := f.Properties[name].question(name)
		if i == 0 {
			q.Preamble = intro
		}
		answer, err := ask(q)
		if err != nil {
			return &mcp.ElicitResult{Action: declined}, nil //nolint:nilerr // as above
		}
		v, ok := f.Properties[name].value(answer)
		switch {
		case ok:
			content[name] = v
		case slices.Contains(f.Required, name):
			return &mcp.ElicitResult{Action: declined}, nil
		}
	}
	return &mcp.ElicitResult{Action: accepted, Content: content}, nil
}

// A form is the flat schema of a server's questions.
type form struct {
	Properties map[string]fieldOf `json:"properties"`
	Required   []string           `json:"required"`
}

type fieldOf struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []string        `json:"enum"`
	Default     json.RawMessage `json:"default"`
}

func readForm(schema any) (f form, err error) {
	data, err := json.Marshal(schema)
	if err == nil {
		err = exact.Unmarshal(data, &f)
	}
	return f, err
}

// names returns the fields: required ones in their order, then the others.
func (f form) names() []string {
	all := lists.Union(nil, slices.Concat(f.Required, slices.Sorted(maps.Keys(f.Properties))))
	return lists.Filter(all, func(name string) bool {
		_, ok := f.Properties[name]
		return ok
	})
}

func (f fieldOf) question(name string) tool.Question {
	q := tool.Question{ID: name, Text: f.Title, Type: tool.AnswerText}
	q.Text = cmp.Or(q.Text, name)
	if f.Description != "" {
		q.Text += " (" + f.Description + ")"
	}
	q.Text = described(q.Text)
	switch {
	case len(f.Enum) > 0:
		q.Type, q.Options = tool.AnswerSelect, f.Enum
	case f.Type == "boolean":
		q.Type = tool.AnswerBoolean
	}
	if len(f.Default) > 0 && string(f.Default) != "null" {
		q.Default = jsontext.Value(f.Default)
	}
	return q
}

// value converts an answer to the type of the field; false for no answer, and for text in a field
// for numbers.
func (f fieldOf) value(answer jsontext.Value) (any, bool) {
	var v any
	if exact.Unmarshal(answer, &v) != nil || v == nil || v == "" {
		return nil, false
	}
	text, isText := v.(string)
	if !isText || f.Type != "number" && f.Type != "integer" {
		return v, true
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}
