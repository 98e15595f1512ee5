package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// Results that a model is given for calls without one, while it answers a question of a tool.
const (
	textPaused  = "Tool paused: "
	textRunning = "Tool is still running."
)

var (
	errNobody   = errors.New("no user could be asked")
	errNoAnswer = errors.New("the model gave no answer")
)

// An inquirer passes the questions of tools to a person or a model, and saves questions and answers
// in the record. No model is given these events.
type inquirer struct{ *session }

// Ask implements [tool.Asker]. If there is no person to ask, a question for a person gets no
// answer: a model must not approve its own calls.
func (q inquirer) Ask(ctx context.Context, ask tool.Question) (jsontext.Value, error) {
	model := forAssistant(ask.Target)
	if !model && q.Asker == nil {
		return nil, errNobody
	}
	id := q.inquiry(ask)
	request := events.NewElement(q.Now(), &events.InquiryRequest{
		ID: id, Source: sourceOf(ask), Question: questionOf(ask),
	}, events.Metadata{})
	if err := q.append("the question of "+ask.Tool, request); err != nil {
		return nil, err
	}
	var answer jsontext.Value
	var err error
	if model {
		answer, err = q.inquire(ctx, ask)
	} else {
		answered := tool.Waiting(ctx)
		answer, err = q.Asker.Ask(ctx, ask)
		answered()
	}
	if err != nil {
		return nil, err
	}
	response := events.NewElement(q.Now(), &events.InquiryResponse{ID: id, Answer: answer},
		events.Metadata{})
	return answer, q.append("the answer to "+ask.Tool, response)
}

func (q inquirer) append(what string, e *events.Element) error {
	return q.keep(what, func(s *events.Stream) error {
		s.Append(e)
		return nil
	}, e)
}

// inquiry returns the id of the next inquiry for a question: jp's id, with a number from the second
// time on, when a call that was made again asks again.
func (q inquirer) inquiry(ask tool.Question) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked == nil {
		q.asked = map[string]int{}
	}
	id := ask.Call + "." + ask.ID
	q.asked[id]++
	if n := q.asked[id]; n > 1 {
		return fmt.Sprintf("%s.%d", id, n)
	}
	return id
}

// forAssistant reports whether the target of a question is the model: "assistant" or an object with
// settings for one. Any other target is a person.
func forAssistant(target jsontext.Value) bool {
	var word string
	if json.Unmarshal(target, &word) == nil {
		return word == "assistant"
	}
	return target.Kind() == '{'
}

func sourceOf(ask tool.Question) jsontext.Value {
	return encoded(map[string]any{"source": "tool", "name": ask.Tool})
}

func questionOf(ask tool.Question) jsontext.Value {
	kind := map[string]any{"type": ask.Type}
	if ask.Type == tool.AnswerSelect {
		var options []map[string]string
		for _, o := range ask.Options {
			options = append(options, map[string]string{"value": o})
		}
		kind["options"] = options
	}
	q := map[string]any{"text": ask.Text, "answer_type": kind}
	if ask.Default != nil {
		q["default"] = json.RawMessage(ask.Default)
	}
	return encoded(q)
}

// answerSchema returns the schema of a model's answer.
func answerSchema(ask tool.Question) jsontext.Value {
	answer := map[string]any{"type": "string"}
	switch ask.Type {
	case tool.AnswerBoolean:
		answer["type"] = "boolean"
	case tool.AnswerSelect:
		answer["enum"] = ask.Options
	}
	return encoded(map[string]any{
		"type": "object", "properties": map[string]any{"answer": answer},
		"required": []string{"answer"}, "additionalProperties": false,
	})
}

// encoded returns v as JSON. The values passed always marshal.
func encoded(v any) jsontext.Value {
	b, err := json.Marshal(v)
	if err != nil {
		return jsontext.Value("{}")
	}
	return b
}

// inquire asks a model. It is given the current conversation, in which the tool waits; only its
// answer is saved.
func (q inquirer) inquire(ctx context.Context, ask tool.Question) (jsontext.Value, error) {
	model := q.Model
	if q.Assistant != nil {
		other, err := q.Assistant(ask.Target)
		if err != nil {
			return nil, err
		}
		if other != nil {
			model = other
		}
	}
	r, err := q.question(ask)
	if err == nil && model == q.Model {
		err = q.affordable(r)
	}
	if err != nil {
		return nil, err
	}
	data, err := q.hear(ctx, model, r)
	if err != nil {
		return nil, err
	}
	var said struct {
		Answer jsontext.Value `json:"answer"`
	}
	if json.Unmarshal(data, &said) != nil || said.Answer == nil {
		return nil, errNoAnswer
	}
	return said.Answer, nil
}

// affordable is afford for a question beside others.
func (q inquirer) affordable(r *llm.Request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.afford(r)
}

// question returns the request. It has the tools of the turn, so that the provider's cache of the
// prompt stays valid, but none may be called.
func (q inquirer) question(ask tool.Question) (*llm.Request, error) {
	q.mu.Lock() // the record is read until the request is built
	defer q.mu.Unlock()
	stream := q.Record.Stream().Clone()
	for _, call := range stream.Calls() {
		if call.Response < 0 {
			request, _ := stream.At(call.Request).Event().(*events.ToolCallRequest)
			text := textRunning
			if request.ID == ask.Call {
				text = textPaused + ask.Text
			}
			stream.Append(events.NewElement(q.Now(), &events.ToolCallResponse{
				ID: request.ID, Blocks: []events.Block{tool.Text(text)},
			}, events.Metadata{}))
		}
	}
	stream.Append(events.NewElement(q.Now(), &events.ChatRequest{
		Content: fmt.Sprintf("The tool `%s` needs an answer before it goes on.\n\n%s\n\n"+
			"Answer from what you know of this conversation.", ask.Tool, ask.Text),
		Schema: answerSchema(ask),
	}, events.Metadata{}))
	view, plan, err := q.plan(stream)
	if err != nil {
		return nil, err
	}
	r, err := q.build(view, plan)
	if err != nil {
		return nil, err
	}
	r.Choice = llm.ToolChoice{Mode: llm.ChoiceNone}
	return r, nil
}

// hear returns the data of the answer. What another model uses is not counted: the price of the
// turn is not its own.
func (q inquirer) hear(
	ctx context.Context, model llm.Model, r *llm.Request,
) (data jsontext.Value, err error) {
	for d, err := range model.Stream(ctx, r) {
		if err != nil {
			return nil, err
		}
		switch d.Kind {
		case llm.DeltaEnd:
			if said, ok := d.Event.(*events.ChatResponse); ok && said.Form == events.FormData {
				data = said.Data
			}
		case llm.DeltaUsage:
			if model == q.Model {
				q.spent(d.Usage)
			}
		case llm.DeltaStop:
			if d.Stop.Reason == llm.StopRefusal {
				return nil, &llm.RefusalError{
					Model: model.ID(), Category: d.Stop.Category, Explanation: d.Stop.Explanation,
				}
			}
		}
	}
	if data == nil {
		return nil, errNoAnswer
	}
	return data, nil
}
