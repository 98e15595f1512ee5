package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// A toolAsker asks the user the questions of tools.
type toolAsker struct {
	prompter *Prompter

	mu    sync.Mutex
	known map[string]jsontext.Value // answers that hold for the rest of the turn
}

// NewToolAsker returns nil if p is nil, since no user can be asked.
func NewToolAsker(p *Prompter) tool.Asker {
	if p == nil {
		return nil
	}
	return &toolAsker{prompter: p, known: map[string]jsontext.Value{}}
}

// Ask implements [tool.Asker].
func (a *toolAsker) Ask(ctx context.Context, q tool.Question) (jsontext.Value, error) {
	s, err := a.prompter.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	key := q.Tool + "." + q.ID
	a.mu.Lock()
	answer, ok := a.known[key]
	a.mu.Unlock()
	if ok {
		return answer, nil
	}
	// The words are those of a command or a server.
	q.Text = render.Message(q.Text)
	if q.Preamble != "" {
		s.Say("%s\n", render.Message(strings.TrimRight(q.Preamble, "\n")))
	}
	answer, always, err := a.ask(s, q)
	if always && err == nil {
		a.mu.Lock()
		a.known[key] = answer
		a.mu.Unlock()
	}
	return answer, err
}

func (a *toolAsker) ask(s *Prompt, q tool.Question) (jsontext.Value, bool, error) {
	switch q.Type {
	case tool.AnswerBoolean:
		return yesOrNo(s, q)
	case tool.AnswerSelect:
		v, err := oneOf(s, q)
		return v, false, err
	}
	hint := ""
	if text, ok := textDefault(q); ok {
		hint = fmt.Sprintf(" [%s]", text)
	}
	line, err := s.Line("%s asks: %s%s ", q.Tool, q.Text, hint)
	if line == "" && q.Default != nil {
		return q.Default, false, err
	}
	return jsonText(line), false, err
}

// yesOrNo repeats the question until it is answered; capital letters answer for the rest of the
// turn.
func yesOrNo(s *Prompt, q tool.Question) (_ jsontext.Value, always bool, _ error) {
	options := "[y]es, [Y]es for this turn, [n]o, [N]o for this turn"
	if q.Default != nil {
		options += fmt.Sprintf(" (%s)", q.Default)
	}
	for {
		ask := s.Key
		if q.Default != nil {
			ask = s.Line // Enter is an answer too
		}
		line, err := ask("%s asks: %s %s: ", q.Tool, q.Text, options)
		switch {
		case err != nil:
			return nil, false, err
		case line == "" && q.Default != nil:
			return q.Default, false, nil
		case line == "y", line == "Y", line == "yes":
			return jsontext.Value("true"), line == "Y", nil
		case line == "n", line == "N", line == "no":
			return jsontext.Value("false"), line == "N", nil
		}
	}
}

// oneOf asks for an option, by its number or its text.
func oneOf(s *Prompt, q tool.Question) (jsontext.Value, error) {
	s.Say("%s asks: %s\n", q.Tool, q.Text)
	for i, o := range q.Options {
		s.Say("  %d  %s\n", i+1, render.Output{}.Line(o))
	}
	hint := ""
	if text, ok := textDefault(q); ok {
		hint = fmt.Sprintf(" [%s]", text)
	}
	for {
		line, err := s.Line("Number or option%s: ", hint)
		if err != nil {
			return nil, err
		}
		if line == "" && q.Default != nil {
			return q.Default, nil
		}
		if n, err := strconv.Atoi(line); err == nil && 1 <= n && n <= len(q.Options) {
			return jsonText(q.Options[n-1]), nil
		}
		if slices.Contains(q.Options, line) {
			return jsonText(line), nil
		}
	}
}

func textDefault(q tool.Question) (string, bool) {
	var text string
	err := json.Unmarshal(q.Default, &text)
	return render.Output{}.Line(text), err == nil && q.Default != nil
}

// jsonText returns a text as JSON.
func jsonText(s string) jsontext.Value {
	b, _ := json.Marshal(s) // cannot fail for a string
	return b
}

// noAnswer returns nil if the terminal is gone, which counts as the answer no.
func noAnswer(err error) error {
	if errors.Is(err, ErrNobodyThere) {
		return nil
	}
	return err
}
