package handover

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
)

// claudeVersion is the version of Claude Code whose format this is.
const claudeVersion = "2.1.197"

// A claudeRecord is one line of a session of Claude Code. Each continues the one before.
type claudeRecord struct {
	Parent    *string        `json:"parentUuid"`
	Sidechain bool           `json:"isSidechain"`
	Type      string         `json:"type"`
	Message   *claudeMessage `json:"message"`
	UUID      string         `json:"uuid"`
	Time      string         `json:"timestamp"`
	User      string         `json:"userType"`
	Entry     string         `json:"entrypoint"`
	Dir       string         `json:"cwd"`
	Session   string         `json:"sessionId"`
	Version   string         `json:"version"`
}

// A claudeHead is a line that Claude Code ignores.
type claudeHead struct {
	Type    string           `json:"type"`
	Session string           `json:"sessionId"`
	Time    string           `json:"timestamp"`
	Export  *sessions.Export `json:"git_jp_export"`
}

type claudeMessage struct {
	ID      string       `json:"id,omitempty"`
	Type    string       `json:"type,omitempty"`
	Role    llm.Role     `json:"role"`
	Model   string       `json:"model,omitempty"`
	Content []any        `json:"content"`
	Stop    string       `json:"stop_reason,omitempty"`
	Usage   *claudeUsage `json:"usage,omitempty"`
}

// claudeUsage says that nothing was spent: the original conversation has the cost.
type claudeUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

