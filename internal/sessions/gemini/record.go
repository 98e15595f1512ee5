package gemini

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// metadata describes a session.
type metadata struct {
	SessionID sessions.Text                   `json:"sessionId"`
	Project   sessions.Text                   `json:"projectHash"`
	Start     sessions.Moment                 `json:"startTime"`
	Updated   sessions.Moment                 `json:"lastUpdated"`
	Kind      sessions.Text                   `json:"kind"`
	Summary   sessions.Text                   `json:"summary"`
	Dirs      sessions.Loose[[]sessions.Text] `json:"directories"`
	title     string
}

func (m *metadata) isSession() bool { return m.SessionID != "" && m.Project != "" }

// A record is one line: metadata, a change of it, a message, or a rewind.
type record struct {
	metadata
	message
	Set      jsontext.Value `json:"$set"`
	RewindTo sessions.Text  `json:"$rewindTo"`
}

// A message is text of a person or a model, or a notice of the agent to the person.
type message struct {
	ID       sessions.Text   `json:"id"`
	Time     sessions.Moment `json:"timestamp"`
	Type     sessions.Text   `json:"type"`
	Content  jsontext.Value  `json:"content"`
	Display  jsontext.Value  `json:"displayContent"`
	Thoughts sessions.Loose[[]struct {
		Subject sessions.Text   `json:"subject"`
		Text    sessions.Text   `json:"description"`
		Time    sessions.Moment `json:"timestamp"`
	}] `json:"thoughts"`
	Tokens sessions.Loose[*tokens]          `json:"tokens"`
	Model  sessions.Text                    `json:"model"`
	Calls  sessions.Loose[[]jsontext.Value] `json:"toolCalls"`
}

type tokens struct {
	Input    sessions.Number `json:"input"`
	Output   sessions.Number `json:"output"`
	Cached   sessions.Number `json:"cached"`
	Thoughts sessions.Number `json:"thoughts"`
	Tool     sessions.Number `json:"tool"`
}

// usage returns the figures as they are stored: caches apart from the input, reasoning as output.
func (t *tokens) usage(model string) compact.Usage {
	return compact.Usage{
		Input: int64(max(0, t.Input-t.Cached+t.Tool)), CacheRead: int64(t.Cached),
		Output: int64(t.Output + t.Thoughts), Model: model,
	}
}

// A call is a call of a tool, with its result if there is one.
type call struct {
	ID      sessions.Text   `json:"id"`
	Name    sessions.Text   `json:"name"`
	Args    jsontext.Value  `json:"args"`
	Result  jsontext.Value  `json:"result"`
	Status  sessions.Text   `json:"status"`
	Time    sessions.Moment `json:"timestamp"`
	AgentID sessions.Text   `json:"agentId"`
	Display jsontext.Value  `json:"resultDisplay"`
	key     string
}

// A part is a piece of a message.
type part struct {
	Text     sessions.Text             `json:"text"`
	Thought  sessions.Flag             `json:"thought"`
	Inline   sessions.Loose[inline]    `json:"inlineData"`
	Response sessions.Loose[*response] `json:"functionResponse"`
	Call     jsontext.Value            `json:"functionCall"`
	raw      jsontext.Value
}

type inline struct {
	Data sessions.Text `json:"data"`
	MIME sessions.Text `json:"mimeType"`
}

type response struct {
	ID       sessions.Text  `json:"id"`
	Name     sessions.Text  `json:"name"`
	Response jsontext.Value `json:"response"`
	Parts    jsontext.Value `json:"parts"`
}

// parts returns the pieces of a content: a string, a part, a list of both, or nothing.
func parts(content jsontext.Value) (all []part) {
	raw := []jsontext.Value{content}
	switch content.Kind() {
	case '"', '{':
	case '[':
		if sessions.Unmarshal(content, &raw) != nil {
			return nil
		}
	default:
		return nil
	}
	for _, v := range raw {
		p := part{}
		if v.Kind() == '"' {
			_ = sessions.Unmarshal(v, &p.Text) // a string, by its kind
		} else if sessions.Unmarshal(v, &p) != nil {
			p = part{}
		}
		p.raw = v
		all = append(all, p)
	}
	return all
}

func text(all []part) string {
	var out []string
	for _, p := range all {
		if p.Text != "" {
			out = append(out, string(p.Text))
		}
	}
	return strings.Join(out, "\n")
}

// typed returns the text that a person typed, "" if the agent wrote the message.
func (m *message) typed() string {
	said := text(parts(m.Content))
	if isInjected(said) {
		return ""
	}
	if shown := text(parts(m.Display)); shown != "" {
		return shown
	}
	return said
}

// isInjected reports whether the agent wrote a message in the person's name.
func isInjected(text string) bool {
	for _, begin := range []string{
		"<session_context>", "<state_snapshot>", "This is the Gemini CLI. We are setting up",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// bytes returns the inline data of a part.
func (p *part) bytes() ([]byte, bool) {
	if p.Inline.Value.MIME == "" {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(string(p.Inline.Value.Data))
	return data, err == nil
}

// glanceObject returns the metadata at the beginning of a session that is one object.
func glanceObject(head []byte) (m metadata) {
	dec := jsontext.NewDecoder(bytes.NewReader(head),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	others, title := glanceMembers(dec)
	if len(others) > 0 {
		others[0] = '{'
		_ = sessions.Unmarshal(append(others, '}'), &m) // all members are lenient
	}
	m.title = title
	return m
}

// glanceMembers returns the members of an object except its messages, each preceded by a comma, and
// a title from the messages. The object may be truncated.
func glanceMembers(dec *jsontext.Decoder) (others []byte, title string) {
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, ""
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return others, title
		}
		member := name.String() // copied before the next read overwrites it
		if member == "messages" && dec.PeekKind() == '[' {
			if glanceMessages(dec, &title) != nil {
				return others, title
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return others, title
		}
		quoted, err := jsontext.AppendQuote(nil, member)
		if err == nil {
			others = slices.Concat(others, []byte(","), quoted, []byte(":"), v)
		}
	}
	return others, title
}

// glanceMessages takes the first prompt as the title, and reads to the end of the array.
func glanceMessages(dec *jsontext.Decoder, title *string) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		var said message
		if *title == "" && sessions.Unmarshal(v, &said) == nil && said.Type == "user" {
			*title = said.typed()
		}
	}
	_, err := dec.ReadToken()
	return err
}
