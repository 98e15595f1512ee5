package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

type queryCmd struct {
	Question []string  `arg:"" optional:"" help:"What to ask; @FILE reads it from a file. An editor opens without one."`
	New      bool      `short:"n" help:"Begin a new conversation."`
	ID       string    `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation to go on with; the active one by default."`
	Fork     turnsFlag `placeholder:"N" help:"Go on in a fork of the conversation, with its last N turns or all."`
	Local    bool      `short:"l" help:"Keep a new conversation out of the workspace."`

	Attach []string `short:"a" aliases:"attachment" sep:"none" placeholder:"URL" help:"Attach a file, pattern, URL or conversation; repeat for several."`

	Model       string   `short:"m" placeholder:"MODEL" help:"The model, as provider/name or by its short name."`
	Param       []string `short:"p" sep:"none" placeholder:"KEY=VALUE" help:"Set a parameter of the model."`
	Reasoning   string   `short:"r" placeholder:"EFFORT" help:"off, auto, xlow, low, medium, high, xhigh, max, or a number of tokens."`
	NoReasoning bool     `short:"R" help:"The same as --reasoning off."`
	Tool        []string `short:"t" sep:"none" placeholder:"NAME" help:"Offer a tool, or all."`
	NoTool      []string `short:"T" sep:"none" placeholder:"NAME" help:"Do not offer a tool, or any with all."`

	Schema  string   `short:"s" placeholder:"SCHEMA" help:"Ask for data: JSON Schema, @FILE, or fields as in 'name, age int'."`
	Edit    bool     `short:"e" xor:"edit" help:"Write the question in the editor."`
	NoEdit  bool     `short:"E" xor:"edit" help:"Open no editor: without a question, go on where the conversation stands."`
	Title   string   `xor:"title" placeholder:"TITLE" help:"Title of the conversation."`
	NoTitle bool     `xor:"title" help:"Give a new conversation no title."`
	Label   []string `sep:"none" placeholder:"KEY[=VALUE]" help:"Set a label on the conversation."`
	Explain bool     `help:"Tell what would be sent, and send nothing."`
}

// Help says what sticks, and what happens without a model.
func (queryCmd) Help() string {
	return `Asks a language model. The question, everything the model was given, what it called and
what it answered become part of the conversation, event by event: an interrupt loses
nothing that was complete. Standard input is put before the question.

What is attached is looked up once, for the turn where it is attached: that of --attach, or the
next one for what the configuration declares. It stays as it was; --attach takes it again.

--model, --param, --reasoning, --tool, --no-tool and --attach stay in force for the
conversation. Flags for all tools count first, then those that take tools away, then those
that add them.

Where no model is configured, the built-in search answers with passages of the repository.`
}

// A turnsFlag is given alone or with a number.
type turnsFlag struct {
	Given bool
	Last  int // 0 for all
}

// IsBool lets the flag stand alone.
func (turnsFlag) IsBool() bool { return true }

// Decode implements kong's mapping of flags.
func (f *turnsFlag) Decode(k *kong.DecodeContext) error {
	f.Given = true
	if k.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	n, err := strconv.Atoi(k.Scan.Pop().String())
	if err != nil || n < 1 {
		return errors.New("expected a number of turns")
	}
	f.Last = n
	return nil
}

// Run asks.
func (c queryCmd) Run(ctx context.Context, a *app) (err error) {
	if err := c.valid(); err != nil {
		return err
	}
	t, err := c.target(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.release()) }()
	p, err := c.prompt(ctx, a, t)
	if err != nil {
		return err
	}
	if p == nil {
		a.note("the question is empty, nothing was asked")
		return nil
	}
	k, err := newTalk(ctx, a, t, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	if err := k.attach(ctx, c.Attach, p); err != nil {
		return err
	}
	if err := k.openTools(ctx, c); err != nil {
		return err
	}
	if p.Request != nil {
		p.Request.Author = k.setup.Author
	}
	if !t.fresh {
		p.Delta = k.delta
	}
	if c.Explain {
		return k.explain(*p)
	}
	if err := k.approveTyped(); err != nil {
		return err
	}
	if err := t.entitle(c, p.Request, k.config.JSON()); err != nil {
		return err
	}
	return k.ask(ctx, *p)
}

func (c queryCmd) valid() error {
	switch {
	case c.New && c.ID != "":
		return usagef("--new and --id: only one of them")
	case c.New && c.Fork.Given:
		return usagef("--new and --fork: only one of them")
	case c.Local && !c.New:
		return usagef("--local: it needs --new")
	}
	for _, label := range c.Label {
		if key, _, _ := strings.Cut(label, "="); !validLabel(key) {
			return usagef("label %q: a key has letters, digits, _ and - only", label)
		}
	}
	return nil
}

