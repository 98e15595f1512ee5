package question

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Target is the conversation that a question goes to, with the question that is replayed or
// drafted.
type Target struct {
	query.Target

	Terminal *ask.Terminal
	// Compaction returns the compaction of a conversation by which Spec compacts a fork.
	Compaction func(*workspace.Conversation) (compactor.Job, error)
	Spec       compactor.Spec
	ForkTitle  string // "" for the title of the source

	replayed *events.ChatRequest // the question that is asked again
	draft    *ask.Draft          // has the question from the editor; nil for none
}

// Fork begins a conversation with the last turns of another, 0 for all.
func (t *Target) Fork(ctx context.Context, e workspace.Entry, last int) error {
	conv, err := t.Workspace.Load(e)
	if err != nil {
		return err
	}
	return t.fork(ctx, conv, events.ForkOptions{Last: last})
}

func (t *Target) fork(
	ctx context.Context, conv *workspace.Conversation, o events.ForkOptions,
) error {
	details, err := workspace.ForkDetails(conv, o, t.Terminal.Now())
	if err != nil {
		return err
	}
	if t.ForkTitle != "" {
		details.Title = &t.ForkTitle
	}
	fork := *conv
	fork.Stream = conv.Stream.Fork(o)
	query.Detach(fork.Stream)
	if t.Spec.Wanted() {
		if err := t.compact(ctx, &fork); err != nil {
			return err
		}
	}
	t.Create = &workspace.NewConversation{
		Details: details, Stream: fork.Stream, BaseConfig: conv.BaseConfig,
		Local: conv.Local, AllowDangling: true,
	}
	return nil
}

func (t *Target) compact(ctx context.Context, conv *workspace.Conversation) error {
	job, err := t.Compaction(conv)
	if err != nil {
		return err
	}
	out, err := job.Compacted(ctx, t.Spec)
	if err == nil {
		conv.Stream = out.Stream
	}
	return err
}

var errNoQuestion = errors.New("nothing was asked yet")

// Replay begins a conversation without the last turn of another, whose question is asked again. The
// source does not change.
func (t *Target) Replay(ctx context.Context, e workspace.Entry) error {
	conv, err := t.Workspace.Load(e)
	if err != nil {
		return err
	}
	turns := conv.Stream.Turns()
	if len(turns) == 0 {
		return fmt.Errorf("replay %s: %w", e.ID, errNoQuestion)
	}
	stream, last := conv.Stream.Clone(), turns[len(turns)-1].First
	for i := last; i < stream.Len() && t.replayed == nil; i++ {
		t.replayed, _ = stream.At(i).Event().(*events.ChatRequest)
	}
	if t.replayed == nil {
		return fmt.Errorf("replay %s: %w", e.ID, errNoQuestion)
	}
	for i := stream.Len() - 1; i >= last; i-- {
		if stream.At(i).Kind() != events.KindConfigDelta {
			stream.Remove(i, 1)
		}
	}
	conv.Stream = stream
	t.Terminal.Note("asked again in a fork; the answer stays in %s", e.ID)
	return t.fork(ctx, conv, events.ForkOptions{})
}

// Take holds an existing conversation. If another program holds it, a user may wait or fork; a
// script gets the error at once.
func (t *Target) Take(ctx context.Context, e workspace.Entry) (err error) {
	t.ID = e.ID
	at, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	t.Hold, err = t.Workspace.Hold(at, e.ID)
	held := new(workspace.LockedError)
	if !errors.As(err, &held) {
		return err
	}
	p := t.Terminal.NewPrompter(ctx)
	if p == nil {
		return err
	}
	switch answer := waitOrFork(ctx, p, held); answer {
	case "f":
		t.ID = 0
		return t.Fork(ctx, e, 0)
	case "w":
		return t.Wait(ctx, e.ID)
	default:
		return err
	}
}

// waitOrFork asks what to do about a conversation that another program holds.
func waitOrFork(ctx context.Context, p *ask.Prompter, held *workspace.LockedError) string {
	s, err := p.Open(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = s.Close() }()
	for {
		answer, err := s.Key("%v\n[w]ait, [f]ork and ask there, [q]uit: ", held)
		switch {
		case err != nil, answer == "q":
			return ""
		case answer == "f":
			return answer
		case answer == "w":
			s.Say("going on when it is free\n")
			return answer
		}
	}
}

// WantsWorkspace asks whether to create a workspace. It returns false if no user can be asked.
func WantsWorkspace(ctx context.Context, t *ask.Terminal, root string) (bool, error) {
	p := t.NewPrompter(ctx)
	if p == nil {
		return false, nil
	}
	s, err := p.Open(ctx)
	if err != nil {
		return false, err
	}
	answer, err := s.Key("Make a workspace in %s? [y]es, [n]o: ", root)
	_ = s.Close()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && (answer == "y" || answer == "yes"), nil
}
