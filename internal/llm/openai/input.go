package openai

import (
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
)

const (
	user      = "user"
	assistant = "assistant"
)

// messages converts the messages to items. Successive messages of the assistant are one reply:
// reasoning and the item that it led to must not be separated.
func (b *builder) messages() error {
	all := llm.UniqueIDs(b.request.Messages, nameRule())
	for i := 0; i < len(all); i++ {
		if all[i].Role == llm.RoleUser {
			if err := b.user(all[i], i == len(all)-1); err != nil {
				return err
			}
			continue
		}
		var reply []said
		for ; i < len(all) && all[i].Role == llm.RoleAssistant; i++ {
			own := !b.unsigned && llm.Own(all[i], b.model.ID())
			for _, p := range all[i].Parts {
				reply = append(reply, said{part: p, own: own})
			}
		}
		i--
		b.assistant(reply)
	}
	return nil
}

// user adds the content of a message in order: attachments of one group in one item, each text in
// one of its own, as jp sends them.
func (b *builder) user(m llm.Message, last bool) error {
	var files []llm.Part
	flush := func() error {
		list, err := b.pieces.Files(files, last)
		files = nil
		if len(list) > 0 {
			b.say(user, list)
		}
		return err
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Resource, llm.Media:
			files = append(files, p)
			continue
		case llm.Text:
			if err := flush(); err != nil {
				return err
			}
			b.sayText(user, p.Text)
		case llm.Result:
			if err := flush(); err != nil {
				return err
			}
			b.result(p)
		}
	}
	err := flush()
	if m.Breakpoint {
		b.markLast()
	}
	return err
}

// sayText adds a text, unless it is empty.
func (b *builder) sayText(role, text string) {
	if strings.TrimSpace(text) != "" {
		b.say(role, text)
	}
}

// say adds a message, whose content is a string or pieces.
func (b *builder) say(role string, content any) {
	b.item(wireItem{Type: kindMessage, Role: role, Content: content})
}

func (b *builder) item(it wireItem) { b.items = append(b.items, &it) }

// markLast sets a breakpoint at the end of the last item. Only content that is a list can have one.
func (b *builder) markLast() {
	if !b.model.trait.breakpoints || len(b.items) == 0 {
		return
	}
	m := b.items[len(b.items)-1]
	if m.Type != kindMessage || m.Role == assistant {
		return
	}
	list, ok := m.Content.([]piece)
	if text, plain := m.Content.(string); plain {
		list, ok = []piece{inputText(text)}, true
		m.Content = list
	}
	if ok {
		b.marks = append(b.marks, &list[len(list)-1])
	}
}

func (b *builder) file(f llm.File) ([]piece, error) {
	url := llm.DataURL(f.MIME, f.Bytes)
	var list []piece
	if label := f.Label(); label != "" {
		list = []piece{inputText(label)}
	}
	switch {
	case llm.IsPDF(f.MIME):
		return append(list, piece{
			Type: "input_file", Filename: llm.PDFName(f.Name), FileData: url,
		}), nil
	case llm.IsImage(f.MIME):
		return append(list, piece{Type: "input_image", Detail: "auto", ImageURL: url}), nil
	default:
		return nil, &llm.UnsupportedError{Model: b.model.ID(), What: f.MIME, Name: f.Name}
	}
}

// result adds a result as text, or as a list if it has images or PDFs.
func (b *builder) result(r llm.Result) {
	it := wireItem{Type: kindResult, CallID: r.CallID, Output: r.Plain()}
	if list := b.looks(r); list != nil {
		it.Output = list
	}
	b.item(it)
}

// looks returns a result with images or PDFs as a list, nil if it has none.
func (b *builder) looks(r llm.Result) []piece {
	var list []piece
	seen := false
	for _, p := range r.Parts {
		f := llm.FileOf(p)
		more, err := b.file(f)
		if f.Bytes == nil || err != nil {
			if text := (llm.Result{Parts: []llm.Part{p}}).Plain(); text != "" {
				more = []piece{inputText(text)}
			}
		} else {
			seen = true
		}
		list = append(list, more...)
	}
	if !seen {
		return nil
	}
	return list
}

// A said is one part of a reply.
type said struct {
	part llm.Part
	own  bool // it may be sent back in the provider's form
}