// A target is the conversation that a question goes to: one that is held, or one that the
// question begins.
type target struct {
	app       *app
	workspace *workspace.Workspace
	hold      *workspace.Hold // nil for a new one
	create    *workspace.NewConversation
	beginning *query.Beginning
	fresh     bool // its configuration is that of now
}

// errNoneActive says that nothing tells which conversation is meant.
var errNoneActive = errors.New("no conversation is active")

func (c queryCmd) target(ctx context.Context, a *app) (*target, error) {
	w, err := c.workspace(ctx, a)
	if err != nil {
		return nil, err
	}
	t := &target{app: a, workspace: w}
	if c.New {
		t.fresh = true
		t.create = &workspace.NewConversation{
			Details: &events.Details{LastActivatedAt: a.now().UTC()}, Local: c.Local,
		}
		return t, nil
	}
	e, err := a.findOr(c.ID)
	if c.ID == "" && isA[*workspace.NotFoundError](err) {
		return nil, errNoneActive
	}
	if err != nil {
		return nil, err
	}
	if c.Fork.Given {
		return t, c.fork(t, e)
	}
	return t, t.take(ctx, e.ID)
}

// workspace returns the workspace. A new conversation in a repository without one makes it.
func (c queryCmd) workspace(ctx context.Context, a *app) (*workspace.Workspace, error) {
	w, err := a.workspace()
	if !errors.Is(err, workspace.ErrNoWorkspace) || !c.New || c.Explain {
		return w, err
	}
	repo, repoErr := a.repo(ctx)
	if repoErr != nil {
		return nil, err
	}
	root, err := initCmd{}.root(a, repo)
	if err != nil {
		return nil, err
	}
	conf, err := a.configAt("")
	if err != nil {
		return nil, err
	}
	if _, err := workspace.Init(root, a.workspaceEnv(conf.Settings())); err != nil {
		return nil, err
	}
	a.note("made a workspace in %s", root)
	a.openConfig = nil // it was read without the workspace
	if a.openWorkspace, err = a.workspaceAt(root); err != nil {
		return nil, err
	}
	return a.openWorkspace, nil
}

// fork begins a conversation with turns of another.
func (c queryCmd) fork(t *target, e workspace.Entry) error {
	conv, err := t.workspace.Load(e)
	if err != nil {
		return err
	}
	f := forkCmd{Last: c.Fork.Last, Title: c.Title}
	options := events.ForkOptions{Last: f.Last}
	details, err := f.details(t.app, conv, options)
	if err != nil {
		return err
	}
	stream := conv.Stream.Fork(options)
	query.Detach(stream)
	t.create = &workspace.NewConversation{
		Details: details, Stream: stream, BaseConfig: conv.BaseConfig,
		Local: conv.Local, AllowDangling: true,
	}
	return nil
}

// take holds an existing conversation. Who sits at a terminal waits a little for somebody
// else who has it; a script is told at once.
func (t *target) take(ctx context.Context, id events.ID) (err error) {
	if !t.app.stderrTerminal {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
	}
	t.hold, err = t.workspace.Hold(ctx, id)
	return err
}

func (t *target) release() error {
	switch {
	case t.hold != nil:
		return t.hold.Release()
	case t.beginning != nil:
		return t.beginning.Release()
	default:
		return nil
	}
}

// stream and base are those of the conversation as it stands.
func (t *target) stream() *events.Stream {
	switch {
	case t.hold != nil:
		return t.hold.Conversation().Stream
	case t.create.Stream != nil:
		return t.create.Stream
	default:
		return events.New()
	}
}

func (t *target) base() []byte {
	if t.hold != nil {
		return t.hold.Conversation().BaseConfig
	}
	return t.create.BaseConfig
}

// entry returns the conversation; false before it is there.
func (t *target) entry() (workspace.Entry, bool) {
	switch {
	case t.hold != nil:
		return t.hold.Conversation().Entry, true
	case t.beginning != nil:
		return t.beginning.Entry()
	default:
		return workspace.Entry{}, false
	}
}

// record returns what the turn writes to.
func (t *target) record() query.Record {
	if t.hold != nil {
		return query.Held(t.workspace, t.hold)
	}
	if t.beginning == nil {
		t.beginning = query.Begin(t.workspace, t.create, func(e workspace.Entry) error {
			return t.activate(e.ID)
		})
	}
	return t.beginning
}

func (t *target) activate(id events.ID) error {
	s, ok := workspace.SessionOf(t.app.workspaceEnv(t.app.openConfig.Settings()))
	if !ok {
		return nil // nothing tells this terminal from others
	}
	return t.workspace.Activate(s, id)
}

