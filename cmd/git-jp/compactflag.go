package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A specFlag says how a conversation is compacted on the way: alone, as `git jp compact` would
// do it; with names of strategies joined by "+"; or with a rule of the overlay. It may be
// repeated.
type specFlag struct {
	Bare  bool
	Specs []string
}

// IsBool lets the flag stand alone.
func (specFlag) IsBool() bool { return true }

// IsCumulative lets the flag be repeated.
func (specFlag) IsCumulative() bool { return true }

// Decode implements kong's mapping of flags.
func (f *specFlag) Decode(k *kong.DecodeContext) error {
	if k.Scan.Peek().Type != kong.FlagValueToken {
		f.Bare = true
		return nil
	}
	f.Specs = append(f.Specs, k.Scan.Pop().String())
	_, _, err := f.plan()
	return err
}

func (f *specFlag) given() bool { return f.Bare || len(f.Specs) > 0 }

// plan returns the strategies and the rules of the overlay. What jp understands is a rule.
func (f *specFlag) plan() (strategies []string, rules []compact.Policy, err error) {
	for _, spec := range f.Specs {
		rule, err := compact.ParsePolicy(spec)
		if err == nil {
			rules = append(rules, rule)
			continue
		}
		names := strings.Split(spec, "+")
		for _, name := range names {
			if !slices.Contains(compact.Names(), name) {
				return nil, nil, err
			}
		}
		strategies = append(strategies, names...)
	}
	return strategies, rules, nil
}

// compacted returns what becomes of a conversation as the flag wants it.
func compacted(
	ctx context.Context, a *app, conv *workspace.Conversation, f specFlag,
) (out *compact.Result, err error) {
	strategies, rules, err := f.plan()
	if err != nil {
		return nil, err
	}
	r, err := openCompaction(ctx, a, conv)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	out = &compact.Result{Stream: conv.Stream}
	if f.Bare || len(strategies) > 0 {
		o, err := r.Options(ctx, compactRequest(a, prepare.Request{Strategies: strategies}, false))
		if err != nil {
			return nil, err
		}
		out, err = compact.Run(ctx, conv.Stream, o)
		if err != nil {
			return nil, err
		}
		warnOfSteps(a, out.Report)
	}
	if len(rules) > 0 {
		wanted := compactRequest(a, prepare.Request{}, false)
		out.Stream, _, err = r.Overlaid(ctx, wanted, out.Stream, rules)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compactFirst compacts a conversation before it is asked, and returns the one to go on with:
// a fork, unless only rules of the overlay were named or the configuration wants it in place.
func compactFirst(
	ctx context.Context, a *app, e workspace.Entry, f specFlag, yes bool,
) (workspace.Entry, error) {
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return e, err
	}
	out, err := compacted(ctx, a, conv, f)
	if err != nil {
		return e, err
	}
	if out.Stream == conv.Stream {
		a.note("%s", idle(out.Report))
		return e, nil
	}
	strategies, _, err := f.plan()
	switch {
	case err != nil:
		return e, err
	case !f.Bare && len(strategies) == 0:
		return e, writerOf(a, conv).Rewrite(ctx, out.Stream)
	case !a.openConfig.Settings().Compaction.Fork:
		_, err := replace(ctx, a, conv, out, yes)
		return e, err
	}
	if saved := out.Report.TokensSaved; saved > 0 {
		a.note("about %s tokens less", render.Number(int64(saved)))
	}
	id, err := writeFork(ctx, a, conv, out.Stream, true)
	if err != nil {
		return e, err
	}
	return a.find(id.String())
}
