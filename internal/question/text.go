package question

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/go-json-experiment/json/jsontext"
)

// A Text has the parts of a question.
type Text struct {
	Words  string // as typed
	Piped  string // standard input, which precedes the words
	Quote  bool   // begins with a quotation of the last answer
	Edit   bool   // opens the editor
	GoOn   bool   // continues the conversation if there is no question
	Schema jsontext.Value
	// Attached says that there are attachments, so that no words are needed.
	Attached bool
}

// Ask composes a question, in the editor if requested, and calls put with it. If it is empty, Ask
// prints that nothing was asked. A text from the editor is kept as a draft unless it is in the
// conversation.
func (t *Target) Ask(ctx context.Context, text Text, put func(*query.Prompt) error) error {
	p, err := t.prompt(ctx, text)
	switch {
	case errors.Is(err, ask.ErrNotSaved):
		t.Terminal.Note("%v, nothing was asked", ask.ErrNotSaved)
		return nil
	case err != nil:
		return t.keep(err)
	case p == nil:
		t.Terminal.Note("the question is empty, nothing was asked")
		return t.drop()
	}
	before := t.Record().Stream().Len()
	err = put(p)
	if err != nil && t.Record().Stream().Len() == before {
		return t.keep(err) // the text is in no conversation yet
	}
	return errors.Join(err, t.drop())
}

// keep adds the path of the draft, if there is one, to an error.
func (t *Target) keep(err error) error {
	if t.draft == nil {
		return err
	}
	return t.draft.Keep(err)
}

func (t *Target) drop() error {
	if t.draft == nil {
		return nil
	}
	return t.draft.Remove()
}

// prompt returns the prompt, nil for an empty one.
func (t *Target) prompt(ctx context.Context, q Text) (*query.Prompt, error) {
	text, err := t.words(ctx, q)
	if err == nil && !utf8.ValidString(text) {
		err = errors.New("read the question: it is not UTF-8")
	}
	if err != nil {
		return nil, err
	}
	schema := q.Schema
	if schema == nil && t.replayed != nil {
		schema = t.replayed.Schema
	}
	if text == "" && q.GoOn {
		if i, ok := t.Stream().Incomplete(); ok && i.Unanswered && schema == nil {
			return &query.Prompt{}, nil
		}
		text = "continue"
	}
	if text == "" && !q.Attached {
		return nil, nil
	}
	return &query.Prompt{Request: &events.ChatRequest{Content: text, Schema: schema}}, nil
}

// words returns the quotation or the replayed question, standard input, and the words; or the text
// of the editor.
func (t *Target) words(ctx context.Context, q Text) (string, error) {
	var parts []string
	if q.Quote {
		parts = append(parts, t.quoted())
	}
	if t.replayed != nil {
		parts = append(parts, t.replayed.Content)
	}
	parts = slices.DeleteFunc(append(parts, q.Piped, q.Words),
		func(s string) bool { return s == "" })
	text := strings.Join(parts, "\n\n")
	if !q.Edit {
		return text, nil
	}
	return t.compose(ctx, text)
}

// quoted returns the last answer as a Markdown quotation.
func (t *Target) quoted() string {
	s := t.Stream()
	for i := s.Len() - 1; i >= 0; i-- {
		r, ok := s.At(i).Event().(*events.ChatResponse)
		if !ok || r.Form != events.FormMessage {
			continue
		}
		var b strings.Builder
		for line := range strings.SplitSeq(strings.TrimSpace(r.Text), "\n") {
			b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	t.Terminal.Warn("there is no answer to quote")
	return ""
}

// cutLine is the line from which on the editor's text is not part of the question.
const cutLine = "------------------------ >8 ------------------------"

// shownTurns is the number of turns below the line.
const shownTurns = 2

// compose opens the editor for a question, with the last turns below a line. The draft stays until
// the question is in the conversation. If nothing changed or the question is empty, it returns
// [ask.ErrNotSaved].
func (t *Target) compose(ctx context.Context, text string) (string, error) {
	s := t.Stream()
	var b bytes.Buffer
	b.WriteString(text + "\n\n" + cutLine + "\n")
	b.WriteString("Everything from the line above on is left out.\n\n")
	turns := len(s.Turns())
	if _, err := (render.Conversation{Stream: s}).Render(&b, render.Options{
		Format: render.FormatMarkdown, Style: render.StyleChat, First: max(1, turns-shownTurns+1),
	}); err != nil {
		return "", err
	}
	// Those of what is shown must not hide which ends of lines an editor adds.
	shown := bytes.ReplaceAll(b.Bytes(), []byte("\r\n"), []byte("\n"))
	d, err := ask.NewDraft("QUERY_MESSAGE.md", shown)
	if err != nil {
		return "", err
	}
	edited, err := t.Terminal.Editor.Edit(ctx, d)
	question, _, _ := strings.Cut(string(edited), cutLine)
	question = strings.TrimSpace(question)
	switch {
	case errors.Is(err, ask.ErrNotSaved), err == nil && question == "":
		return "", errors.Join(ask.ErrNotSaved, d.Remove())
	case err != nil:
		return "", d.Keep(err)
	}
	t.draft = d
	return question, nil
}