// entitle gives the conversation its title, labels and time, and a new one its
// configuration.
func (t *target) entitle(c queryCmd, r *events.ChatRequest, config []byte) error {
	change := func(d *events.Details) {
		d.LastActivatedAt = t.app.now().UTC()
		empty := len(t.stream().Turns()) == 0
		switch {
		case c.Title != "":
			d.Title = &c.Title
		case d.Title == nil && empty && !c.NoTitle && r != nil:
			if title := query.Title(r.Content); title != "" {
				d.Title = &title
			}
		}
		for _, label := range c.Label {
			key, value, _ := strings.Cut(label, "=")
			if d.Labels == nil {
				d.Labels = map[string]string{}
			}
			d.Labels[key] = value
		}
	}
	if t.hold == nil {
		change(t.create.Details)
		if t.fresh {
			t.create.BaseConfig = indented(shareable(config))
		}
		return nil
	}
	err := t.hold.Update(func(conv *workspace.Conversation) error {
		change(conv.Details)
		return nil
	})
	if err != nil {
		return err
	}
	return t.activate(t.hold.Conversation().ID)
}

// indented is JSON as files have it.
func indented(v []byte) []byte {
	out := jsontext.Value(append([]byte(nil), v...))
	if out.Indent(jsontext.WithIndent("  ")) != nil {
		return v
	}
	return append(out, '\n')
}

// prompt returns what is asked, nil when that is nothing.
func (c queryCmd) prompt(ctx context.Context, a *app, t *target) (*query.Prompt, error) {
	text, err := c.text(ctx, a, t)
	if err != nil {
		return nil, err
	}
	schema, err := c.schema(a)
	if err != nil {
		return nil, err
	}
	if text == "" && c.NoEdit {
		if i, ok := t.stream().Incomplete(); ok && i.Unanswered && schema == nil {
			return &query.Prompt{}, nil
		}
		text = "continue"
	}
	if text == "" && len(c.Attach) == 0 {
		return nil, nil
	}
	return &query.Prompt{Request: &events.ChatRequest{Content: text, Schema: schema}}, nil
}

// maxInput bounds what is read from standard input.
const maxInput = 64 << 20

// text is the question: standard input, then the words; or what the editor left.
func (c queryCmd) text(ctx context.Context, a *app, t *target) (string, error) {
	words := strings.Join(c.Question, " ")
	if name, ok := strings.CutPrefix(words, "@"); ok && len(c.Question) == 1 {
		data, err := os.ReadFile(a.path(name))
		if err != nil {
			return "", fmt.Errorf("read the question: %w", err)
		}
		words = strings.TrimSuffix(string(data), "\n")
	}
	piped := ""
	if !a.stdinTerminal && a.stdin != nil {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxInput))
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		piped = strings.TrimSuffix(string(data), "\n")
	}
	text := strings.TrimSpace(words)
	if piped != "" {
		text = strings.TrimSuffix(piped+"\n\n"+text, "\n\n")
	}
	if !c.Edit && (text != "" || c.NoEdit) {
		return text, nil
	}
	if !c.Edit && (!a.stdinTerminal || !a.stderrTerminal) {
		return "", nil
	}
	return a.compose(ctx, text, t.stream())
}

func (c queryCmd) schema(a *app) (jsontext.Value, error) {
	text := c.Schema
	if text == "" {
		return nil, nil
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		data, err := os.ReadFile(a.path(name))
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		text = string(data)
	}
	schema, err := query.ParseSchema(text)
	if err != nil {
		return nil, usagef("--schema: %w", err)
	}
	return schema, nil
}

// flags returns what the flags change of the configuration, as one object.
func (c queryCmd) flags() (map[string][]byte, error) {
	params := map[string]json.RawMessage{}
	for _, p := range c.Param {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usagef("--param %q: expected KEY=VALUE", p)
		}
		params[key] = jsonOr(value)
	}
	reasoning := c.Reasoning
	if c.NoReasoning {
		reasoning = "off"
	}
	if reasoning != "" {
		v, err := reasoningValue(reasoning)
		if err != nil {
			return nil, err
		}
		params["reasoning"] = v
	}
	model := map[string]any{}
	if c.Model != "" {
		model["id"] = c.Model
	}
	if len(params) > 0 {
		model["parameters"] = params
	}
	if len(model) == 0 {
		return nil, nil
	}
	v, err := json.Marshal(map[string]any{"assistant": map[string]any{"model": model}})
	return map[string][]byte{"--model": v}, err
}

// jsonOr returns a value as JSON if it is some, else as text.
func jsonOr(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	v, err := json.Marshal(value)
	if err != nil { // a string
		return nil
	}
	return v
}

func reasoningValue(word string) (json.RawMessage, error) {
	if n, err := strconv.Atoi(word); err == nil && n >= 0 {
		return json.Marshal(map[string]int{"max_tokens": n})
	}
	switch word {
	case "off", "none":
		return json.Marshal("off")
	case "auto", "xlow", "low", "medium", "high", "xhigh", "max":
		return json.Marshal(map[string]string{"effort": word})
	default:
		return nil, usagef("--reasoning %q: expected off, auto, an effort or a number", word)
	}
}
