package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A titling is a title that a model makes while another one answers. The conversation has one
// already, made of the first question; where this one is not there when the answer is, the
// next question tries again.
type titling struct {
	cancel context.CancelFunc
	made   chan made
}

type made struct {
	title string
	err   error
}

// makeTitle begins to make a title, where the conversation's own is still that of its first
// question and a model is there to make one. Nil stands for none.
func (k *talk) makeTitle(ctx context.Context, p query.Prompt) *titling {
	question, ok := k.untitled(p)
	if !ok {
		return nil
	}
	m, params, err := k.titleModel()
	if err != nil || m == nil {
		k.titleFailed(err)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &titling{cancel: cancel, made: make(chan made, 1)}
	go func() {
		title, err := query.MakeTitle(ctx, m, params, question)
		t.made <- made{title, err}
	}()
	return t
}

// untitled returns the question that the title was made of, if it was and nobody said that it
// is to stay.
func (k *talk) untitled(p query.Prompt) (question string, ok bool) {
	auto, fromHeading := true, true
	k.config.Decode(&auto, "conversation", "title", "generate", "auto")
	k.config.Decode(&fromHeading, "conversation", "title", "from_heading")
	if !auto || k.keepTitle {
		return "", false
	}
	question, ok = firstQuestion(k.target.Stream())
	if !ok && p.Request != nil {
		question, ok = p.Request.Content, true
	}
	title := k.target.Title()
	if !ok || title == "" || title != query.Title(question) {
		return "", false
	}
	return question, !fromHeading || !query.Headed(question)
}

func firstQuestion(s *events.Stream) (string, bool) {
	for _, e := range s.All() {
		if r, ok := e.Event().(*events.ChatRequest); ok {
			return r.Content, true
		}
	}
	return "", false
}

// titleModel is the model for titles, or that of the turn; nil where that is the search.
func (k *talk) titleModel() (llm.Model, llm.Params, error) {
	at := []string{"conversation", "title", "generate", "model"}
	m, err := k.config.ModelAt(at...)
	id := m.ID.String()
	switch {
	case errors.Is(err, jpconfig.ErrNoModel):
		id = k.model.ID()
	case err != nil:
		return nil, llm.Params{}, err
	}
	if id == builtin.ID {
		return nil, llm.Params{}, nil
	}
	// One of its own: the other one is answering. What fails is tried again another time.
	model, err := k.app.modelOf(id, k, llm.Retry{})
	return model, paramsOf(m.Parameters), err
}

// endTitle stores the title if there is one by now. Where the turn failed there is more to
// say than that there is none.
func (k *talk) endTitle(t *titling, failed bool) error {
	if t == nil {
		return nil
	}
	defer t.cancel()
	select {
	case m := <-t.made:
		if m.err != nil {
			k.titleFailed(m.err)
			return nil
		}
		return k.target.Update(func(c *workspace.Conversation) error {
			c.Details.Title = &m.title
			return nil
		})
	default:
		if !failed {
			k.app.note("the title was not ready, the next question tries again")
		}
		return nil
	}
}

func (k *talk) titleFailed(err error) {
	if err != nil && k.app.Verbose {
		k.app.warn("no title was made: %v", err)
	}
}
