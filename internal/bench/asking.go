package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
)

func element(ev events.Event) *events.Element {
	return events.NewElement(time.Now(), ev, events.Metadata{})
}

func said(text string) *events.Element { return element(&events.ChatResponse{Text: text}) }

func toolResult(id string, text []byte) events.Event {
	return &events.ToolCallResponse{ID: id, Blocks: []events.Block{{
		Type: events.BlockText, Content: blobs.Loaded(text),
	}}}
}

// A provider answers in n fragments on this machine, and keeps the last request.
type provider struct {
	*httptest.Server

	fragments int
	body      []byte
}

func serve(fragments int) *provider {
	p := &provider{fragments: fragments}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	return p
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.body = body
	w.Header().Set("Content-Type", "text/event-stream")
	out := bufio.NewWriter(w)
	defer out.Flush()
	event := func(data string) { fmt.Fprintf(out, "data: %s\n\n", data) }
	event(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`)
	event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for range p.fragments {
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words "}}`)
	}
	event(`{"type":"content_block_stop","index":0}`)
	event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`)
	event(`{"type":"message_stop"}`)
}

// firstWords measures the time from a question to the first words of its answer, the question being
// saved before it is sent, and compares it with a client that posts the same bytes.
func firstWords(n int) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		p := serve(1)
		turn, err := b.turn(n, p)
		if err != nil {
			return ours, theirs, err
		}
		w := &watcher{}
		turn.Watch = w
		ours = side{label: "Turn.Run", do: func() (time.Duration, error) {
			start := time.Now()
			err := ask(turn)
			return w.first.Sub(start), err
		}}
		theirs = side{label: "raw client", do: func() (time.Duration, error) {
			start := time.Now()
			first, _, err := p.raw()
			return first.Sub(start), err
		}}
		return ours, theirs, nil
	}
}

// throughput compares a complete answer with a client that decodes the same events and keeps their
// text.
func throughput(b *builder) (ours, theirs side, err error) {
	p := serve(10_000)
	var turn *query.Turn
	ours = side{
		label: "Turn.Run",
		before: func() (err error) { // or each answer would be part of the next request
			turn, err = b.turn(0, p)
			return err
		},
		do: func() (time.Duration, error) {
			start := time.Now()
			err := ask(turn)
			return time.Since(start), err
		},
	}
	theirs = side{label: "raw client", do: func() (time.Duration, error) {
		start := time.Now()
		_, text, err := p.raw()
		if err == nil && text.Len() != p.fragments*len("some words ") {
			err = errors.New("the raw client misses something")
		}
		return time.Since(start), err
	}}
	return ours, theirs, nil
}

// turn returns a turn that asks the provider in a conversation of n events.
func (b *builder) turn(n int, p *provider) (*query.Turn, error) {
	h, err := b.hold(n)
	if err != nil {
		return nil, err
	}
	at := llm.Endpoint{
		Provider: "anthropic", BaseURL: p.URL, Key: "key",
		Client: wire.NewClient(wire.ClientOptions{Provider: "anthropic", Format: wire.FormatAnthropic}),
	}
	return &query.Turn{
		Record: query.Held(b.workspace, h, nil), Now: time.Now, Root: b.dir,
		Model: anthropic.New("claude-haiku-4-5", at, anthropic.Options{}),
		Dedup: dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30},
	}, nil
}

func ask(t *query.Turn) error {
	_, err := t.Run(context.Background(), query.Prompt{
		Request: &events.ChatRequest{Content: "what comes next?"},
	})
	return err
}

// A watcher notes when the first words arrived.
type watcher struct {
	first time.Time
}

func (w *watcher) Sending(*llm.Request) { w.first = time.Time{} }
func (*watcher) Saved(*events.Element)  {}
func (*watcher) Notice(string)          {}

func (w *watcher) Delta(d llm.Delta) {
	if d.Kind == llm.DeltaFragment && w.first.IsZero() {
		w.first = time.Now()
	}
}

// raw posts the last request again with a minimal client, and returns when the first words arrived,
// and all of them.
func (p *provider) raw() (first time.Time, text *bytes.Buffer, err error) {
	text = &bytes.Buffer{}
	res, err := http.Post(p.URL+"/v1/messages", "application/json", bytes.NewReader(p.body))
	if err != nil {
		return first, text, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var ev struct {
			Delta struct {
				Text string `json:"text"`
			} `json:"delta"`
		}
		if err := json.Unmarshal(data, &ev); err != nil {
			return first, text, err
		}
		if text.WriteString(ev.Delta.Text); first.IsZero() && text.Len() > 0 {
			first = time.Now()
		}
	}
	return first, text, lines.Err()
}
