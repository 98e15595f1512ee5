package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/question"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

type queryCmd struct {
	Question []string `arg:"" optional:"" help:"What to ask; @FILE reads it from a file. An editor opens without one."`

	targetFlags

	Attach []string `short:"a" aliases:"attachment" sep:"none" placeholder:"URL" help:"Attach a file, pattern, URL or conversation; repeat for several."`

	modelFlags

	Schema        string   `short:"s" placeholder:"SCHEMA" help:"Ask for data: JSON Schema, @FILE, or fields as in 'name, age int'."`
	Edit          bool     `short:"e" xor:"edit" help:"Write the question in the editor."`
	NoEdit        bool     `short:"E" xor:"edit" help:"Open no editor: without a question, continue the conversation where it ended."`
	Quote         bool     `help:"Begin the question with the last answer, quoted, in the editor."`
	Title         string   `xor:"title" placeholder:"TITLE" help:"Title of the conversation."`
	NoTitle       bool     `xor:"title" help:"Give the conversation no title."`
	Label         []string `sep:"none" placeholder:"KEY[=VALUE]" help:"Set a label on the conversation; :NAME sets that of the configuration."`
	HideReasoning bool     `help:"Do not show what the model thinks."`
	HideToolCalls bool     `help:"Do not show which tools are called."`
	MaxCost       *float64 `placeholder:"USD" help:"Send no request that could make this query cost more; an answer is cut to what is left."`
	NoPersist     bool     `short:"P" help:"Ask and write nothing: no conversation begins or changes."`
	Explain       bool     `help:"Show what would be sent, and send nothing."`
}

// targetFlags select the conversation of the question, and what is done with it first.
type targetFlags struct {
	New     bool         `short:"n" help:"Begin a new conversation."`
	ID      optionalFlag `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation to continue; the active one by default. Alone, or with ?, it asks for one."`
	Fork    turnsFlag    `placeholder:"N" help:"Continue in a fork of the conversation, with all of its turns, or its last N as in --fork=3."`
	Compact specFlag     `short:"k" placeholder:"SPEC" help:"Compact the conversation first, into a fork: as configured, or as in --compact=dedup-tools+prune-tools by strategies, or as in --compact=t=omit:1..3 by a rule of the overlay."`
	Replay  bool         `help:"Ask the last question again, edited, in a fork without the last turn."`
	Yes     bool         `help:"Do not ask before --compact changes the conversation in place."`
	Local   bool         `short:"l" xor:"local" help:"Keep a new conversation out of the workspace."`
	NoLocal bool         `short:"L" xor:"local" help:"Keep a new conversation in the workspace, whatever the configuration says."`
	Tmp     durationFlag `placeholder:"DURATION" help:"A new conversation that may go when it is no longer active, or as in --tmp=36h so long after it began."`
}

// modelFlags select the model, and its tools.
type modelFlags struct {
	Model       string       `short:"m" placeholder:"MODEL" help:"The model, as provider/name or by its short name."`
	Param       []string     `short:"p" sep:"none" placeholder:"KEY=VALUE" help:"Set a parameter of the model."`
	Reasoning   string       `short:"r" xor:"reasoning" placeholder:"EFFORT" help:"off, auto, xlow, low, medium, high, xhigh, max, or a number of tokens."`
	NoReasoning bool         `short:"R" xor:"reasoning" help:"The same as --reasoning off."`
	Tool        toolFlag     `short:"t" aliases:"tools" placeholder:"NAME" help:"Offer a tool, or all."`
	NoTool      toolFlag     `short:"T" aliases:"no-tools" placeholder:"NAME" help:"Do not offer a tool, or any."`
	ToolUse     optionalFlag `short:"u" placeholder:"NAME" help:"Make the model call a tool, this one or any; false forbids it."`
	NoToolUse   bool         `short:"U" help:"The same as --tool-use false."`
}

// Help says which settings stay, and what happens without a model.
func (queryCmd) Help() string {
	return `Asks a language model. The question, everything the model was given, what it called and
what it answered become part of the conversation, event by event: an interrupt loses
nothing that was complete. Standard input is put before the question.

The first question of a workspace begins a conversation. At the top of a working tree it makes the
workspace, too; elsewhere it asks before it does.

What is attached is looked up once, for the turn where it is attached: that of --attach, or the
next one for what the configuration declares. Its content stays as it was then; --attach reads it
again.

--model, --param, --reasoning, --tool, --no-tool and --attach stay in force for the
conversation. --tool and --no-tool count from left to right, and without a name for all tools:
'-T -t fs_read_file' leaves one. After them and --id the next word is a name; '--' ends flags.

With --no-persist the question and its answer are not saved, and the conversation does not change.
Tools run and may change files.

Ctrl-C asks what to do: continue, reply at once, keep or discard the answer; while tools run, end
them, answer for them or start them again. Pressed again, it ends in order.

Where no model is configured, the built-in search answers with passages of the repository.`
}

