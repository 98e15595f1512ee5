package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A codexLine is a line of a session of Codex, with the members that a model was sent.
type codexLine struct {
	At   time.Time `json:"timestamp"`
	Type string    `json:"type"`
	Item struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"` // of apply_patch, which has no other argument
		ID        string          `json:"call_id"`
		Output    json.RawMessage `json:"output"`
	} `json:"payload"`
}

// codex reads a session as one conversation, nil if it is something else.
func codex(data []byte) []*events.Stream {
	s := events.New()
	add := func(at time.Time, ev events.Event) {
		s.Append(events.NewElement(at, ev, events.Metadata{}))
	}
	for line := range bytes.Lines(data) {
		var l codexLine
		if json.Unmarshal(line, &l) != nil || l.Type != "response_item" {
			continue
		}
		switch item := l.Item; item.Type {
		case "message":
			text := claudeText(item.Content) // its blocks have the same form
			switch item.Role {
			case "assistant":
				add(l.At, &events.ChatResponse{Text: text})
			case "user":
				add(l.At, &events.TurnStart{})
				add(l.At, &events.ChatRequest{Content: text})
			}
		case "function_call":
			args := jsontext.Value(item.Arguments)
			if events.Loadable(args) != nil {
				args = input(item.Arguments)
			}
			add(l.At, &events.ToolCallRequest{ID: item.ID, Name: item.Name, Arguments: args})
		case "custom_tool_call":
			add(l.At, &events.ToolCallRequest{ID: item.ID, Name: item.Name, Arguments: input(item.Input)})
		case "function_call_output", "custom_tool_call_output":
			add(l.At, &events.ToolCallResponse{ID: item.ID, Blocks: []events.Block{{
				Type: events.BlockText, Content: blobs.Loaded([]byte(claudeText(item.Output))),
			}}})
		}
	}
	if s.Len() == 0 {
		return nil
	}
	return []*events.Stream{s}
}

// input returns the arguments of a call whose only argument is a text.
func input(text string) jsontext.Value {
	args, err := json.Marshal(map[string]string{"input": text})
	if err != nil {
		return jsontext.Value("{}") // a string can always be encoded
	}
	return args
}

// hunks returns the replacements that a patch makes in one file.
func hunks(patch, key string) (all []replacement) {
	for _, section := range strings.Split(patch, "*** Update File: ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		if !strings.HasSuffix(key, name) {
			continue
		}
		rest, _, _ = strings.Cut(rest, "\n*** ")
		for _, hunk := range strings.Split("\n"+rest, "\n@@")[1:] {
			_, hunk, _ = strings.Cut(hunk, "\n")
			var r replacement
			for line := range strings.Lines(hunk) {
				if text, added := strings.CutPrefix(line, "+"); added {
					r.New += text
				} else if text, removed := strings.CutPrefix(line, "-"); removed {
					r.Old += text
				} else {
					r.Old, r.New = r.Old+line[1:], r.New+line[1:]
				}
			}
			r.Old, r.New = strings.TrimSuffix(r.Old, "\n"), strings.TrimSuffix(r.New, "\n")
			if r.Old != "" {
				all = append(all, r)
			}
		}
	}
	return all
}
