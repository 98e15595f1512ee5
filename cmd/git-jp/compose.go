package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/render"
)

// cutLine is the line below which the editor's text is no part of the question.
const cutLine = "------------------------ >8 ------------------------"

// shownTurns is how many turns stand below the line.
const shownTurns = 2

// compose opens the editor for a question, with the last turns below a line. The draft stays
// until the question is in the conversation. Without a change and without a question it
// returns [ask.ErrNotSaved].
func compose(ctx context.Context, a *app, text string, t *target) (string, error) {
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
	d, err := ask.NewDraft("QUERY_MESSAGE.md", b.Bytes())
	if err != nil {
		return "", err
	}
	edited, err := a.terminal.Editor.Edit(ctx, d)
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
