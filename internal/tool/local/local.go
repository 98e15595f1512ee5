package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// Actions for which a command is run.
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

// An Environment has what all local tools of a query share.
type Environment struct {
	Starter        tool.Starter // required
	Root           string       // absolute path of the workspace; commands run there
	Space          *file.Space  // makes URIs of files canonical; nil keeps them
	WorkspaceID    string
	ConversationID string
	// Permit is called before a program that asked a question is started again: the files that it
	// runs may have changed since. Nil permits it.
	Permit func(context.Context) error
	// MaxOutput limits how much of a program's output is read; zero is 16 MiB.
	MaxOutput int
}

// A Tool is a tool that runs a command.
type Tool struct {
	config  tool.Config
	env     Environment
	command line
}

var _ tool.Tool = (*Tool)(nil)

// A formattingTool is a Tool with another command that formats its arguments.
type formattingTool struct {
	*Tool
	format line
}

var _ tool.Formatter = (*formattingTool)(nil)

// New returns the declared tool with its policy.
func New(c tool.Config, env Environment) (tool.Item, error) {
	if c.Command.IsZero() {
		return tool.Item{}, fmt.Errorf("tool %q: command: missing", c.Name)
	}
	env.MaxOutput = cmp.Or(env.MaxOutput, defaultOutput)
	cmd, err := parseLine(c.Command)
	if err != nil {
		return tool.Item{}, fmt.Errorf("tool %q: command: %w", c.Name, err)
	}
	t := &Tool{config: c, env: env, command: cmd}
	if c.Style.Formatter.IsZero() {
		return tool.Item{Tool: t, Policy: c.Policy}, nil
	}
	format, err := parseLine(c.Style.Formatter)
	if err != nil {
		return tool.Item{}, fmt.Errorf("tool %q: style.parameters: %w", c.Name, err)
	}
	return tool.Item{Tool: &formattingTool{t, format}, Policy: c.Policy}, nil
}

// NewFormatter returns the formatter of a tool's arguments, even if the tool's command is not
// approved: showing a call needs less trust than running it.
func NewFormatter(c tool.Config, env Environment) (tool.Formatter, error) {
	c.Command = c.Style.Formatter
	it, err := New(c, env)
	if err != nil {
		return nil, err
	}
	return it.Tool.(*formattingTool), nil // it has a formatter
}

// Definition implements [tool.Tool].
func (t *Tool) Definition() tool.Definition { return t.config.Definition() }

