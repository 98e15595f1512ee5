package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// An outcome is the parsed output of a program: a result, or a question.
type outcome struct {
	result   tool.Result
	question *tool.Question
}

// texts returns the texts of the result.
func (o outcome) texts() (all []string) {
	for _, b := range o.result.Blocks {
		if data, err := b.Content.Bytes(nil); err == nil {
			all = append(all, string(data))
		}
	}
	return all
}

// printed has the recognized members of a program's output.
type printed struct {
	Type     string          `json:"type"`
	Content  json.RawMessage `json:"content"`
	Message  string          `json:"message"`
	Trace    []string        `json:"trace"`
	Question json.RawMessage `json:"question"`
	IsError  bool            `json:"isError"`
}

// parse reads the output of a program that succeeded. Output that is neither an outcome nor typed
// content is text, now and in future versions.
func parse(stdout []byte, space *file.Space) outcome {
	var p printed
	if exact.Unmarshal(stdout, &p) != nil {
		return plain(stdout)
	}
	switch p.Type {
	case "success":
		if o, ok := typed(p, space); ok {
			return o
		}
		var s string
		if exact.Unmarshal(p.Content, &s) == nil {
			return outcome{result: tool.OK(s)}
		}
	case "error":
		return outcome{result: tool.Failed(p.failure())}
	case "needs_input":
		if q, ok := question(p.Question); ok {
			return outcome{question: &q}
		}
	case "":
		if o, ok := typed(p, space); ok {
			return o
		}
	}
	return plain(stdout)
}

func plain(stdout []byte) outcome {
	return outcome{result: tool.OK(strings.ToValidUTF8(string(stdout), "\uFFFD"))}
}

func (p printed) failure() string {
	if len(p.Trace) == 0 {
		return p.Message
	}
	return p.Message + "\n\nTrace:\n  " + strings.Join(p.Trace, "\n  ")
}

// typed reads an array of content blocks. A question block makes the whole output a question: the
// program needs the answer first.
func typed(p printed, space *file.Space) (outcome, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(p.Content), []byte{'['}) {
		return outcome{}, false
	}
	blocks, err := tool.DecodeBlocks(jsontext.Value(p.Content))
	if err != nil {
		return outcome{}, false
	}
	for i := range blocks {
		if blocks[i].Type == events.BlockQuestion {
			if q, ok := questionBlock(blocks[i]); ok {
				return outcome{question: &q}, true
			}
		}
		if r := blocks[i].Resource; r != nil {
			r.URI = space.Tidy(r.URI)
		}
	}
	return outcome{result: tool.Result{Blocks: blocks, IsError: p.IsError}}, true
}

func questionBlock(b events.Block) (tool.Question, bool) {
	var inner struct {
		Question json.RawMessage `json:"question"`
	}
	if exact.Unmarshal(b.Raw, &inner) == nil && inner.Question != nil {
		return question(inner.Question)
	}
	return question(json.RawMessage(b.Raw))
}

// question reads a question in the form of jp's tools or of its streams.
func question(v json.RawMessage) (tool.Question, bool) {
	var raw struct {
		ID         string          `json:"id"`
		Text       string          `json:"text"`
		Preamble   string          `json:"pre_amble"`
		AnswerType json.RawMessage `json:"answer_type"`
		Default    json.RawMessage `json:"default"`
	}
	if exact.Unmarshal(v, &raw) != nil || raw.ID == "" {
		return tool.Question{}, false
	}
	q := tool.Question{ID: raw.ID, Text: raw.Text, Preamble: raw.Preamble, Type: tool.AnswerText}
	if len(raw.Default) > 0 && string(raw.Default) != "null" {
		q.Default = jsontext.Value(raw.Default)
	}
	return q, answerType(raw.AnswerType, &q)
}

func answerType(v json.RawMessage, q *tool.Question) bool {
	var name string
	var form struct {
		Type    string            `json:"type"`
		Options []json.RawMessage `json:"options"`
		Select  *struct {
			Options []json.RawMessage `json:"options"`
		} `json:"Select"`
	}
	if len(v) == 0 {
		return true
	}
	if exact.Unmarshal(v, &name) != nil {
		if exact.Unmarshal(v, &form) != nil {
			return false
		}
		name = form.Type
	}
	if form.Select != nil {
		name, form.Options = "select", form.Select.Options
	}
	q.Type = tool.AnswerType(strings.ToLower(name))
	q.Options = append(q.Options, lists.Map(form.Options, option)...)
	switch q.Type {
	case tool.AnswerBoolean, tool.AnswerText:
		return true
	case tool.AnswerSelect:
		return len(q.Options) > 0
	}
	return false
}

// option reads "value" and {"value": …}.
func option(v json.RawMessage) string {
	var s string
	if exact.Unmarshal(v, &s) == nil {
		return s
	}
	var o struct {
		Value string `json:"value"`
	}
	_ = exact.Unmarshal(v, &o) // empty without a value
	return o.Value
}

// accepts returns an error if an answer does not have the question's type.
func accepts(q tool.Question, answer jsontext.Value) error {
	var s string
	var b bool
	switch q.Type {
	case tool.AnswerBoolean:
		if exact.Unmarshal(answer, &b) == nil && string(answer) != "null" {
			return nil
		}
	default:
		if exact.Unmarshal(answer, &s) != nil {
			break
		}
		if q.Type == tool.AnswerText {
			return nil
		}
		if slices.Contains(q.Options, s) {
			return nil
		}
	}
	return fmt.Errorf("answer %s to question %q of tool %q is not of type %s",
		answer, q.ID, q.Tool, q.Type)
}

// exited returns the result for a program that failed.
func exited(err error, stdout, stderr []byte) tool.Result {
	text, _ := json.MarshalIndent(struct {
		Message string `json:"message"`
		Stderr  string `json:"stderr"`
		Stdout  string `json:"stdout"`
	}{"command failed: " + err.Error(), string(stderr), string(stdout)}, "", "  ")
	return tool.Failed(string(text))
}

// stopped returns what a program printed until it was stopped: it may have changed something.
func stopped(stdout, stderr []byte) (r tool.Result) {
	for _, text := range [][]byte{stdout, stderr} {
		if len(bytes.TrimSpace(text)) > 0 {
			r.Blocks = append(r.Blocks, tool.Text(strings.ToValidUTF8(string(text), "\uFFFD")))
		}
	}
	return r
}
