package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// Actions that a command is run for.
const (
	actionRun    = "run"
	actionFormat = "format_arguments"
	// actionSubsumes asks whether a call makes an earlier one obsolete (RFD 036).
	actionSubsumes = "subsumes"
)

const (
	defaultOutput = 16 << 20
	maxStderr     = 64 << 10
	maxQuestions  = 16
)

// An Environment is what all local tools of a query share.
type Environment struct {
	Starter        tool.Starter // required
	Root           string       // absolute path of the workspace, where commands run
	Space          *file.Space  // makes URIs of files canonical; nil leaves them
	WorkspaceID    string
	ConversationID string
	// MaxOutput bounds what is read of a program's output; zero is 16 MiB.
	MaxOutput int
}

// A Tool is a command.
type Tool struct {
	config  tool.Config
	env     Environment
	command command
}

var _ tool.Tool = (*Tool)(nil)

// A FormattingTool is a command with another one that shows its arguments.
type FormattingTool struct {
	*Tool
	format command
}

var _ tool.Formatter = (*FormattingTool)(nil)

// New returns the tool that a configuration declares, with its policy.
func New(c tool.Config, env Environment) (tool.Item, error) {
	if c.Command.IsZero() {
		return tool.Item{}, fmt.Errorf("tool %q: command: missing", c.Name)
	}
	if env.MaxOutput == 0 {
		env.MaxOutput = defaultOutput
	}
	cmd, err := parseCommand(c.Command)
	if err != nil {
		return tool.Item{}, fmt.Errorf("tool %q: command: %w", c.Name, err)
	}
	t := &Tool{config: c, env: env, command: cmd}
	if c.Style.Formatter.IsZero() {
		return tool.Item{Tool: t, Policy: c.Policy}, nil
	}
	format, err := parseCommand(c.Style.Formatter)
	if err != nil {
		return tool.Item{}, fmt.Errorf("tool %q: style.parameters: %w", c.Name, err)
	}
	return tool.Item{Tool: &FormattingTool{t, format}, Policy: c.Policy}, nil
}

// NewFormatter returns what shows the arguments of a tool's calls, for who has not been given
// its command: to show a call needs less trust than to make it.
func NewFormatter(c tool.Config, env Environment) (tool.Formatter, error) {
	c.Command = c.Style.Formatter
	it, err := New(c, env)
	if err != nil {
		return nil, err
	}
	return it.Tool.(*FormattingTool), nil //nolint:forcetypeassert // it has a formatter
}

// Definition implements [tool.Tool].
func (t *Tool) Definition() tool.Definition { return t.config.Definition() }

// Run implements [tool.Tool]. A program that asks is run again with all the answers.
func (t *Tool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	answers := map[string]jsontext.Value{}
	for range maxQuestions {
		o, err := t.start(ctx, t.command, t.key("command"), t.values(c, answers, actionRun))
		if err != nil || o.question == nil {
			return o.result, err
		}
		q := *o.question
		if _, again := answers[q.ID]; again {
			return tool.Result{}, fmt.Errorf("tool %q asks %q again", c.Name, q.ID)
		}
		if answers[q.ID], err = t.answer(ctx, c, q); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{}, fmt.Errorf("tool %q asks more than %d questions", c.Name, maxQuestions)
}

func (t *Tool) key(setting string) string {
	return "conversation.tools." + t.config.Name + "." + setting
}

var errNobody = errors.New("nobody could be asked")

// answer takes the configured answer, else asks.
func (t *Tool) answer(
	ctx context.Context, c tool.Call, q tool.Question,
) (answer jsontext.Value, err error) {
	q.Tool, q.Call = c.Name, c.ID
	configured := t.config.Questions[q.ID]
	q.Target = configured.Target
	switch {
	case configured.Answer != nil:
		answer = configured.Answer
	case c.Asker == nil:
		err = errNobody
	default:
		answer, err = c.Asker.Ask(ctx, q)
	}
	if err != nil {
		return nil, fmt.Errorf("tool %q asks %q: %w", c.Name, q.Text, err)
	}
	return answer, accepts(q, answer)
}

// FormatArguments implements [tool.Formatter].
func (t *FormattingTool) FormatArguments(ctx context.Context, c tool.Call) (string, error) {
	o, err := t.start(ctx, t.format, t.key("style.parameters"), t.values(c, nil, actionFormat))
	if err != nil {
		return "", err
	}
	if o.question != nil {
		return "", fmt.Errorf("tool %q asks %q while it formats", c.Name, o.question.Text)
	}
	var parts []string
	for _, b := range o.result.Blocks {
		if data, err := b.Content.Bytes(nil); err == nil {
			parts = append(parts, string(data))
		}
	}
	text := strings.Join(parts, "\n\n")
	if o.result.IsError {
		return "", fmt.Errorf("format arguments of tool %q: %s", c.Name, text)
	}
	return text, nil
}

// values is what templates can name.
func (t *Tool) values(
	c tool.Call, answers map[string]jsontext.Value, action string,
) jsontext.Value {
	as := object{}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		as = append(as, member{id, answers[id]})
	}
	return object{
		{"tool", object{
			{"name", text(c.Name)},
			{"action", text(action)},
			{"arguments", orElse(c.Arguments, "{}")},
			{"answers", as.value()},
			{"options", orElse(t.config.Options, "{}")},
		}.value()},
		{"context", object{
			{"action", text(action)},
			{"root", text(t.env.Root)},
			{"access", orElse(t.config.Access, "null")},
			{"workspace_id", text(t.env.WorkspaceID)},
			{"conversation_id", text(t.env.ConversationID)},
		}.value()},
	}.value()
}

