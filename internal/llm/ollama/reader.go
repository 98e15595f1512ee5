package ollama

import (
	"encoding/json"
	"io"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A chunk is one line of an answer.
type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []call `json:"tool_calls"`
	} `json:"message"`
	Done       bool   `json:"done"`
	DoneReason string `json:"done_reason"`
	PromptEval int64  `json:"prompt_eval_count"`
	Eval       int64  `json:"eval_count"`
}

// A reader turns lines into deltas.
type reader struct {
	b         *builder
	assembler *llm.Assembler
	calls     int
	done      bool
}

// read reads the answer to its end. It returns nil once the consumer has stopped.
func (x *reader) read(body io.Reader) error {
	for line, err := range wire.ReadLines(body) {
		if err != nil {
			return llm.StreamError(x.b.model.at.Provider, err)
		}
		if err := x.line(line); err != nil || x.assembler.Quiet() || x.done {
			return err
		}
	}
	return &wire.CutError{Provider: x.b.model.at.Provider}
}

func (x *reader) line(line []byte) error {
	var c chunk
	if err := llm.Decode(x.b.model.at.Provider, line, &c); err != nil {
		return err
	}
	a := x.assembler
	if c.Message.Thinking != "" {
		a.Say(llm.PartReasoning, c.Message.Thinking)
	}
	if c.Message.Content != "" {
		a.Say(llm.PartText, c.Message.Content)
	}
	if llm.Given(c.Error) {
		return llm.ErrorEvent(x.b.model.ID(), line)
	}
	for _, call := range c.Message.Calls {
		x.call(call)
	}
	if x.done = c.Done; c.Done {
		a.Spent(llm.Usage{Input: c.PromptEval, Output: c.Eval, Model: c.Model})
		a.EndSaid()
		a.Settle()
		a.Stop(x.stop(c.DoneReason))
	}
	return nil
}

// call adds a call, which arrives in one piece.
func (x *reader) call(c call) {
	key := x.calls
	x.calls++
	id := c.ID
	if id == "" {
		id = llm.MadeUpID(x.b.request, c.Function.Name, key)
	}
	a := x.assembler
	a.EndSaid()
	a.Start(key, llm.PartCall, id, x.b.names.Tool(c.Function.Name))
	a.Append(key, string(c.Function.Arguments))
	a.End(key)
}

func (x *reader) stop(native string) llm.Stop {
	s := llm.Stop{Reason: llm.StopOther, Native: native}
	switch {
	case native == "length":
		s.Reason = llm.StopMaxTokens
	case x.calls > 0:
		s.Reason = llm.StopTools
	case native == "stop", native == "": // older servers send none
		s.Reason = llm.StopEnd
	}
	return s
}
