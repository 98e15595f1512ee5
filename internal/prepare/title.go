package prepare

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

// A Title is made by a model while another one answers. The conversation has a title from its first
// question already; if the model's is not ready when the answer is complete, the next question
// tries again.
type Title struct {
	query  *Query
	cancel context.CancelFunc
	made   chan made
}

type made struct {
	title string
	err   error
}

// MakeTitle begins to make a title, if the current one is still that of the first question and a
// model is available. It returns nil otherwise.
func (q *Query) MakeTitle(ctx context.Context, p query.Prompt) *Title {
	question, ok := q.untitled(p)
	if !ok {
		return nil
	}
	m, params, err := q.titleModel()
	if err != nil || m == nil {
		q.host.titleFailed(err)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &Title{query: q, cancel: cancel, made: make(chan made, 1)}
	go func() {
		title, err := query.MakeTitle(ctx, m, params, question)
		t.made <- made{title, err}
	}()
	return t
}

// untitled returns the first question, if the title was made from it and may be replaced.
func (q *Query) untitled(p query.Prompt) (question string, ok bool) {
	auto, fromHeading := true, true
	q.Config.Decode(&auto, "conversation", "title", "generate", "auto")
	q.Config.Decode(&fromHeading, "conversation", "title", "from_heading")
	if !auto || q.options.KeepTitle {
		return "", false
	}
	question, ok = firstQuestion(q.target.Stream())
	if !ok && p.Request != nil {
		question, ok = p.Request.Content, true
	}
	title := q.target.Title()
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

// titleModel returns the model for titles, or that of the turn; nil if that is the built-in search.
func (q *Query) titleModel() (llm.Model, llm.Params, error) {
	at := []string{"conversation", "title", "generate", "model"}
	m, err := q.Config.ModelAt(at...)
	id := m.ID.String()
	switch {
	case errors.Is(err, jpconfig.ErrNoModel):
		id = q.Model.ID()
	case err != nil:
		return nil, llm.Params{}, err
	}
	if id == builtin.ID {
		return nil, llm.Params{}, nil
	}
	// A separate model, since the other one is answering. It does not retry: the next question
	// does.
	model, err := q.models().New(id, llm.Retry{})
	return model, paramsOf(m.Parameters), err
}

// End stores the title if it is ready. If the turn failed, it does not report a missing title.
func (t *Title) End(failed bool) error {
	if t == nil {
		return nil
	}
	defer t.cancel()
	select {
	case m := <-t.made:
		if m.err != nil {
			t.query.host.titleFailed(m.err)
			return nil
		}
		return t.query.target.Update(func(c *workspace.Conversation) error {
			c.Details.Title = &m.title
			return nil
		})
	default:
		if !failed {
			t.query.host.note("the title was not ready, the next question tries again")
		}
		return nil
	}
}

func (h *Host) titleFailed(err error) {
	if err != nil && h.Verbose {
		h.warn("no title was made: %v", err)
	}
}
