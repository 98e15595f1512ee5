package handover

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/codex"
)

// codexVersion is the version of Codex whose format this is.
const codexVersion = "0.169.0"

// A codexLine is one line of a session of Codex.
type codexLine struct {
	Time    string `json:"timestamp"`
	Type    string `json:"type"`
	Payload any    `json:"payload"`
}

// A codexItem is an item that a model is sent, or said. Each kind has some of the members.
type codexItem struct {
	Type      string       `json:"type"`
	Role      string       `json:"role,omitempty"`
	Phase     string       `json:"phase,omitempty"`
	Content   []codexPiece `json:"content,omitempty"`
	Summary   []codexPiece `json:"summary,omitzero"` // required for reasoning, even if empty
	Encrypted string       `json:"encrypted_content,omitempty"`
	CallID    string       `json:"call_id,omitempty"`
	Name      string       `json:"name,omitempty"`
	Arguments string       `json:"arguments,omitempty"`
	Input     *string      `json:"input,omitempty"`
	Output    any          `json:"output,omitempty"` // a text or pieces
}

type codexPiece struct {
	Type  string  `json:"type"`
	Text  *string `json:"text,omitempty"`
	Image string  `json:"image_url,omitempty"`
}

func (w *writer) codex() error {
	w.free = map[string]bool{}
	at := w.start
	name := "rollout-" + at.Format("2006-01-02T15-04-05") + "-" + w.session.ID + ".jsonl"
	w.session.Command = []string{"codex", "resume", w.session.ID}
	w.session.Path = filepath.Join(
		codex.Home(w.Places), "sessions", at.Format("2006"), at.Format("01"), at.Format("02"), name)
	w.head = func(x *sessions.Export) any {
		at := w.timeOf(0)
		return codexLine{at, "session_meta", map[string]any{
			"id": w.session.ID, "session_id": w.session.ID, "timestamp": at, "cwd": w.Root,
			"originator": "codex_cli_rs", "cli_version": codexVersion, "source": "cli",
			"git_jp_export": x,
		}} // no model_provider: Codex continues only with the one that is named
	}
	for _, m := range w.messages {
		said := w.codexPrompt
		if m.Role == llm.RoleAssistant {
			said = w.codexAnswer
		}
		if err := said(m); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) codexLine(kind string, payload any) error {
	return w.line(codexLine{w.now(), kind, payload})
}

func (w *writer) codexItem(it codexItem) error { return w.codexLine("response_item", it) }

// codexPrompt writes results, and a person's messages: once for the model and once for the screen.
func (w *writer) codexPrompt(m llm.Message) error {
	for _, part := range m.Parts {
		if r, ok := part.(llm.Result); ok {
			if err := w.codexResult(r); err != nil {
				return err
			}
		}
	}
	pieces := llm.Pieces[codexPiece]{Text: inputText, File: func(f llm.File) ([]codexPiece, error) {
		return w.codexFile(f), nil
	}}
	said, _ := pieces.Said(m, false) // no file is an error
	if len(said) == 0 {
		return nil
	}
	if err := w.codexItem(codexItem{Type: "message", Role: "user", Content: said}); err != nil {
		return err
	}
	var texts, images []string
	for _, p := range said {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		} else {
			images = append(images, p.Image)
		}
	}
	return w.codexLine("event_msg", map[string]any{
		"type": "user_message", "message": strings.Join(texts, "\n"), "images": images,
	})
}

func inputText(text string) codexPiece { return codexPiece{Type: "input_text", Text: &text} }

func (w *writer) codexFile(f llm.File) (all []codexPiece) {
	if !llm.IsImage(f.MIME) {
		return []codexPiece{inputText(w.inWords(f))}
	}
	if name := label(f); name != "" {
		all = append(all, inputText(name))
	}
	return append(all, codexPiece{Type: "input_image", Image: llm.DataURL(f.MIME, f.Bytes)})
}

func (w *writer) codexResult(r llm.Result) error {
	it := codexItem{Type: "function_call_output", CallID: r.CallID}
	if w.free[r.CallID] {
		it.Type = "custom_tool_call_output"
	}
	var list []codexPiece
	for _, part := range r.Parts {
		if f := llm.FileOf(part); f.Bytes != nil {
			list = append(list, w.codexFile(f)...)
		} else {
			list = append(list, inputText(shown(part)))
		}
	}
	it.Output = list
	if len(list) == 0 {
		it.Output = ""
	} else if len(list) == 1 && list[0].Text != nil {
		it.Output = *list[0].Text
	}
	return w.codexItem(it)
}

// codexAnswer writes a model's message.
func (w *writer) codexAnswer(m llm.Message) error {
	for i, part := range m.Parts {
		var err error
		switch part := part.(type) {
		case llm.Text:
			if strings.TrimSpace(part.Text) != "" {
				err = w.codexText(m, part)
			}
		case llm.Data:
			err = w.codexText(m, llm.Text{Text: string(part.Value)})
		case llm.Call:
			err = w.codexItem(w.codexCall(part))
		case llm.Reasoning:
			err = w.codexReasoning(m, part, i == len(m.Parts)-1)
		default:
			w.leave("of the provider's own")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) codexText(m llm.Message, t llm.Text) error {
	phase, _ := t.Metadata.Text(llm.MetadataOpenAIPhase)
	if !llm.Own(m, "openai/") {
		phase = ""
	}
	err := w.codexItem(codexItem{
		Type: "message", Role: "assistant", Phase: phase,
		Content: []codexPiece{{Type: "output_text", Text: &t.Text}},
	})
	if err != nil {
		return err
	}
	return w.codexLine("event_msg", map[string]any{
		"type": "agent_message", "message": t.Text,
	})
}

// freeform are tools of Codex that take text in place of arguments.
var freeform = []string{"apply_patch", "exec"}

func (w *writer) codexCall(c llm.Call) codexItem {
	var free struct {
		Input *string `json:"input"`
	}
	isFree := slices.Contains(freeform, c.Name) && json.Unmarshal(c.Args, &free) == nil
	if isFree && free.Input != nil {
		w.free[c.ID] = true
		return codexItem{
			Type: "custom_tool_call", CallID: c.ID, Name: c.Name, Input: free.Input,
		}
	}
	return codexItem{
		Type: "function_call", CallID: c.ID, Name: w.names.Wire(c.Name), Arguments: string(c.Args),
	}
}

// codexReasoning writes reasoning that its provider recognises. The provider refuses reasoning that
// nothing follows.
func (w *writer) codexReasoning(m llm.Message, r llm.Reasoning, last bool) error {
	secret, ok := llm.Proof(r.Metadata, llm.MetadataOpenAIEncrypted)
	switch {
	case !ok || !llm.Own(m, "openai/"):
		w.leave("reasoning without a signature")
		return nil
	case last:
		w.leave("reasoning that led to nothing")
		return nil
	}
	it := codexItem{Type: "reasoning", Summary: []codexPiece{}, Encrypted: secret}
	if r.Text != "" {
		it.Summary = append(it.Summary, codexPiece{Type: "summary_text", Text: &r.Text})
	}
	return w.codexItem(it)
}
