package main

import (
	"context"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A specFlag says how a conversation is compacted first: without a value, as `git jp compact` would
// do it; with names of strategies joined by "+"; or with a rule of the overlay. It may be repeated.
type specFlag struct{ compactor.Spec }

// IsBool makes the value optional.
func (specFlag) IsBool() bool { return true }

// IsCumulative lets the flag be repeated.
func (specFlag) IsCumulative() bool { return true }

// Decode implements kong's mapping of flags.
func (f *specFlag) Decode(k *kong.DecodeContext) error {
	if k.Scan.Peek().Type != kong.FlagValueToken {
		f.Configured = true
		return nil
	}
	return f.Add(k.Scan.Pop().String())
}

func (f *specFlag) given() bool { return f.Wanted() }

// compacted returns the conversation as the flag compacts it.
func compacted(
	ctx context.Context, a *app, conv *workspace.Conversation, f specFlag,
) (*compact.Result, error) {
	j, err := compactionOf(a, conv)
	if err != nil {
		return nil, err
	}
	return j.Compacted(ctx, f.Spec)
}

// compactFirst compacts a conversation before the question, and returns the one to continue.
func compactFirst(
	ctx context.Context, a *app, e workspace.Entry, f specFlag, yes bool,
) (workspace.Entry, error) {
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return e, err
	}
	j, err := compactionOf(a, conv)
	if err != nil {
		return e, err
	}
	j.Yes = yes
	id, err := j.First(ctx, f.Spec)
	if err != nil || id == e.ID {
		return e, err
	}
	return a.find(id.String())
}
