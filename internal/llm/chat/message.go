package chat

import (
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A message is a message before its conversion to the server's form.
type message struct {
	role     string // system, user, assistant or tool
	content  []content
	calls    []wireCall
	id       string            // of the call that a tool message answers
	thoughts string            // text of reasoning
	details  []json.RawMessage // of reasoning, as OpenRouter sent them
	form     thoughts          // in which thoughts are sent
	bare     bool              // the thoughts member is present even if empty
}

// A content is one part of a message: text, an image or a file.
type content struct {
	text      string
	image     string // data URL
	file, url string // name and data URL
	mark      *wireCache
}

// plain returns the text of a message that has only text, in the form that every server accepts.
func (m *message) plain() (string, bool) {
	var texts []string
	for _, c := range m.content {
		if c.image != "" || c.url != "" || c.mark != nil {
			return "", false
		}
		texts = append(texts, c.text)
	}
	piece := m.form == thoughtsPiece && m.thoughts != ""
	return strings.Join(texts, "\n\n"), !piece
}

// interlude is the assistant's message where the server requires one and the model wrote none.
const interlude = "…"

// converse converts the conversation to messages.
func (b *builder) converse() error {
	all := llm.UniqueIDs(b.request.Messages, wire.WordRule(64))
	called, asking := turnsWithCalls(all), lastSpoken(all)
	for i, m := range all {
		var err error
		if m.Role == llm.RoleUser {
			if i == asking && m.Schema == nil {
				m.Schema = b.request.Schema
			}
			err = b.user(m, i == len(all)-1)
		} else {
			b.assistant(m, called[i])
		}
		if err != nil {
			return err
		}
	}
	b.settle()
	return nil
}

// settle removes replies that have only thoughts, since the calls after them are gone, merges
// successive messages of the user, and inserts a message of the assistant where the user's may not
// follow.
func (b *builder) settle() {
	var kept []*message
	for _, m := range b.messages {
		if m.role == "assistant" && len(m.content) == 0 && len(m.calls) == 0 {
			continue
		}
		n := len(kept)
		switch {
		case n == 0 || m.role != "user":
		case kept[n-1].role == "user":
			kept[n-1].content = append(kept[n-1].content, m.content...)
			continue
		case kept[n-1].role == "tool" && b.model.dialect.between:
			kept = append(kept, &message{role: "assistant", content: []content{{text: interlude}}})
		}
		kept = append(kept, m)
	}
	b.messages = kept
}

// turnsWithCalls returns for each message whether its turn, from one of the user's messages to the
// next, has tool calls.
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

// spoke reports whether a message of the user has content beside results.
func spoke(m llm.Message) bool {
	for _, p := range m.Parts {
		if _, isResult := p.(llm.Result); !isResult {
			return m.Role == llm.RoleUser
		}
	}
	return false
}

// lastSpoken returns the index of the last message in which [spoke] is true.
func lastSpoken(all []llm.Message) int {
	i := len(all) - 1
	for i >= 0 && !spoke(all[i]) {
		i--
	}
	return i
}

func (b *builder) last() *message {
	if len(b.messages) == 0 {
		return nil
	}
	return b.messages[len(b.messages)-1]
}

// at returns the current message if it has this role, else a new one: neighbours of one role are
// merged.
func (b *builder) at(role string) *message {
	last := b.last()
	if last != nil && last.role == role {
		return last
	}
	m := &message{role: role, form: b.model.dialect.thoughts}
	b.messages = append(b.messages, m)
	return m
}

// user adds a message of the user: results, the images and files of results, then texts and files
// in their order.
func (b *builder) user(m llm.Message, last bool) error {
	var said []content
	for _, p := range m.Parts {
		if r, ok := p.(llm.Result); ok {
			said = append(said, b.result(r)...)
		}
	}
	rest, err := b.pieces.Said(m, last)
	if err != nil {
		return err
	}
	if m.Schema != nil && b.model.dialect.objects {
		rest = append(rest, content{text: schemaDirective + string(m.Schema)})
	}
	if said = append(said, rest...); len(said) == 0 {
		return nil
	}
	if m.Breakpoint {
		said[len(said)-1].mark = b.mark()
	}
	u := b.at("user")
	u.content = append(u.content, said...)
	return nil
}

// result adds the result of a call. Its images and files follow in a message of the user, since a
// result is text.
func (b *builder) result(r llm.Result) []content {
	text := r.Plain()
	if strings.TrimSpace(text) == "" {
		text = "(empty)"
	}
	b.messages = append(b.messages, &message{
		role: "tool", id: b.model.dialect.id(r.CallID), content: []content{{text: text}},
	})
	return b.pieces.Looks(r)
}

func (b *builder) file(f llm.File) ([]content, error) {
	url := llm.DataURL(f.MIME, f.Bytes)
	var list []content
	if label := f.Label(); label != "" {
		list = []content{{text: label}}
	}
	switch {
	case llm.IsImage(f.MIME) && b.model.dialect.images:
		return append(list, content{image: url}), nil
	case llm.IsPDF(f.MIME) && b.model.dialect.pdfs:
		return append(list, content{file: llm.PDFName(f.Name), url: url}), nil
	default:
		return nil, &llm.UnsupportedError{Model: b.model.ID(), What: f.MIME, Name: f.Name}
	}
}
