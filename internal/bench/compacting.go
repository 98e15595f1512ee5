package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// compacting compares a strategy on twenty thousand events with reading them once.
func compacting(strategy string) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		data := working(20_000 / b.scale)
		s, err := events.Decode(data)
		if err != nil {
			return ours, theirs, err
		}
		ours = side{label: strategy, do: func() (time.Duration, error) {
			start := time.Now()
			_, err := compact.Run(context.Background(), s, compact.Options{
				Strategies: []string{strategy}, KeepLast: 1, Now: start,
			})
			return time.Since(start), err
		}}
		theirs = side{label: "one parse", do: func() (time.Duration, error) {
			start := time.Now()
			_, err := events.Decode(data)
			return time.Since(start), err
		}}
		return ours, theirs, nil
	}
}

// working returns a stream of n events: questions, thoughts, and reads of a hundred files.
func working(n int) []byte {
	s := events.New()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(ev events.Event) {
		at = at.Add(time.Second)
		s.Append(events.NewElement(at, ev, events.Metadata{}))
	}
	body := strings.Repeat("a line of a file that was read\n", 20)
	for turn := 0; s.Len() < n; turn++ {
		id := fmt.Sprint("call_", turn)
		add(&events.TurnStart{})
		add(&events.ChatRequest{Content: fmt.Sprint("question ", turn)})
		add(&events.ChatResponse{Form: events.FormReasoning, Text: "I had better look."})
		add(&events.ToolCallRequest{
			ID: id, Name: "fs_read_file",
			Arguments: fmt.Appendf(nil, `{"path":"src/file%d.go"}`, turn%100),
		})
		add(&events.ToolCallResponse{ID: id, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(body + fmt.Sprint(turn))),
		}}})
		add(&events.ChatResponse{Text: "It is done."})
	}
	return s.Encode()
}