// Run asks.
func (c queryCmd) Run(ctx context.Context, a *app) (err error) {
	if err := c.valid(); err != nil {
		return err
	}
	if c.NoPersist {
		c.Title, c.NoTitle = "", true
	}
	t, err := c.target(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Release()) }()
	text, err := c.text(ctx, a)
	if err != nil {
		return err
	}
	return t.Ask(ctx, text, func(p *query.Prompt) error { return c.ask(ctx, a, t, p) })
}

// ask opens everything that is needed, and asks.
func (c queryCmd) ask(
	ctx context.Context, a *app, t *question.Target, p *query.Prompt,
) (err error) {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	settings, err := a.configAt(t.Workspace.Root())
	if err != nil {
		return err
	}
	q, err := prepare.Open(ctx, a.host(), settings, &t.Target, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	if err := q.Prepare(ctx, p); err != nil {
		return err
	}
	if c.Explain {
		return question.Explain(ctx, &a.terminal.Printer, q, *p)
	}
	if err := q.ApproveTyped(ctx); err != nil {
		return err
	}
	err = q.Name(ctx, prepare.Naming{
		Title: c.Title, NoTitle: c.NoTitle, Labels: c.Label, Local: c.Local, NoLocal: c.NoLocal,
	}, p.Request)
	if err != nil {
		return err
	}
	if !c.NoPersist {
		warnUnmerged(a, t)
		defer collectAside(ctx, a, t.Workspace)()
	}
	return question.Turn(ctx, a.terminal, q, *p)
}

func (c queryCmd) valid() error {
	for _, pair := range []struct {
		wrong bool
		says  string
	}{
		{c.New && c.ID.Given, "--new and --id cannot be used together"},
		{c.New && c.Fork.Given, "--new and --fork cannot be used together"},
		{c.New && c.Replay, "--new and --replay cannot be used together"},
		{c.New && c.Compact.given(), "--new and --compact cannot be used together"},
		{c.Explain && c.Compact.given(), "--explain and --compact cannot be used together"},
		{c.NoPersist && c.Compact.given(), "--no-persist and --compact cannot be used together"},
		{c.Fork.Given && c.Replay, "--fork and --replay cannot be used together"},
		{c.Local && !c.New, "--local needs --new"},
		{c.NoLocal && !c.New, "--no-local needs --new"},
		{c.Tmp.Given && !c.New, "--tmp needs --new"},
		{c.ToolUse.Given && c.NoToolUse, "--tool-use and --no-tool-use cannot be used together"},
	} {
		if pair.wrong {
			return usagef("%s", pair.says)
		}
	}
	_, err := workspace.ParseLabels(slices.DeleteFunc(slices.Clone(c.Label), prepare.IsLabelRule))
	return err
}

// maxInput bounds what is read from standard input.
const maxInput = 64 << 20

// text returns the question, as far as the command line and standard input give it.
func (c queryCmd) text(ctx context.Context, a *app) (t question.Text, err error) {
	t = question.Text{Quote: c.Quote, GoOn: c.NoEdit, Attached: len(c.Attach) > 0}
	if t.Schema, err = c.schema(a); err != nil {
		return t, err
	}
	t.Words = strings.Join(c.Question, " ")
	if len(c.Question) == 1 {
		if t.Words, err = fileOr(a, t.Words); err != nil {
			return t, fmt.Errorf("read the question: %w", err)
		}
	}
	t.Words = strings.TrimSpace(t.Words)
	if t.Piped, err = piped(ctx, a); err != nil {
		return t, err
	}
	t.Edit = c.opensEditor(a, t.Words, t.Piped)
	if len(c.Question) > 0 && t.Words == "" && t.Piped == "" && !t.Edit {
		return t, usagef("the question is empty")
	}
	return t, nil
}

// fileOr returns the content of the file that @FILE names, or the text itself if it names no file.
func fileOr(a *app, text string) (string, error) {
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	data, err := regular.ReadNamed(a.path(name), maxInput)
	return string(data), err
}

// opensEditor reports whether the question is written in the editor: if that is requested, or if
// there are no words and there is a terminal.
func (c queryCmd) opensEditor(a *app, words, piped string) bool {
	switch {
	case c.NoEdit:
		return false
	case c.Edit, c.Quote, c.Replay && words == "" && piped == "":
		return true
	case words != "" || !a.stderrTerminal:
		return false
	case piped == "":
		return a.stdinTerminal
	}
	tty, err := a.device()
	return err == nil && tty.Close() == nil
}

// piped returns the text on standard input.
func piped(ctx context.Context, a *app) (string, error) {
	if a.stdinTerminal || a.stdin == nil {
		return "", nil
	}
	data, err := io.ReadAll(io.LimitReader(a.input(ctx), maxInput))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

func (c queryCmd) schema(a *app) (jsontext.Value, error) {
	if c.Schema == "" {
		return nil, nil
	}
	text, err := fileOr(a, c.Schema)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	schema, err := query.ParseSchema(text)
	if err != nil {
		return nil, usagef("--schema %q: %w", c.Schema, err)
	}
	return schema, nil
}
