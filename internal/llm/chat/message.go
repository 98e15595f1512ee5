package chat

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
)

// A message is one on the wire before it takes the library's form.
type message struct {
	role     string // system, user, assistant or tool
	content  []content
	calls    []sdk.ChatCompletionMessageToolCallUnionParam
	id       string            // of the call that a tool answers
	thoughts string            // text of reasoning
	details  []json.RawMessage // of reasoning, as OpenRouter sent them
	field    string            // in which thoughts go back
}

// A content is one part of a message: text, an image or a file.
type content struct {
	text      string
	image     string // data URL
	file, url string // name and data URL
	mark      bool
	ttl       string
}

func (c content) param() sdk.ChatCompletionContentPartUnionParam {
	switch {
	case c.image != "":
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: c.image})
	case c.url != "":
		return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{
			Filename: param.NewOpt(c.file), FileData: param.NewOpt(c.url),
		})
	}
	p := sdk.TextContentPart(c.text)
	if c.mark {
		control := map[string]string{"type": "ephemeral"}
		if c.ttl != "5m" {
			control["ttl"] = c.ttl
		}
		p.OfText.SetExtraFields(map[string]any{"cache_control": control})
	}
	return p
}

// plain returns the text of a message that is nothing but text, in the form that every server
// takes.
func (m *message) plain() (string, bool) {
	var texts []string
	for _, c := range m.content {
		if c.image != "" || c.url != "" || c.mark {
			return "", false
		}
		texts = append(texts, c.text)
	}
	return strings.Join(texts, "\n\n"), true
}

