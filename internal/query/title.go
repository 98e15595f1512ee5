package query

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// maxTitle limits a title that is made from a question, in characters.
const maxTitle = 50

// Title returns a title for a conversation that begins with a question: the heading that the
// question begins with, unshortened, or its first words.
func Title(question string) string {
	if h := heading(question); h != "" {
		return h
	}
	return words(question)
}

// Headed reports whether a question begins with a heading, which then is its title.
func Headed(question string) bool { return heading(question) != "" }

func heading(question string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(question), "\n")
	text := strings.TrimLeft(first, "#")
	if text == first || !strings.HasPrefix(text, " ") {
		return ""
	}
	return strings.TrimSpace(text)
}

// words returns the start of a text on one line.
func words(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	runes := []rune(text)
	if len(runes) <= maxTitle {
		return text
	}
	cut := string(runes[:maxTitle])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && runes[maxTitle] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.-")
}

// The prompts by which a model names a conversation.
const (
	titleSystem = "You name conversations. A name says what the conversation is about, in the " +
		"language of the question, in at most 50 characters, without quotes and without a " +
		"period at its end."
	titleAsk = "Generate a title for this conversation."
	// titleSource limits how much of the question the model is given, in bytes.
	titleSource = 8 << 10
)

var errNoTitle = errors.New("the model gave no title")

// MakeTitle asks a model for the title of a conversation that begins with a question.
func MakeTitle(
	ctx context.Context, m llm.Model, p llm.Params, question string,
) (string, error) {
	if len(question) > titleSource {
		question = strings.ToValidUTF8(question[:titleSource], "")
	}
	r := &llm.Request{
		System: []llm.SystemText{{Text: titleSystem}},
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
			llm.Text{Text: question}, llm.Text{Text: titleAsk},
		}}},
		Params: p, Schema: titleSchema(), Cache: llm.CachePolicy{Off: true},
	}
	var data jsontext.Value
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return "", err
		}
		if said, ok := d.Event.(*events.ChatResponse); ok && said.Form == events.FormData {
			data = said.Data
		}
	}
	var said struct{ Titles []string }
	if json.Unmarshal(data, &said) != nil || len(said.Titles) == 0 {
		return "", errNoTitle
	}
	title := words(said.Titles[0])
	if title == "" {
		return "", errNoTitle
	}
	return title, nil
}

func titleSchema() jsontext.Value {
	return jsontext.Value(`{"type":"object","properties":{"titles":{"type":"array",` +
		`"items":{"type":"string"},"minItems":1,"maxItems":1}},"required":["titles"],` +
		`"additionalProperties":false}`)
}