// start runs a command to its end and reads what it said.
func (t *Tool) start(
	ctx context.Context, cmd command, key string, values jsontext.Value,
) (outcome, error) {
	c, err := cmd.render(values)
	if err != nil {
		return outcome{}, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	c.Declared = cmd.declared
	c.Declared.Purpose, c.Declared.Key = "tool "+t.config.Name, key
	stdout, stderr := tool.NewCapture(t.env.MaxOutput), tool.NewCapture(maxStderr)
	c.Dir, c.Stdout, c.Stderr = t.env.Root, stdout, stderr
	p, err := t.env.Starter.Start(ctx, c)
	if err != nil {
		return outcome{}, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	err = p.Wait()
	var ee *tool.ExitError
	if errors.As(err, &ee) {
		return outcome{result: exited(err, stdout.Bytes(), stderr.Bytes())}, nil
	}
	if err != nil {
		return outcome{}, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	if lost := stdout.Lost(); lost > 0 {
		note := fmt.Sprintf("\n[cut: the last %d bytes of the output were not read]", lost)
		return plain(append(stdout.Bytes(), note...)), nil
	}
	return parse(stdout.Bytes(), t.env.Space), nil
}

// A command is one whose words are known and not filled in.
type command struct {
	words    []word
	declared tool.Declaration
}

func parseCommand(c tool.CommandConfig) (command, error) {
	cmd := command{declared: tool.Declaration{
		Line: c.Line, Program: c.Program, Args: c.Args, Shell: c.Shell,
	}}
	split := append([]string{c.Program}, c.Args...)
	if c.Line != "" {
		var err error
		if split, err = tool.Words(c.Line); err != nil {
			return command{}, err
		}
	}
	if len(split) == 0 || split[0] == "" {
		return command{}, errors.New("it is empty")
	}
	for _, s := range split {
		cmd.words = append(cmd.words, parseWord(s))
	}
	return cmd, nil
}

// render fills the words in. For a shell, what was filled in is quoted, and it reads
// the words as they were written.
func (c command) render(values jsontext.Value) (tool.Command, error) {
	var quote func(string) string
	if c.declared.Shell {
		quote = shellQuote
	}
	filled := make([]string, len(c.words))
	for i, w := range c.words {
		var err error
		if filled[i], err = w.render(values, quote); err != nil {
			return tool.Command{}, err
		}
	}
	if c.declared.Shell {
		return tool.Command{Program: "sh", Args: []string{"-c", strings.Join(filled, " ")}}, nil
	}
	return tool.Command{Program: filled[0], Args: filled[1:]}, nil
}

// An object is JSON whose members keep their order.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

func (o object) value() jsontext.Value {
	b := jsontext.Value{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, text(m.name)...), ':'), m.value...)
	}
	return append(b, '}')
}

func text(s string) jsontext.Value {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings always encode
	return jsontext.Value(strings.TrimSuffix(b.String(), "\n"))
}

func orElse(v jsontext.Value, absent string) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value(absent)
	}
	return v
}

// shellQuote returns s as one word of a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
