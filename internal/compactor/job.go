package compactor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Job is the compaction of one conversation.
type Job struct {
	Host         *prepare.Host
	Config       *config.Config
	Workspace    *workspace.Workspace
	Conversation *workspace.Conversation

	DryRun  bool
	InPlace bool // strategies change the conversation, not a fork of it
	Diff    bool // a dry run prints how it changes what a model is given
	Yes     bool // do not ask
	// Activate makes a fork the active conversation; it may be nil.
	Activate func(events.ID)
	// Paged calls a function with a writer for output that may be long.
	Paged func(context.Context, func(io.Writer) error) error
}

// Strategies runs strategies, writes the result and prints a report.
func (j Job) Strategies(ctx context.Context, q prepare.Request) (err error) {
	r, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := r.Options(ctx, j.confirming(q))
	if err != nil {
		return err
	}
	conv := j.Conversation
	out, err := compact.Run(ctx, conv.Stream, o)
	if err != nil {
		return err
	}
	if j.Diff {
		return j.printChanges(ctx, differing{r, q.Model}, out)
	}
	record := Record{
		ID: conv.ID.String(), Source: conv.ID.String(), DryRun: j.DryRun,
		InPlace: j.InPlace || !j.Config.Settings().Compaction.Fork, Report: out.Report,
	}
	switch {
	case j.DryRun, !out.Report.Changed():
	case record.InPlace:
		if record.Copy, err = j.replace(ctx, out); err != nil {
			return err
		}
	default:
		id, err := j.fork(ctx, out.Stream)
		if err != nil {
			return err
		}
		record.ID = id.String()
	}
	return record.print(&j.terminal().Printer)
}

func (j Job) terminal() *ask.Terminal { return j.Host.Terminal }

// open opens what a compaction of the conversation needs.
func (j Job) open(ctx context.Context) (*prepare.Compaction, error) {
	return prepare.OpenCompaction(ctx, j.Host, j.Config, j.Workspace, j.Conversation)
}

// confirming adds to a request how to confirm the removal of turns.
func (j Job) confirming(r prepare.Request) prepare.Request {
	t := j.terminal()
	r.DryRun = j.DryRun
	r.Confirm = func(found []compact.Tangent) []compact.Tangent {
		return lists.Filter(found, func(f compact.Tangent) bool {
			return j.Yes || t.Confirm(tangent(f)+"\nremove it?")
		})
	}
	if !j.Yes && t.In == nil {
		r.Unconfirmed = &ask.UnconfirmedError{What: "remove the turns that are found tangential"}
	}
	return r
}

func tangent(t compact.Tangent) string {
	return fmt.Sprintf("turn %d, %q: %s", t.Turn, render.Clip(t.Title), render.Clip(t.Reason))
}

// fork writes a fork with another stream, and makes it the active conversation.
func (j Job) fork(ctx context.Context, s *events.Stream) (events.ID, error) {
	conv := j.Conversation
	s = s.Fork(events.ForkOptions{}) // an open call is not answered in the fork
	details, err := workspace.ForkDetails(conv, events.ForkOptions{}, j.Host.Now())
	if err != nil {
		return 0, err
	}
	entry, err := j.Workspace.Create(ctx, &workspace.NewConversation{
		Details: details, Stream: s, BaseConfig: conv.BaseConfig, Local: conv.Local,
		AllowDangling: true, // faults of the source are no reason to refuse the fork
	})
	if err != nil {
		return 0, err
	}
	j.terminal().Note("compacted %s into %s, in %s", conv.ID, entry.ID, entry.Path)
	if j.Activate != nil {
		j.Activate(entry.ID)
	}
	return entry.ID, nil
}

// replace replaces the stream of the conversation, and returns where the old one is kept.
func (j Job) replace(ctx context.Context, out *compact.Result) (dir string, err error) {
	conv, t := j.Conversation, j.terminal()
	if !j.Yes {
		changed := 0
		for _, s := range out.Report.Steps {
			changed += s.Changed
		}
		what := fmt.Sprintf("compact %s in place", conv.ID)
		err := t.Agree(what, fmt.Sprintf("%s? %d events are removed, %d shortened; a copy is kept.",
			what, out.Report.EventsRemoved, changed))
		if err != nil {
			return "", err
		}
	}
	kept, err := j.keep(ctx, quarantine.Compacted, out.Stream)
	if err != nil {
		return "", err
	}
	t.Note("compacted %s; what it was is kept in %s until %s", conv.ID, j.Host.Short(kept.Dir()),
		kept.Until.Local().Format(time.DateOnly))
	return kept.Dir(), nil
}

// keep replaces the stream of the conversation, and keeps it as it was.
func (j Job) keep(
	ctx context.Context, kind quarantine.Kind, s *events.Stream,
) (*quarantine.Item, error) {
	all := j.Host.Quarantines(ctx, j.Workspace.Root(), j.Config.Settings().GC.Grace)
	if len(all) == 0 {
		return nil, errors.New("keep a copy: no quarantine is available")
	}
	return j.writer().Replace(ctx, all[0], kind, s, j.Host.Now())
}

// writer returns a writer for the conversation.
func (j Job) writer() compaction.Writer {
	return compaction.Writer{Workspace: j.Workspace, Conversation: j.Conversation}
}
