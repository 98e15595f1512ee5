package ollama

import (
	"github.com/git-jp/git-jp/internal/llm"
)

// What the size of a request is reckoned by. It is better to ask for too large a window than to
// have the conversation cut.
const (
	bytesPerToken  = 2.5
	tokensPerImage = 768
	perMessage     = 20
	answerTokens   = 2048 // that must fit beside the conversation
	smallestWindow = 4096 // what servers have at least when nothing is asked for
)

// fit asks for the window that the conversation needs, or refuses one that the model has not.
func (b *builder) fit(w *body) error {
	need := tokens(w) + max(answerTokens, b.request.Params.MaxTokens)
	limit := b.model.o.Window
	if n := b.model.o.NumCtx; n > 0 && (limit == 0 || n < limit) {
		limit = n
	}
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
	case b.model.o.NumCtx > 0:
		w.Options["num_ctx"] = b.model.o.NumCtx
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
