package compactor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
)

// A Spec sets how a conversation is compacted before it is forked or asked. The zero value compacts
// nothing.
type Spec struct {
	Configured bool // by the configured strategies, unless others are named
	Strategies []string
	Rules      []compact.Policy // of the overlay
}

// Add parses a rule of the overlay, or names of strategies joined by "+". A text that jp accepts is
// a rule.
func (s *Spec) Add(text string) error {
	rule, err := compact.ParsePolicy(text)
	if err == nil {
		s.Rules = append(s.Rules, rule)
		return nil
	}
	names := strings.Split(text, "+")
	for _, name := range names {
		if !slices.Contains(compact.Names(), name) {
			return err
		}
	}
	s.Strategies = append(s.Strategies, names...)
	return nil
}

// Wanted reports whether the spec compacts at all.
func (s Spec) Wanted() bool { return s.shortens() || len(s.Rules) > 0 }

// shortens reports whether strategies run, not only the overlay.
func (s Spec) shortens() bool { return s.Configured || len(s.Strategies) > 0 }

// Compacted returns the compacted conversation without writing it.
func (j Job) Compacted(ctx context.Context, s Spec) (out *compact.Result, err error) {
	r, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	out = &compact.Result{Stream: j.Conversation.Stream}
	if s.shortens() {
		o, err := r.Options(ctx, j.confirming(prepare.Request{Strategies: s.Strategies}))
		if err != nil {
			return nil, err
		}
		if out, err = compact.Run(ctx, j.Conversation.Stream, o); err != nil {
			return nil, err
		}
		warnOfSteps(&j.terminal().Printer, out.Report)
	}
	if len(s.Rules) > 0 {
		wanted := j.confirming(prepare.Request{})
		out.Stream, _, err = r.Overlaid(ctx, wanted, out.Stream, s.Rules)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// First compacts the conversation before it is asked, and returns the one to continue: a fork,
// unless only rules of the overlay were named or the configuration has it in place. The removal of
// tangential turns is confirmed even if the user agreed to a change in place.
func (j Job) First(ctx context.Context, s Spec) (events.ID, error) {
	conv, asking := j.Conversation, j
	asking.Yes = false
	out, err := asking.Compacted(ctx, s)
	switch {
	case err != nil:
		return conv.ID, err
	case out.Stream == conv.Stream:
		j.terminal().Note("%s", idle(out.Report))
		return conv.ID, nil
	case !s.shortens():
		return conv.ID, j.writer().Rewrite(ctx, out.Stream)
	case !j.Config.Settings().Compaction.Fork:
		_, err := j.replace(ctx, out)
		return conv.ID, err
	}
	if saved := out.Report.TokensSaved; saved > 0 {
		j.terminal().Note("about %s tokens less", render.Number(int64(saved)))
	}
	return j.fork(ctx, out.Stream)
}
