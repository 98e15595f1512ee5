package chat

import (
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A message is one before it takes the server's form.
type message struct {
	role     string // system, user, assistant or tool
	content  []content
	calls    []wireCall
	id       string            // of the call that a tool answers
	thoughts string            // text of reasoning
	details  []json.RawMessage // of reasoning, as OpenRouter sent them
	form     thoughts          // in which thoughts go back
	bare     bool              // the member of thoughts is there without any
}

// A content is one part of a message: text, an image or a file.
type content struct {
	text      string
	image     string // data URL
	file, url string // name and data URL
	mark      *wireCache
}

// plain returns the text of a message that is nothing but text, in the form that every server
// takes.
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

// continueDirective follows an answer that the conversation ends with, and interlude stands
// where the assistant must have spoken and has not.
const (
	continueDirective = "Please continue from where you left off."
	interlude         = "…"
)

// converse makes messages of the conversation.
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
	if last := b.last(); last != nil && last.role == "assistant" && len(last.calls) == 0 {
		b.at("user").content = []content{{text: continueDirective}}
	}
	return nil
}

// settle takes out replies that say nothing but thoughts, since what they led to is gone, lets
// the user go on speaking, and the assistant speak where the user may not.
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

// lastSpoken is the index of the last message in which the user says something.
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

// at returns the message of this role that is being written: neighbours of one role are one.
func (b *builder) at(role string) *message {
	last := b.last()
	if last != nil && last.role == role {
		return last
	}
	m := &message{role: role, form: b.model.dialect.thoughts}
	b.messages = append(b.messages, m)
	return m
}

// user says what stands in a message: results, what tools returned to look at, then texts and
// files in their order.
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
