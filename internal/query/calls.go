package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
)

// A batch is a group of calls that a model made at once. Their results are saved in the order of
// the calls.
type batch struct {
	*session
	calls []tool.Call
	saved run
	open  map[int]bool // calls without a result
}

func (s *session) batch(requests []*events.ToolCallRequest) *batch {
	b := &batch{session: s, open: map[int]bool{}}
	for i, r := range requests {
		b.calls = append(b.calls, tool.Call{
			ID: r.ID, Name: r.Name, Arguments: r.Arguments, Asker: inquirer{s},
		})
		b.open[i] = true
	}
	return b
}

// arrived saves a result as soon as it exists, at the position of its call.
func (b *batch) arrived(i int, r tool.Result) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	md, err := personOf(r)
	if err != nil {
		return err
	}
	e := events.NewElement(b.Now(), &events.ToolCallResponse{
		ID: b.calls[i].ID, Blocks: r.Blocks, IsError: r.IsError,
	}, md)
	err = b.Record.Save(func(stream *events.Stream) error {
		b.saved.insert(stream, i, e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the result of %s: %w", b.calls[i].Name, err)
	}
	delete(b.open, i)
	b.saved.add(i, e)
	b.watch.Saved(e)
	return nil
}

// personOf records what a person did about a call. No compaction removes that.
func personOf(r tool.Result) (events.Metadata, error) {
	none := events.Metadata{}
	if r.Person.Did == "" {
		return none, nil
	}
	md, err := compact.WithPerson(none, compact.Person{
		Did: string(r.Person.Did), Arguments: r.Person.Arguments,
	})
	if err != nil {
		return none, fmt.Errorf("record what a person did about a call: %w", err)
	}
	return md, nil
}

// call runs calls side by side. It returns true if the user ended the turn meanwhile.
func (s *session) call(ctx context.Context, requests []*events.ToolCallRequest) (bool, error) {
	b := s.batch(requests)
	if s.Tools == nil {
		return false, b.without()
	}
	for {
		during, end := s.control.begin(ctx, PhaseTools)
		err := b.run(during)
		wish := end()
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case wish.Act == ActRestart && b.interrupted(err):
			continue
		case wish.Act != 0 && b.interrupted(err):
			err = b.close()
		}
		s.answer.Ended = wish.Act == ActStop || wish.Act == ActAbort
		return s.answer.Ended, err
	}
}

// interrupted reports whether the calls ended because of the wish, not because of an error.
func (b *batch) interrupted(err error) bool {
	var c *tool.Cancelled
	return err == nil && len(b.open) > 0 || errors.Is(err, errRestart) || errors.As(err, &c)
}

// run makes the calls that have no result.
func (b *batch) run(ctx context.Context) error {
	var calls []tool.Call
	var at []int
	for i, c := range b.calls {
		if b.open[i] {
			calls, at = append(calls, c), append(at, i)
		}
	}
	_, err := b.Tools.Run(ctx, calls, func(i int, r tool.Result) error {
		if errors.Is(r.Err, errRestart) {
			return nil
		}
		return b.arrived(at[i], r)
	})
	return err
}

// close saves a result for each call without one, which says that the call was interrupted.
func (b *batch) close() error {
	for i := range b.calls {
		if !b.open[i] {
			continue
		}
		if err := b.arrived(i, tool.Failed(interrupted)); err != nil {
			return err
		}
	}
	return nil
}

// without answers calls of a model that was offered no tools.
func (b *batch) without() error {
	for i, c := range b.calls {
		r := tool.Failed(fmt.Sprintf("Tool '%s' is not available. There are no tools.", c.Name))
		if err := b.arrived(i, r); err != nil {
			return err
		}
	}
	return nil
}
