package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// saves is how many events one run saves: a single save is too short to measure.
const saves = 10

// saving compares the cost of an event of an answer with the least that could be done: writing the
// same bytes to a file, syncing it and renaming it.
func saving(n int) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		h, err := b.hold(n)
		if err != nil {
			return ours, theirs, err
		}
		ours = side{label: "Hold.Update", do: func() (time.Duration, error) {
			return each(func() error {
				return h.Update(func(c *workspace.Conversation) error {
					c.Stream.Append(said("one more"))
					return nil
				})
			})
		}}
		theirs = side{label: "write, fsync, rename", do: func() (time.Duration, error) {
			data := h.Conversation().Stream.Encode()
			return each(func() error { return plainly(filepath.Join(b.dir, "plain"), data) })
		}}
		return ours, theirs, nil
	}
}

// each returns the time of one of several saves.
func each(save func() error) (time.Duration, error) {
	start := time.Now()
	for range saves {
		if err := save(); err != nil {
			return 0, err
		}
	}
	return time.Since(start) / saves, nil
}

func plainly(name string, data []byte) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

// hold returns a conversation of n events whose lock is held. It ends with the process.
func (b *builder) hold(n int) (*workspace.Hold, error) {
	if err := b.open(); err != nil {
		return nil, err
	}
	stream := events.New()
	for i := range n / b.scale {
		stream.Append(step(i))
	}
	e, err := b.workspace.Create(context.Background(), &workspace.NewConversation{
		Details: &events.Details{LastActivatedAt: time.Now()}, Stream: stream,
	})
	if err != nil {
		return nil, err
	}
	return b.workspace.Hold(context.Background(), e.ID)
}

// open makes a workspace, unless there is one.
func (b *builder) open() error {
	if b.workspace != nil {
		return nil
	}
	env := workspace.Env{Getenv: func(string) string { return "" }, Now: time.Now, Dir: b.dir}
	if _, err := workspace.Init(b.dir, env); err != nil {
		return err
	}
	var err error
	b.workspace, err = workspace.Open(b.dir, env)
	return err
}

// step returns event i of a conversation in which a tool is called in every turn.
func step(i int) *events.Element {
	switch i % 5 {
	case 0:
		return element(&events.TurnStart{})
	case 1:
		return element(&events.ChatRequest{Content: "what comes next?"})
	case 2:
		return element(&events.ToolCallRequest{
			ID: fmt.Sprint("call_", i), Name: "fs_read_file", Arguments: []byte(`{"path":"a"}`),
		})
	case 3:
		text := fmt.Appendf(nil, "%0200d", i)
		return element(toolResult(fmt.Sprint("call_", i-1), text))
	default:
		return said("a sentence of an answer, and another one that says what the first one said")
	}
}
