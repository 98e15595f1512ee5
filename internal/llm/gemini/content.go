package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// skipSignature is the value that Google's documentation prescribes for calls without a signature,
// such as those of other models.
const skipSignature = "skip_thought_signature_validator"

// A content is one message on the wire.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// A part is one piece of a content. Signatures are strings here, so that they are sent back
// unchanged.
type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
	Data      *blob     `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

func textPart(s string) part { return part{Text: &s} }

// converse converts the messages to contents.
func (b *builder) converse() error {
	all := llm.UniqueIDs(b.request.Messages, wire.WordRule(64))
	var open []llm.Call // of the last reply
	for i, m := range all {
		if m.Role == llm.RoleAssistant {
			open = append(open, b.assistant(m)...)
			continue
		}
		if err := b.user(m, open, i == len(all)-1); err != nil {
			return err
		}
		if len(results(m)) > 0 {
			open = slices.DeleteFunc(open, func(c llm.Call) bool { return answered(m, c) })
		}
	}
	if b.model.trait.signed {
		b.sign()
	}
	return nil
}

func results(m llm.Message) []llm.Result {
	var out []llm.Result
	for _, p := range m.Parts {
		if r, ok := p.(llm.Result); ok {
			out = append(out, r)
		}
	}
	return out
}

func answered(m llm.Message, c llm.Call) bool {
	return slices.ContainsFunc(results(m), func(r llm.Result) bool { return r.CallID == c.ID })
}

// say adds parts of a role; neighbours of one role are merged, except for responses, which are
// alone in their content.
func (b *builder) say(role string, parts ...part) {
	if len(parts) == 0 {
		return
	}
	if n := len(b.contents); n > 0 && b.contents[n-1].Role == role &&
		alone(b.contents[n-1].Parts) == alone(parts) {
		b.contents[n-1].Parts = append(b.contents[n-1].Parts, parts...)
		return
	}
	b.contents = append(b.contents, content{Role: role, Parts: parts})
}

func alone(parts []part) bool { return parts[0].Response != nil }

// user adds a message of the user: first the responses, in the order of the calls.
func (b *builder) user(m llm.Message, open []llm.Call, last bool) error {
	var responses, looks []part
	for _, c := range open {
		for _, r := range results(m) {
			if r.CallID == c.ID {
				responses = append(responses, b.response(c, r))
				looks = append(looks, b.pieces.Looks(r)...)
			}
		}
	}
	b.say("user", responses...)
	if len(looks) > 0 {
		b.contents = append(b.contents, content{Role: "user", Parts: looks})
	}
	said, err := b.pieces.Said(m, last)
	b.say("user", said...)
	return err
}

// response returns a result, named like its call.
func (b *builder) response(c llm.Call, r llm.Result) part {
	member := "content"
	if r.IsError {
		member = "error"
	}
	return part{Response: &response{
		ID: b.id(c), Name: b.names.Wire(c.Name), Response: map[string]string{member: r.Plain()},
	}}
}

// id returns the id by which models from Gemini 3 on pair a call with its response, "" for earlier
// models, which pair them by order.
func (b *builder) id(c llm.Call) string {
	if !b.model.trait.signed {
		return ""
	}
	return c.ID
}

func (b *builder) file(f llm.File) ([]part, error) {
	kind, _, _ := strings.Cut(f.MIME, "/")
	if !llm.IsImage(f.MIME) && !llm.IsPDF(f.MIME) && kind != "audio" && kind != "video" {
		return nil, &llm.UnsupportedError{Model: b.model.ID(), What: f.MIME, Name: f.Name}
	}
	file := part{Data: &blob{MIME: f.MIME, Data: f.Bytes}}
	if label := f.Label(); label != "" {
		return []part{textPart(label), file}, nil
	}
	return []part{file}, nil
}

// assistant adds a reply of the model and returns its calls.
func (b *builder) assistant(m llm.Message) []llm.Call {
	own := !b.unsigned && llm.Own(m, b.model.ID())
	signed := func(p part, md events.Metadata) part {
		if own {
			p.Signature, _ = md.Text(llm.MetadataGoogleSignature)
		}
		return p
	}
	var calls []llm.Call
	var parts []part
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Reasoning:
			thought := signed(textPart(p.Text), p.Metadata)
			if thought.Thought = true; p.Text != "" || thought.Signature != "" {
				parts = append(parts, thought)
			}
		case llm.Text:
			text := signed(textPart(p.Text), p.Metadata)
			if strings.TrimSpace(p.Text) != "" || text.Signature != "" {
				parts = append(parts, text)
			}
		case llm.Data:
			parts = append(parts, signed(textPart(string(p.Value)), p.Metadata))
		case llm.Call:
			calls = append(calls, p)
			c := &call{ID: b.id(p), Name: b.names.Wire(p.Name), Args: json.RawMessage(p.Args)}
			parts = append(parts, signed(part{Call: c}, p.Metadata))
		}
	}
	b.say("model", parts...)
	return calls
}

// sign adds a signature to the first call of each step that has none. The provider requires that in
// the current turn only; in earlier turns it stays, so that a sent prompt does not change.
func (b *builder) sign() {
	for _, c := range b.contents {
		for j := range c.Parts {
			if c.Parts[j].Call == nil {
				continue
			}
			if c.Parts[j].Signature == "" {
				c.Parts[j].Signature = skipSignature
			}
			break
		}
	}
}
