package query

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
)

// call runs calls side by side. Each result is saved when it is there, in the place that its
// call gives it.
func (s *session) call(ctx context.Context, requests []*events.ToolCallRequest) error {
	calls := make([]tool.Call, len(requests))
	for i, r := range requests {
		calls[i] = tool.Call{ID: r.ID, Name: r.Name, Arguments: r.Arguments, Asker: s.Asker}
	}
	var saved run
	arrived := func(i int, r tool.Result) error {
		e := events.NewElement(s.Now(), &events.ToolCallResponse{
			ID: calls[i].ID, Blocks: r.Blocks, IsError: r.IsError,
		}, events.Metadata{})
		err := s.Record.Save(func(stream *events.Stream) error {
			saved.insert(stream, i, e)
			return nil
		})
		if err != nil {
			return fmt.Errorf("save the result of %s: %w", calls[i].Name, err)
		}
		saved.add(i, e)
		s.watch.Saved(e)
		return nil
	}
	if s.Tools == nil {
		return s.withoutTools(calls, arrived)
	}
	if _, err := s.Tools.Run(ctx, calls, arrived); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// withoutTools answers calls of what was not offered.
func (s *session) withoutTools(calls []tool.Call, arrived func(int, tool.Result) error) error {
	for i, c := range calls {
		r := tool.Failed(fmt.Sprintf("Tool '%s' is not available. There are no tools.", c.Name))
		if err := arrived(i, r); err != nil {
			return err
		}
	}
	return nil
}
