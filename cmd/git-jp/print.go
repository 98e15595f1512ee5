package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/outfile"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

type printCmd struct {
	Conversation string `arg:"" optional:"" help:"The conversation; the active one by default."`
	Turn         string `short:"t" placeholder:"N|A..B" xor:"range" help:"Print these turns, counted from 1; negative from the end."`
	Last         *int   `short:"l" placeholder:"N" xor:"range" help:"Print the last N turns."`
	First        *int   `placeholder:"N" xor:"range" help:"Print the first N turns."`
	Compacted    bool   `help:"Print what a model is given: with compactions applied, and references for what it has."`
	Style        string `short:"s" enum:"full,brief,chat,user" default:"full" help:"full, brief, chat or user."`
	Records      bool   `help:"Print what an agent recorded beside what was said."`
	Full         bool   `help:"Do not cut long results on a terminal, and show what was attached whole."`
}

// Help explains the forms of output.
func (printCmd) Help() string {
	return `On a terminal, Markdown is rendered, long results are cut, and git's pager is used.
In a pipe or a file the text is unchanged; only a code block that was cut off is closed.
What belongs to a call, its result and the questions of its tool, follows it, whatever ran
beside it. --json prints one object a line for each event, in the order of the stream, with its
content. Content that is missing or damaged shows as a line that says
so, and the exit code is 1.`
}

// Run prints a conversation.
func (c printCmd) Run(ctx context.Context, a *app) error {
	conv, err := a.load(c.Conversation)
	if err != nil {
		return err
	}
	first, last, err := c.turns(conv.Stream)
	if err != nil {
		return err
	}
	style, err := render.ParseStyle(c.Style)
	if err != nil {
		return usagef("%w", err)
	}
	o := render.Options{
		Style: style, Output: a.output(), First: first, Last: last, Full: c.Full,
		Records: c.Records,
		Now:     a.now(), Zone: time.Local,
	}
	if !a.stdoutTerminal { // a file must not depend on when and where it was made
		o.Now, o.Zone = time.Time{}, time.UTC
	}
	root := a.openWorkspace.Root()
	if a.JSON {
		o.Format = render.FormatJSONLines
		root = "" // a record says $WORKSPACE, wherever it was made
	}
	if first > 0 && !c.Compacted {
		expectTurns(a, conv.Stream, first, last)
	}
	subject, err := renderable(a, conv, root, c.Compacted)
	if err != nil {
		return err
	}
	return printConversation(ctx, a, subject, o)
}

// renderable returns what render needs of a conversation, in full or as a model is sent it. Without
// a root, its files are named from $WORKSPACE.
func renderable(
	a *app, conv *workspace.Conversation, root string, compacted bool,
) (render.Conversation, error) {
	c := view.Of(conv, a.openWorkspace.BlobsOf(conv.Entry))
	c.Root = root
	if !compacted {
		return c, nil
	}
	settings, err := a.configAt(a.openWorkspace.Root())
	if err != nil {
		return c, err
	}
	return prepare.Given(c, settings)
}

func printConversation(
	ctx context.Context, a *app, conv render.Conversation, o render.Options,
) error {
	var problems []render.Problem
	err := a.paged(ctx, func(out io.Writer) (err error) {
		problems, err = conv.Render(out, o)
		return err
	})
	if err != nil {
		return err
	}
	return contentProblems(a, problems)
}

// contentProblems reports content that could not be shown.
func contentProblems(a *app, problems []render.Problem) error {
	for _, p := range problems {
		if !isNotHere(a, p.Err) {
			a.warn("%v", p)
		}
	}
	if len(problems) > 0 {
		return report.ErrProblems
	}
	return nil
}

// turns returns the turns to print, counted from 1, 0 without a bound.
func (c printCmd) turns(s *events.Stream) (first, last int, err error) {
	if c.Turn == "" && c.Last == nil && c.First == nil {
		return 0, 0, nil
	}
	from, to, err := turnBounds(c.Turn, c.First, c.Last)
	if err != nil {
		return 0, 0, err
	}
	if c.Turn == "" && len(s.Turns()) == 0 {
		return 0, 0, nil // the first and the last of none
	}
	r, ok := s.ResolveRange(from, to)
	start, named := from.Turn()
	if end, isNamed := to.Turn(); named && isNamed && end < start {
		return 0, 0, usagef("--turn %s: the last turn comes before the first", c.Turn)
	}
	if !ok || named && start >= len(s.Turns()) {
		return 0, 0, fmt.Errorf("print turn %s: the conversation has %s", c.Turn,
			render.Count(len(s.Turns()), "turn"))
	}
	return r.From + 1, r.To + 1, nil
}

// turnBounds parses the flags that name turns.
func turnBounds(turn string, first, last *int) (from, to events.Bound, err error) {
	switch {
	case turn != "":
		if from, to, err = events.ParseTurnRange(turn); err != nil {
			err = usagef("--turn: %w", err)
		}
	case last != nil && *last > 0:
		from, to = events.LastTurns(*last)
	case first != nil && *first > 0:
		from, to = events.FirstTurns(*first)
	default:
		err = usagef("--first and --last: expected a positive number")
	}
	return from, to, err
}

// writeTo writes an answer to a file of the user's, or to standard output for "" and "-".
func writeTo(a *app, name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(a.stdout)
	}
	if err := outfile.Write(a.path(name), a.pid, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
