package question

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// Turn runs a turn and shows it. An interrupt asks what to do, or ends the turn if no user can be
// asked. It also ends when the reader of standard output goes away.
func Turn(ctx context.Context, t *ask.Terminal, q *prepare.Query, p query.Prompt) error {
	show := t.NewAnswer(ctx, q.Manner())
	turn, err := q.Turn(ctx, show)
	if err != nil {
		return err
	}
	turn.Control = new(query.Control)
	release := t.Interrupts.Take(q.Menu(turn.Control).Pressed)
	defer release()
	defer show.WhenUnread(func() { turn.Control.Want(query.Wish{Act: query.ActStop}) })()
	started := t.Now()
	title := q.MakeTitle(ctx, p)
	answer, err := turn.Run(ctx, p)
	note := func(what, saved string) {
		if q.Target().Saves() {
			what += saved
		}
		t.Note("%s", what)
	}
	shown := show.End(answer)
	if show.Unread() {
		note("standard output is closed", "; what came of the answer is saved")
		shown = context.Canceled
	}
	if c := q.Target(); c.Lost != 0 {
		t.Warn("%s was removed or damaged meanwhile: %s, a fork, has all that was said",
			c.Lost, c.ID)
	}
	keepElsewhere(t, err)
	err = ended(err, q.Target().Saves())
	if err := errors.Join(shown, title.End(err != nil), err); err != nil {
		return err
	}
	noteUsage(&t.Printer, q, answer, t.Now().Sub(started))
	switch {
	case answer.Dropped:
		note("the answer was dropped", ", the question stays: 'git jp query -E' asks it again")
		return context.Canceled
	case answer.Ended:
		note("stopped", ", the partial answer is saved")
	}
	return nil
}

// keepElsewhere keeps what could not be saved of an answer in a file among temporary ones: the disk
// of the conversation may be full, and the answer was paid for.
func keepElsewhere(t *ask.Terminal, err error) {
	lost, ok := errors.AsType[*query.UnsavedError](err)
	if !ok || lost.Text == "" {
		return
	}
	name, err := writeElsewhere(lost.Text)
	if err != nil {
		t.Warn("%v; what is shown of it is saved nowhere: %v", lost, err)
		return
	}
	t.Warn("%v; what came of it is in %s", lost, name)
}

func writeElsewhere(text string) (name string, err error) {
	f, err := os.CreateTemp("", "git-jp-answer-*.md")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), err
}

// ended returns the error of a turn in a form that promises nothing about a conversation in which
// the question is not saved.
func ended(err error, saved bool) error {
	partial, ok := errors.AsType[*query.PartialError](err)
	switch {
	case err == nil:
		return nil
	case saved:
		return &query.AskedError{Err: err}
	case ok:
		return partial.Err
	default:
		return err
	}
}

// noteUsage prints the usage and the cost of a turn.
func noteUsage(p *render.Printer, q *prepare.Query, answer query.Answer, took time.Duration) {
	if answer.Saved > 0 {
		p.Note("%s not sent again", render.Bytes(answer.Saved))
	}
	u := answer.Usage
	if u.Prompt() == 0 && u.Output == 0 {
		return
	}
	parts := []string{render.Number(u.Prompt()) + " tokens in"}
	if u.CacheRead > 0 {
		parts[0] += " (" + render.Number(u.CacheRead) + " cached)"
	}
	parts = append(parts, render.Number(u.Output)+" out")
	if row, ok := q.Price(); ok {
		parts = append(parts, fmt.Sprintf("$%.4f (prices of %s)", answer.Cost, row.AsOf))
	}
	p.Note("%s: %s, %.1f s", q.Model.ID(), strings.Join(parts, ", "), took.Seconds())
}
