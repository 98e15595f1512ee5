package workspace

import (
	"context"
	"errors"
)

// A Walk loads conversations one after the other. It reports each unreadable one once, and
// continues.
type Walk struct {
	Workspace *Workspace
	Named     []Entry // nil for all
	Archived  bool    // archived ones too
	Problem   func(error)
}

// Each calls f with each conversation, until f fails or ctx is done.
func (k Walk) Each(ctx context.Context, f func(Entry, *Conversation) error) error {
	entries, reported := k.Named, map[string]bool{}
	if entries == nil {
		var problems []Problem
		var err error
		entries, problems, err = k.Workspace.List(ListOptions{Archived: k.Archived, Local: true})
		for _, p := range problems {
			if p.Kind != Foreign { // a foreign directory has no conversation
				k.Problem(errors.New(p.String()))
				reported[p.Path] = true
			}
		}
		if err != nil {
			return err
		}
	}
	if err := k.Workspace.Expect(ctx, entries); err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		conv, err := k.Workspace.Load(e)
		if err != nil {
			if !reported[e.Path] {
				k.Problem(err)
			}
			continue
		}
		if err := f(e, conv); err != nil {
			return err
		}
	}
	return nil
}

// Expect announces reads of the content of several conversations, so that missing blobs are fetched
// together. Without an [Elsewhere] it reads nothing.
func (w *Workspace) Expect(ctx context.Context, entries []Entry) error {
	if w.main.elsewhere == nil || len(entries) < 2 {
		return nil
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if text, err := w.LoadText(e); err == nil {
			w.storeOf(e).expect(text.Stream)
		}
	}
	return nil
}
