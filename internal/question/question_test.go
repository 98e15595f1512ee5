package question

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// targetOf returns a target in memory, and the buffer of its messages.
func targetOf(s *events.Stream) (*Target, *bytes.Buffer) {
	said := new(bytes.Buffer)
	t := &Target{Terminal: &ask.Terminal{Printer: render.Printer{Err: said}}}
	t.Create = &workspace.NewConversation{Details: &events.Details{}, Stream: s}
	return t, said
}

func requested(text string) *events.Element {
	return events.NewElement(time.Time{}, &events.ChatRequest{Content: text}, events.Metadata{})
}

func answered(question, answer string) *events.Stream {
	s := events.New(events.NewTurnStart(time.Time{}), requested(question))
	if answer != "" {
		r := &events.ChatResponse{Form: events.FormMessage, Text: answer}
		s.Append(events.NewElement(time.Time{}, r, events.Metadata{}))
	}
	return s
}

// TestPrompt checks how the question is composed of quotations, standard input and words, and when
// it is empty.
func TestPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		stream *events.Stream
		text   Text
		want   string // "-" for no prompt
	}{
		"words":       {events.New(), Text{Words: "a"}, "a"},
		"input first": {events.New(), Text{Words: "a", Piped: "b"}, "b\n\na"},
		"a quotation": {
			answered("q", "one\n\ntwo "), Text{Quote: true, Words: "a"}, "> one\n>\n> two\n\na",
		},
		"nothing":              {events.New(), Text{}, "-"},
		"an attachment":        {events.New(), Text{Attached: true}, ""},
		"going on":             {answered("q", "one"), Text{GoOn: true}, "continue"},
		"no answer yet":        {answered("q", ""), Text{GoOn: true}, ""},
		"no answer, but words": {answered("q", ""), Text{GoOn: true, Words: "a"}, "a"},
	} {
		target, _ := targetOf(tt.stream)
		p, err := target.prompt(t.Context(), tt.text)
		got := "-"
		if p != nil && p.Request != nil {
			got = p.Request.Content
		} else if p != nil {
			got = ""
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
	target, _ := targetOf(events.New())
	if _, err := target.prompt(t.Context(), Text{Words: "\xff"}); err == nil {
		t.Error("what is not UTF-8 is asked")
	}
}

// TestQuotingNothingIsSaid checks that a question is asked even if there is no answer to quote.
func TestQuotingNothingIsSaid(t *testing.T) {
	target, said := targetOf(events.New())
	p, err := target.prompt(t.Context(), Text{Quote: true, Words: "a"})
	if err != nil || p.Request.Content != "a" {
		t.Fatalf("%v, %v", p, err)
	}
	if !strings.Contains(said.String(), "no answer to quote") {
		t.Errorf("said %q", said)
	}
}

// TestWhatWasWrittenIsKept checks that a draft is removed once its question is in the conversation,
// and is otherwise left to the user.
func TestWhatWasWrittenIsKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	failure := errors.New("no model")
	for name, tt := range map[string]struct {
		put  func(*Target) error
		kept bool
	}{
		"asked":  {func(*Target) error { return nil }, false},
		"failed": {func(*Target) error { return failure }, true},
		"failed after it was saved": {func(t *Target) error {
			t.Create.Stream.Append(requested("mine"))
			return failure
		}, false},
	} {
		target, _ := targetOf(events.New())
		target.Activate = func(events.ID) {}
		path := ""
		target.Terminal.Editor = &ask.Editor{
			Command: func(context.Context) (string, error) { return "printf mine >", nil },
			Env:     os.Environ(), Dir: t.TempDir(), Interrupts: new(ask.Interrupts),
		}
		err := target.Ask(t.Context(), Text{Edit: true}, func(p *query.Prompt) error {
			if p.Request.Content != "mine" {
				t.Errorf("%s: asked %q", name, p.Request.Content)
			}
			return tt.put(target)
		})
		if draft, ok := errors.AsType[*ask.DraftError](err); ok {
			path = draft.Path
		}
		if tt.kept != (path != "") {
			t.Errorf("%s: %v", name, err)
		}
		if !tt.kept {
			continue
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "mine" {
			t.Errorf("%s: the draft has %q, %v", name, data, err)
		}
	}
}