// Run implements [tool.Tool]. A program that asks a question is run again with all answers.
func (t *Tool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	answers := map[string]jsontext.Value{}
	for range maxQuestions {
		o, err := t.start(ctx, t.command, t.values(c, answers, actionRun))
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
		if t.env.Permit == nil {
			continue
		}
		if err := t.env.Permit(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	return tool.Result{}, fmt.Errorf("tool %q asks more than %d questions", c.Name, maxQuestions)
}

var errNobody = errors.New("no user could be asked")

// answer returns the configured answer, or else asks.
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
func (t *formattingTool) FormatArguments(ctx context.Context, c tool.Call) (string, error) {
	o, err := t.start(ctx, t.format, t.values(c, nil, actionFormat))
	if err != nil {
		return "", err
	}
	if o.question != nil {
		return "", fmt.Errorf("tool %q asks %q while it formats", c.Name, o.question.Text)
	}
	text := strings.Join(o.texts(), "\n\n")
	if o.result.IsError {
		return "", fmt.Errorf("format arguments of tool %q: %s", c.Name, text)
	}
	return text, nil
}

// values returns the values for templates.
func (t *Tool) values(
	c tool.Call, answers map[string]jsontext.Value, action string,
) jsontext.Value {
	var as, call, place, all tool.Object
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		as.Add(id, answers[id])
	}
	call.Add("name", tool.Quote(c.Name))
	call.Add("action", tool.Quote(action))
	call.Add("arguments", orElse(c.Arguments, "{}"))
	call.Add("answers", as.Value())
	call.Add("options", orElse(t.config.Options, "{}"))
	place.Add("action", tool.Quote(action))
	place.Add("root", tool.Quote(t.env.Root))
	place.Add("access", orElse(t.config.Access, "null"))
	place.Add("workspace_id", tool.Quote(t.env.WorkspaceID))
	place.Add("conversation_id", tool.Quote(t.env.ConversationID))
	all.Add("tool", call.Value())
	all.Add("context", place.Value())
	return all.Value()
}

// start runs a command to its end and reads its output. With an error it returns what the command
// printed until then.
func (t *Tool) start(
	ctx context.Context, cmd line, values jsontext.Value,
) (outcome, error) {
	var large scratch
	defer large.remove()
	c, err := cmd.render(values, &large)
	if err != nil {
		return outcome{}, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	stdout, stderr := tool.NewCapture(t.env.MaxOutput), tool.NewCapture(maxStderr)
	c.Dir, c.Stdout, c.Stderr = t.env.Root, stdout, stderr
	p, err := t.env.Starter.Start(ctx, c)
	if err != nil {
		return outcome{}, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	err = p.Wait()
	if _, ok := errors.AsType[*tool.ExitError](err); ok {
		return outcome{result: exited(err, stdout.Bytes(), stderr.Bytes())}, nil
	}
	if err != nil {
		said := outcome{result: stopped(stdout.Bytes(), stderr.Bytes())}
		return said, fmt.Errorf("tool %q: %w", t.config.Name, err)
	}
	if lost := stdout.Lost(); lost > 0 {
		note := fmt.Sprintf("\n[cut: the last %d bytes of the output were not read]", lost)
		return plain(append(stdout.Bytes(), note...)), nil
	}
	return parse(stdout.Bytes(), t.env.Space), nil
}

// A line is a command that is split into words with templates.
type line struct {
	words []word // after fixed
	fixed []string
}

// parseLine reads a command. In a command for a shell, the placeholders become parameters of the
// script: no value is ever part of the text that the shell parses.
func parseLine(c tool.CommandConfig) (line, error) {
	split, err := c.Words()
	if err != nil {
		return line{}, err
	}
	if len(split) == 0 || split[0] == "" {
		return line{}, errors.New("it is empty")
	}
	if !c.Shell {
		if err := command.CheckWords(split); err != nil {
			return line{}, err
		}
		return line{words: lists.Map(split, parseWord)}, nil
	}
	script, err := command.ParseScript(strings.Join(split, " "))
	if err != nil {
		return line{}, err
	}
	words := lists.Map(script.Exprs, func(e string) word {
		return word{pieces: []command.Piece{{Text: e, Expr: true}}}
	})
	return line{words, []string{"sh", "-c", script.Text, "sh"}}, nil
}

// maxWord is the largest word of a command line; the smallest limit of any system is twice that.
const maxWord = 64 << 10

// render inserts the values. A word that is too large for a command line is written to a file in
// dir, and replaced by @ and the file's name.
func (l line) render(values jsontext.Value, dir *scratch) (tool.Command, error) {
	filled := slices.Clone(l.fixed)
	for _, w := range l.words {
		s, err := w.render(values)
		if err == nil && len(s) > maxWord {
			s, err = dir.keep(s)
		}
		if err != nil {
			return tool.Command{}, err
		}
		filled = append(filled, s)
	}
	return tool.Command{Program: filled[0], Args: filled[1:]}, nil
}

// A scratch is a temporary directory for one process, created on demand.
type scratch struct {
	dir string
	n   int
}

func (s *scratch) keep(text string) (string, error) {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "git-jp-tool-")
		if err != nil {
			return "", fmt.Errorf("keep a large argument: %w", err)
		}
		s.dir = dir
	}
	s.n++
	name := filepath.Join(s.dir, strconv.Itoa(s.n))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("keep a large argument: %w", err)
	}
	return "@" + name, nil
}

func (s *scratch) remove() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // the system removes what is left
	}
}

func orElse(v jsontext.Value, absent string) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value(absent)
	}
	return v
}