// param returns the message in the library's form.
func (m *message) param() sdk.ChatCompletionMessageParamUnion {
	text, plain := m.plain()
	switch m.role {
	case "tool":
		return sdk.ToolMessage(text, m.id)
	case "assistant":
		return m.assistant(text)
	case "system":
		if plain {
			return sdk.SystemMessage(text)
		}
		var parts []sdk.ChatCompletionContentPartTextParam
		for _, c := range m.content {
			parts = append(parts, *c.param().OfText)
		}
		return sdk.SystemMessage(parts)
	}
	if plain {
		return sdk.UserMessage(text)
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, c := range m.content {
		parts = append(parts, c.param())
	}
	return sdk.UserMessage(parts)
}

func (m *message) assistant(text string) sdk.ChatCompletionMessageParamUnion {
	p := &sdk.ChatCompletionAssistantMessageParam{ToolCalls: m.calls}
	if text != "" || len(m.calls) == 0 {
		p.Content.OfString = param.NewOpt(text)
	}
	extra := map[string]any{}
	if m.thoughts != "" && m.field != "" {
		extra[m.field] = m.thoughts
	}
	if len(m.details) > 0 {
		extra["reasoning_details"] = m.details
	}
	if len(extra) > 0 {
		p.SetExtraFields(extra)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: p}
}

// continueDirective follows an answer that the conversation ends with, and interlude stands
// where the assistant must have spoken and has not.
const (
	continueDirective = "Please continue from where you left off."
	interlude         = "…"
)

// converse makes messages of the conversation.
func (b *builder) converse() error {
	all := llm.UniqueIDs(b.request.Messages, llm.WordRule(64))
	called := turnsWithCalls(all)
	for i, m := range all {
		var err error
		if m.Role == llm.RoleUser {
			err = b.user(m, i == len(all)-1)
		} else {
			b.assistant(m, called[i])
		}
		if err != nil {
			return err
		}
	}
	b.settle()
	if last := b.last(); last != nil && last.role == "assistant" && len(last.calls) == 0 {
		b.at("user").content = []content{{text: continueDirective}}
	}
	return nil
}

// settle takes out replies that say nothing but thoughts, since what they led to is gone, and
// lets the user go on speaking.
func (b *builder) settle() {
	var kept []*message
	for _, m := range b.messages {
		if m.role == "assistant" && len(m.content) == 0 && len(m.calls) == 0 {
			continue
		}
		if n := len(kept); n > 0 && m.role == "user" && kept[n-1].role == "user" {
			kept[n-1].content = append(kept[n-1].content, m.content...)
			continue
		}
		kept = append(kept, m)
	}
	b.messages = kept
}

// turnsWithCalls says of each message whether a tool was called in its turn, which is from
// where the user spoke to where he speaks again.
func turnsWithCalls(all []llm.Message) []bool {
	called := make([]bool, len(all))
	begin, some := 0, false
	for i := 0; i <= len(all); i++ {
		if i == len(all) || spoke(all[i]) {
			for j := begin; j < i; j++ {
				called[j] = some
			}
			begin, some = i, false
		}
		if i < len(all) {
			for _, p := range all[i].Parts {
				_, isCall := p.(llm.Call)
				some = some || isCall
			}
		}
	}
	return called
}

// spoke reports whether the user says something, beside results.
func spoke(m llm.Message) bool {
	for _, p := range m.Parts {
		if _, isResult := p.(llm.Result); !isResult {
			return m.Role == llm.RoleUser
		}
	}
	return false
}

func (b *builder) last() *message {
	if len(b.messages) == 0 {
		return nil
	}
	return b.messages[len(b.messages)-1]
}

// at returns the message of this role that is being written: neighbours of one role are one.
func (b *builder) at(role string) *message {
	last := b.last()
	if last != nil && last.role == role {
		return last
	}
	if role == "user" && last != nil && last.role == "tool" && b.model.dialect.between {
		b.messages = append(b.messages, &message{
			role: "assistant", content: []content{{text: interlude}},
		})
	}
	m := &message{role: role, field: b.model.dialect.thoughts}
	b.messages = append(b.messages, m)
	return m
}

// user says what stands in a message: results first, then texts and files in their order.
func (b *builder) user(m llm.Message, last bool) error {
	var said []content
	var files []llm.Part
	flush := func() error {
		list, err := b.files(files, last)
		said, files = append(said, list...), nil
		return err
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Result:
			said = append(said, b.result(p)...)
		case llm.Resource, llm.Media:
			files = append(files, p)
		case llm.Text:
			if err := flush(); err != nil {
				return err
			}
			if strings.TrimSpace(p.Text) != "" {
				said = append(said, content{text: p.Text})
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if len(said) == 0 {
		return nil
	}
	said[len(said)-1].mark = m.Breakpoint
	u := b.at("user")
	u.content = append(u.content, said...)
	return nil
}

// result answers a call. What a tool returned to look at follows in what the user says, since
// a result is text.
func (b *builder) result(r llm.Result) []content {
	text := r.Plain()
	if strings.TrimSpace(text) == "" {
		text = "(empty)"
	}
	b.messages = append(b.messages, &message{
		role: "tool", id: b.model.dialect.id(r.CallID), content: []content{{text: text}},
	})
	var looks []content
	for _, p := range r.Parts {
		name, mime, data := llm.Attached(p)
		if data == nil || b.model.dialect.between {
			continue
		}
		if list, err := b.file(name, mime, data); err == nil {
			looks = append(looks, list...)
		}
	}
	return looks
}

// files returns what was attached: texts in one document, then the others with their names.
func (b *builder) files(parts []llm.Part, last bool) ([]content, error) {
	var texts []llm.Resource
	var list []content
	for _, p := range parts {
		if r, ok := p.(llm.Resource); ok && r.Bytes == nil {
			texts = append(texts, r)
			continue
		}
		name, mime, data := llm.Attached(p)
		more, err := b.file(name, mime, data)
		if err != nil && last {
			return nil, err
		}
		if err != nil {
			// Earlier in the conversation it must not be stuck on what cannot be shown.
			more = []content{{text: llm.Result{Parts: []llm.Part{p}}.Plain()}}
		}
		list = append(list, more...)
	}
	if len(texts) > 0 {
		list = append([]content{{text: llm.Documents(texts, b.first)}}, list...)
	}
	b.first += len(parts)
	return list, nil
}

func (b *builder) file(name, mime string, data []byte) ([]content, error) {
	url := "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	switch {
	case llm.IsImage(mime) && b.model.dialect.images:
		if name == "" {
			return []content{{image: url}}, nil
		}
		return []content{{text: llm.FileLabel(name)}, {image: url}}, nil
	case llm.IsPDF(mime) && b.model.dialect.pdfs:
		return []content{{file: filename(name), url: url}}, nil
	default:
		return nil, &llm.UnsupportedError{Model: b.model.ID(), What: mime, Name: name}
	}
}

func filename(name string) string {
	if name == "" {
		return "document.pdf"
	}
	return path.Base(name)
}
