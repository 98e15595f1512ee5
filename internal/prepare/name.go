package prepare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Naming has the user's options for the name and the place of a conversation.
type Naming struct {
	Title   string // "" if not given
	NoTitle bool
	Labels  []string // KEY, KEY=VALUE, or :NAME for a rule of the configuration
	Local   bool     // store a new conversation outside the workspace
	NoLocal bool
}

// Name sets the title, the labels and the time of a conversation, and the configuration and the
// place of a new one.
func (q *Query) Name(ctx context.Context, n Naming, r *events.ChatRequest) error {
	t := q.target
	labels, err := q.labels(ctx, n.Labels)
	if err != nil {
		return err
	}
	change := func(d *events.Details) {
		d.LastActivatedAt = q.host.Now().UTC()
		empty := len(t.Stream().Turns()) == 0
		switch {
		case n.Title != "":
			d.Title = &n.Title
		case n.NoTitle:
			d.Title = nil
		case d.Title == nil && empty && r != nil:
			if title := query.Title(r.Content); title != "" {
				d.Title = &title
			}
		}
		workspace.SetLabels(d, labels)
	}
	if t.Hold == nil {
		change(t.Create.Details)
		if t.Fresh {
			t.Create.BaseConfig = indented(jpconfig.Shareable(q.Config.JSON()))
			t.Create.Local = n.staysLocal(q.Config)
		}
		return nil
	}
	err = t.Hold.Update(func(conv *workspace.Conversation) error {
		change(conv.Details)
		return nil
	})
	if err != nil {
		return err
	}
	t.Activate(t.Hold.Conversation().ID)
	return nil
}

// indented returns JSON in the format of files.
func indented(v []byte) []byte {
	out := jsontext.Value(append([]byte(nil), v...))
	if out.Indent(jsontext.WithIndent("  ")) != nil {
		return v
	}
	return append(out, '\n')
}

// staysLocal reports whether a new conversation is stored outside the workspace.
func (n Naming) staysLocal(c *jpconfig.Config) bool {
	var local bool
	c.Decode(&local, "conversation", "start_local")
	return (n.Local || local) && !n.NoLocal
}

// IsLabelRule reports whether an argument names a label rule of the configuration.
func IsLabelRule(label string) bool { return strings.HasPrefix(label, ":") }

// errNoRule says that the configuration has no such label rule.
var errNoRule = errors.New("the configuration has no such label")

// labels parses labels of the command line: KEY, KEY=VALUE, or :NAME for a rule of the
// configuration.
func (q *Query) labels(ctx context.Context, args []string) (map[string]string, error) {
	var plain []string
	rules := map[string]string{}
	for _, arg := range args {
		if !IsLabelRule(arg) {
			plain = append(plain, arg)
			continue
		}
		key, value, err := q.ruled(ctx, arg[1:])
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", arg, err)
		}
		rules[key] = value
	}
	labels, err := workspace.ParseLabels(plain)
	if err != nil {
		return nil, err
	}
	maps.Copy(labels, rules)
	return labels, nil
}

// ruled returns the label of a rule: a literal value, or the output of a command, which needs an
// approval.
func (q *Query) ruled(ctx context.Context, name string) (key, value string, err error) {
	for _, l := range q.Config.Labels() {
		if l.Name != name || !workspace.ValidLabel(name) {
			continue
		}
		if !l.Command.IsZero() {
			value, err = q.labelCommand(ctx, l)
			return name, value, err
		}
		var rule struct {
			Value string `json:"value"`
		}
		if exact.Unmarshal(l.JSON, &value) != nil && exact.Unmarshal(l.JSON, &rule) == nil {
			value = rule.Value
		}
		return name, value, nil
	}
	return "", "", errNoRule
}

// maxLabel limits the output of a command for a label.
const maxLabel = 1 << 10

func (q *Query) labelCommand(ctx context.Context, l jpconfig.Label) (string, error) {
	line, err := l.Command.Open(q.gate)
	if err != nil {
		return "", err
	}
	c, err := labelProgram(line)
	if err != nil {
		return "", err
	}
	out := tool.NewCapture(maxLabel)
	c.Dir, c.Stdout = q.target.Workspace.Root(), out
	p, err := q.host.Starter.Start(ctx, c)
	if err != nil {
		return "", err
	}
	if err := p.Wait(); err != nil {
		return "", err
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	return strings.ToValidUTF8(string(first), "\uFFFD"), nil
}

// labelProgram parses the command of a rule, {cmd} or {value = {cmd}}.
func labelProgram(rule []byte) (tool.Command, error) {
	var r struct {
		Cmd   *tool.CommandConfig `json:"cmd"`
		Value struct {
			Cmd *tool.CommandConfig `json:"cmd"`
		} `json:"value"`
	}
	if err := exact.Unmarshal(rule, &r); err != nil {
		return tool.Command{}, err
	}
	c := r.Cmd
	if c == nil {
		c = r.Value.Cmd
	}
	if c == nil {
		return tool.Command{}, errNoRule
	}
	words := append([]string{c.Program}, c.Args...)
	if c.Line != "" {
		var err error
		if words, err = tool.Words(c.Line); err != nil {
			return tool.Command{}, err
		}
	}
	if c.Shell {
		words = []string{"sh", "-c", strings.Join(words, " ")}
	}
	if len(words) == 0 || words[0] == "" {
		return tool.Command{}, errNoRule
	}
	return tool.Command{Program: words[0], Args: words[1:]}, nil
}