// assistant adds a reply of the model.
func (b *builder) assistant(reply []said) {
	bound := false // the previous item is reasoning that led to this one
	for i, s := range reply {
		switch p := s.part.(type) {
		case llm.Reasoning:
			if s.own && replayable(p) && leads(reply[i+1:]) && b.fresh(p.Metadata) {
				b.reasoning(p)
				bound = true
				continue
			}
			if p.Text != "" {
				b.sayText(assistant, "<think>\n"+p.Text+"\n</think>\n\n")
				bound = false
			}
		case llm.Text:
			if strings.TrimSpace(p.Text) != "" {
				b.message(p, s.own, bound)
				bound = false
			}
		case llm.Data:
			if len(p.Value) > 0 {
				b.message(llm.Text{Text: string(p.Value), Metadata: p.Metadata}, s.own, bound)
				bound = false
			}
		case llm.Call:
			b.call(p)
			bound = false
		case llm.Opaque:
			b.opaque(p, s.own)
		}
	}
}

// opaque sends the provider's compaction back, once, if the user wants it.
func (b *builder) opaque(p llm.Opaque, own bool) {
	var head struct {
		ID string `json:"id"`
	}
	asked := b.request.Params.Services.Context.Kind() == '['
	if !own || !asked || json.Unmarshal(p.JSON, &head) != nil || b.ids[head.ID] {
		return
	}
	b.ids[head.ID] = true
	b.items = append(b.items, &wireItem{Type: "compaction", opaque: json.RawMessage(p.JSON)})
}

// replayable reports whether reasoning has the id and the encrypted data that the provider needs.
func replayable(r llm.Reasoning) bool {
	id, _ := r.Metadata.Text(llm.MetadataOpenAIItemID)
	secret, _ := r.Metadata.Text(llm.MetadataOpenAIEncrypted)
	return strings.HasPrefix(id, "rs_") && secret != ""
}

// leads reports whether reasoning is still followed by an item that it may have led to. Other
// reasoning may come between.
func leads(rest []said) bool {
	for _, s := range rest {
		switch p := s.part.(type) {
		case llm.Text:
			if strings.TrimSpace(p.Text) != "" {
				return s.own
			}
		case llm.Data, llm.Call:
			return s.own
		case llm.Reasoning:
			if !s.own || !replayable(p) {
				return false
			}
		}
	}
	return false
}

// fresh reports whether an item is not yet in the request, and adds its id. A merged conversation
// may have one reply twice; the provider accepts no item twice.
func (b *builder) fresh(md events.Metadata) bool {
	id, _ := md.Text(llm.MetadataOpenAIItemID)
	if b.ids[id] {
		return false
	}
	b.ids[id] = true
	return true
}

func (b *builder) reasoning(r llm.Reasoning) {
	id, _ := r.Metadata.Text(llm.MetadataOpenAIItemID)
	secret, _ := r.Metadata.Text(llm.MetadataOpenAIEncrypted)
	summary := []piece{}
	if r.Text != "" {
		summary = append(summary, piece{Type: "summary_text", Text: &r.Text})
	}
	b.item(wireItem{Type: kindReasoning, ID: id, Summary: summary, Encrypted: secret})
}

// message adds a message of the assistant. Its id requires the reasoning before it, and is left out
// without that.
func (b *builder) message(t llm.Text, own, bound bool) {
	id, _ := t.Metadata.Text(llm.MetadataOpenAIItemID)
	phase, _ := t.Metadata.Text(llm.MetadataOpenAIPhase)
	if !own {
		phase = ""
	}
	it := wireItem{Type: kindMessage, Role: assistant, Phase: phase, Content: t.Text}
	if own && bound && strings.HasPrefix(id, "msg_") && b.fresh(t.Metadata) {
		it.ID, it.Status = id, "completed"
		it.Content = []piece{{Type: "output_text", Text: &t.Text, Annotations: []struct{}{}}}
	}
	b.item(it)
}

// call adds a call without the id of its item: the provider pairs calls by their own ids, and the
// id of an item would require its reasoning.
func (b *builder) call(c llm.Call) {
	b.item(wireItem{
		Type: kindCall, CallID: c.ID, Name: b.names.Wire(c.Name), Arguments: llm.ArgumentsText(c),
	})
}