// A claudeBlock is a piece of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	CallID    string          `json:"tool_use_id,omitempty"`
	Content   []any           `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Source    *claudeSource   `json:"source,omitempty"`
}

type claudeSource struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data string `json:"data"`
}

// maxSlug is the longest name of a directory of sessions; Claude Code has its own way to shorten
// longer ones.
const maxSlug = 200

var errLongDir = errors.New("the path of the working tree is too long for it")

func (w *writer) claude() error {
	slug := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, w.Root)
	if len(slug) > maxSlug {
		return errLongDir
	}
	w.session.Command = []string{"claude", "--resume", w.session.ID}
	w.session.Path = filepath.Join(claude.Homes(w.Places)[0], slug, w.session.ID+".jsonl")
	w.head = func(x *sessions.Export) any {
		return claudeHead{sessions.ExportType, w.session.ID, w.timeOf(0), x}
	}
	if err := w.claudeTitle(); err != nil {
		return err
	}
	var parent *string
	for n, m := range w.messages {
		for _, part := range w.claudeParts(n, m) {
			record := claudeRecord{
				Parent: parent, Type: string(m.Role), Message: part,
				UUID: w.recordID(w.written), Time: w.now(), User: "external", Entry: "cli",
				Dir: w.Root, Session: w.session.ID, Version: claudeVersion,
			}
			if err := w.line(record); err != nil {
				return err
			}
			parent = &record.UUID
		}
	}
	return nil
}

func (w *writer) claudeTitle() error {
	if w.Details.Title == nil {
		return nil
	}
	return w.line(map[string]string{
		"type": "custom-title", "customTitle": *w.Details.Title, "sessionId": w.session.ID,
	})
}

// claudeParts cuts a message as Claude Code does: a record for each block of the model's message,
// one for each result, and one for a person's message.
func (w *writer) claudeParts(n int, m llm.Message) (all []*claudeMessage) {
	if m.Role == llm.RoleAssistant {
		return w.claudeAnswer(n, m)
	}
	pieces := llm.Pieces[any]{Text: claudeText, File: func(f llm.File) ([]any, error) {
		return w.claudeFile(f), nil
	}}
	for _, part := range m.Parts {
		if r, ok := part.(llm.Result); ok {
			all = append(all, &claudeMessage{Role: m.Role, Content: []any{claudeBlock{
				Type: "tool_result", CallID: r.CallID, IsError: r.IsError,
				Content: w.claudeResult(r),
			}}})
		}
	}
	said, _ := pieces.Said(m, false) // no file is an error
	if len(said) > 0 {
		all = append(all, &claudeMessage{Role: m.Role, Content: said})
	}
	return all
}

func claudeText(text string) any { return claudeBlock{Type: "text", Text: &text} }

// claudeFile returns a file, with its name in front.
func (w *writer) claudeFile(f llm.File) (all []any) {
	block := claudeBlock{Source: &claudeSource{
		"base64", f.MIME, base64.StdEncoding.EncodeToString(f.Bytes),
	}}
	switch f.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		block.Type = "image"
	case "application/pdf":
		block.Type = "document"
	default:
		return []any{claudeText(w.inWords(f))}
	}
	if name := label(f); name != "" {
		all = append(all, claudeText(name))
	}
	return append(all, block)
}

// claudeResult returns a tool's result, as it was shown.
func (w *writer) claudeResult(r llm.Result) (all []any) {
	for _, part := range r.Parts {
		if f := llm.FileOf(part); f.Bytes != nil {
			all = append(all, w.claudeFile(f)...)
		} else if text := shown(part); strings.TrimSpace(text) != "" {
			all = append(all, claudeText(text))
		}
	}
	return all
}

func (w *writer) claudeAnswer(n int, m llm.Message) (all []*claudeMessage) {
	blocks := w.claudeBlocks(m)
	stop := "end_turn"
	for i, b := range blocks {
		answer := &claudeMessage{
			ID: "msg_" + strings.ReplaceAll(w.recordID(-n-1), "-", ""), Type: "message",
			Role: m.Role, Model: modelName(m), Content: []any{b}, Usage: &claudeUsage{},
		}
		if b.Type == "tool_use" {
			stop = "tool_use"
		}
		if i == len(blocks)-1 {
			answer.Stop = stop
		}
		all = append(all, answer)
	}
	return all
}

// claudeBlocks returns a model's message. It does not end with thinking: the provider refuses that.
func (w *writer) claudeBlocks(m llm.Message) (all []claudeBlock) {
	thoughts := 0 // at the end
	for _, part := range m.Parts {
		b, ok := w.claudeSaid(m, part)
		if !ok {
			continue
		}
		if thoughts++; b.Type != "thinking" && b.Type != "redacted_thinking" {
			thoughts = 0
		}
		all = append(all, b)
	}
	for range thoughts {
		w.leave("reasoning that led to nothing")
	}
	return all[:len(all)-thoughts]
}

func (w *writer) claudeSaid(m llm.Message, part llm.Part) (b claudeBlock, ok bool) {
	switch part := part.(type) {
	case llm.Text:
		return claudeBlock{Type: "text", Text: &part.Text}, strings.TrimSpace(part.Text) != ""
	case llm.Data:
		text := string(part.Value)
		return claudeBlock{Type: "text", Text: &text}, text != ""
	case llm.Call:
		return claudeBlock{
			Type: "tool_use", ID: part.ID, Name: w.names.Wire(part.Name),
			Input: json.RawMessage(part.Args),
		}, true
	case llm.Reasoning:
		return w.claudeThinking(m, part)
	}
	w.leave("of the provider's own")
	return claudeBlock{}, false
}

// claudeThinking returns thinking that its provider recognises.
func (w *writer) claudeThinking(m llm.Message, r llm.Reasoning) (b claudeBlock, ok bool) {
	own := llm.Own(m, "anthropic/")
	if data, ok := llm.Proof(r.Metadata, llm.MetadataAnthropicRedacted); ok && own {
		return claudeBlock{Type: "redacted_thinking", Data: data}, true
	}
	signature, signed := llm.Proof(r.Metadata, llm.MetadataAnthropicSignature)
	if !signed || !own {
		w.leave("reasoning without a signature")
		return claudeBlock{}, false
	}
	return claudeBlock{Type: "thinking", Thinking: &r.Text, Signature: signature}, true
}
