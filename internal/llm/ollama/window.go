package ollama

import (
	"github.com/git-jp/git-jp/internal/llm"
)

// Figures by which the size of a request is estimated. A window that is too large is better than a
// truncated conversation.
const (
	bytesPerToken  = 2.5
	tokensPerImage = 768
	perMessage     = 20
	answerTokens   = 2048 // must fit beside the conversation
	smallestWindow = 4096 // the smallest default of servers
)

// fit asks for the window that the conversation needs, or returns an error if the model's is too
// small.
func (b *builder) fit(w *body) error {
	need := tokens(w) + max(answerTokens, b.request.Params.MaxTokens)
	limit := b.model.o.Window
	if limit > 0 && tokens(w) >= limit {
		return &llm.OverflowError{Model: b.model.ID(), Tokens: tokens(w), Limit: limit}
	}
	if _, asked := w.Options["num_ctx"]; asked {
		return nil
	}
	window := smallestWindow
	for window < need {
		window *= 2
	}
	switch {
	case limit > 0 && window > limit:
		w.Options["num_ctx"] = limit
	case window > smallestWindow:
		w.Options["num_ctx"] = window
	}
	return nil
}

func tokens(w *body) int {
	bytes, n := 0, 0
	for _, m := range w.Messages {
		bytes += len(m.Content) + len(m.Thinking)
		n += perMessage + len(m.Images)*tokensPerImage
		for _, c := range m.Calls {
			bytes += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range w.Tools {
		bytes += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	return n + int(float64(bytes)/bytesPerToken)
}
