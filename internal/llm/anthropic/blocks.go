package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// turns returns the messages in the provider's form: roles alternate, results come first in the
// user's messages, no text is empty, and the last message is the user's.
func (b *builder) turns() ([]message, error) {
	var out []message
	for i, m := range b.messages {
		blocks, err := b.blocks(i, m)
		if err != nil {
			return nil, err
		}
		if len(blocks) == 0 {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == m.Role {
			out[last].Content = append(out[last].Content, blocks...)
			continue
		}
		out = append(out, message{Role: m.Role, Content: blocks})
	}
	for i := range out {
		out[i].Content = arrange(out[i])
	}
	return out, nil
}

// arrange moves results to the front, and turns the thinking of an assistant's message that would
// end with it into text: the provider refuses such an end, and also incomplete thinking.
func arrange(m message) []block {
	if m.Role == llm.RoleUser {
		slices.SortStableFunc(m.Content, func(x, y block) int { return rank(x) - rank(y) })
		return m.Content
	}
	if !thought(m.Content[len(m.Content)-1]) {
		return m.Content
	}
	var said []block
	for _, x := range m.Content {
		switch {
		case x.Thinking != nil && *x.Thinking != "":
			said = append(said, thoughtText(*x.Thinking))
		case !thought(x):
			said = append(said, x)
		}
	}
	if len(said) == 0 {
		said = []block{textBlock("…")}
	}
	return said
}

func thought(b block) bool { return b.Type == kindThinking || b.Type == kindRedacted }

func rank(b block) int {
	if b.Type == kindResult {
		return 0
	}
	return 1
}

func (b *builder) blocks(i int, m llm.Message) ([]block, error) {
	var out []block
	for _, p := range m.Parts {
		x, ok, err := b.block(i, m, p)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// block returns one part in the provider's form; ok is false for an empty part.
func (b *builder) block(i int, m llm.Message, p llm.Part) (x block, ok bool, err error) {
	switch p := p.(type) {
	case llm.Text:
		return textBlock(p.Text), strings.TrimSpace(p.Text) != "", nil
	case llm.Data:
		return textBlock(string(p.Value)), len(p.Value) > 0, nil
	case llm.Reasoning:
		x, ok = b.thinking(m, p)
		return x, ok, nil
	case llm.Opaque:
		x, ok = b.opaque(m, p)
		return x, ok, nil
	case llm.Call:
		return block{
			Type: kindCall, ID: p.ID, Name: b.names.Wire(p.Name), Input: p.Arguments(),
		}, true, nil
	case llm.Result:
		return b.result(p), true, nil
	case llm.Resource, llm.Media:
		return b.attached(i, p)
	default:
		return block{}, false, nil
	}
}

// opaque returns a block of the provider's own unchanged.
func (b *builder) opaque(m llm.Message, p llm.Opaque) (block, bool) {
	var head struct {
		Type string `json:"type"`
	}
	if !llm.Own(m, b.model) || json.Unmarshal(p.JSON, &head) != nil || head.Type == "" ||
		head.Type == "compaction" && !b.compacts() {
		return block{}, false
	}
	return block{opaque: json.RawMessage(p.JSON)}, true
}

// thinking returns thinking byte for byte if the same model wrote it, else as text.
func (b *builder) thinking(m llm.Message, r llm.Reasoning) (block, bool) {
	if !b.signed(m, r) {
		return thoughtText(r.Text), r.Text != ""
	}
	if data, ok := llm.Proof(r.Metadata, llm.MetadataAnthropicRedacted); ok {
		return block{Type: kindRedacted, Data: data}, true
	}
	signature, _ := llm.Proof(r.Metadata, llm.MetadataAnthropicSignature)
	return block{Type: kindThinking, Thinking: &r.Text, Signature: signature}, true
}

func thoughtText(text string) block {
	return textBlock("<think>\n" + text + "\n</think>\n\n")
}

// attached returns an attachment. A file that the model does not accept is an error in the last
// message, and a placeholder in an earlier one, so that it does not block the conversation.
func (b *builder) attached(i int, p llm.Part) (block, bool, error) {
	if x, ok := content(p); ok {
		return x, true, nil
	}
	f := llm.FileOf(p)
	if i == len(b.messages)-1 {
		return block{}, false, &llm.UnsupportedError{Model: b.model, What: f.MIME, Name: f.Name}
	}
	return plain(llm.Resource{URI: f.Name, MIME: f.MIME, Bytes: f.Bytes}), true, nil
}

// content returns a resource or media that the model accepts.
func content(p llm.Part) (block, bool) {
	f := llm.FileOf(p)
	r, named := p.(llm.Resource)
	switch {
	case named && r.Bytes == nil:
		return document(r), true
	case imageType(f.MIME) != "" && named:
		return picture(f), true
	case imageType(f.MIME) != "":
		return image(f.MIME, f.Bytes), true
	case llm.IsPDF(f.MIME):
		return pdf(f), true
	default:
		return block{}, false
	}
}

// plain returns a placeholder for content that the model does not accept.
func plain(p llm.Part) block { return textBlock(llm.Result{Parts: []llm.Part{p}}.Plain()) }

// imageType returns the type of an image that the model accepts, "" for others.
func imageType(mime string) string {
	switch mime {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return mime
	case "image/jpg":
		return "image/jpeg"
	default:
		return ""
	}
}

// document returns a text resource. The provider refuses one without text.
func document(r llm.Resource) block {
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(empty)"
	}
	about := r.About()
	if r.MIME != "" {
		about = strings.TrimLeft(about+" ("+r.MIME+")", " ")
	}
	return block{
		Type: kindDocument, Title: r.URI, Context: about,
		Source: &source{Type: "text", MediaType: "text/plain", Data: text},
	}
}

func image(mime string, data []byte) block {
	return block{Type: kindImage, Source: base64Source(imageType(mime), data)}
}

// picture returns an image with a name: in a document, as jp sends it.
func picture(f llm.File) block {
	return block{
		Type: kindDocument, Title: f.Name, Context: f.About,
		Source: &source{Type: "content", Content: []block{image(f.MIME, f.Bytes)}},
	}
}

func pdf(f llm.File) block {
	return block{
		Type: kindDocument, Title: f.Name, Context: f.About,
		Source: base64Source("application/pdf", f.Bytes),
	}
}

// result returns the result of a tool. Text with a URI stays a document, so that the model can find
// it by a later reference.
func (b *builder) result(r llm.Result) block {
	x := block{Type: kindResult, ToolUseID: r.CallID, IsError: &r.IsError}
	for _, p := range r.Parts {
		if c, ok := resultContent(p); ok {
			x.Content = append(x.Content, c)
		}
	}
	return x
}

func resultContent(p llm.Part) (block, bool) {
	switch p := p.(type) {
	case llm.Resource, llm.Media:
		if x, ok := content(p); ok {
			return x, true
		}
		return plain(p), true
	case llm.Text:
		return textBlock(p.Text), strings.TrimSpace(p.Text) != ""
	default:
		return block{}, false
	}
}
