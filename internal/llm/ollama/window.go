package ollama

// Figures by which the size of a request is estimated. A window that is too large is better than a
// refusal.
const (
	bytesPerToken  = 2.5
	tokensPerImage = 768
	perMessage     = 20
	answerTokens   = 2048 // must fit beside the conversation, as far as is known
	smallestWindow = 4096 // the smallest default of servers
)

// fit asks for the window that the conversation needs, and for twice that after the server counted
// more than was estimated. The server itself never takes more than the model has.
func (b *builder) fit(w *body) {
	if _, asked := w.Options["num_ctx"]; asked {
		return
	}
	need := tokens(w) + max(answerTokens, b.request.Params.MaxTokens)
	window := smallestWindow
	for window < need {
		window *= 2
	}
	if b.larger {
		window *= 2
	}
	if window > smallestWindow {
		w.Options["num_ctx"] = window
	}
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
