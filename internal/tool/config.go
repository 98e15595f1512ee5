package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/go-json-experiment/json/jsontext"
)

// A Config is the setting conversation.tools.<name> of jp's configuration.
type Config struct {
	Name        string
	Source      Source
	Enable      Enable
	Command     CommandConfig
	Summary     string
	Description string
	Examples    string
	Parameters  []Parameter
	Policy      Policy
	Questions   map[string]QuestionConfig
	Options     jsontext.Value // an object, nil if absent
	Access      jsontext.Value // an object, nil if absent; the tool enforces it
	Style       Style
}

// A Source is where a tool comes from.
type Source struct {
	Kind   SourceKind
	Server string // for MCP
	Tool   string // its name there, if different
}

// SourceKind is the first word of a source.
type SourceKind string

// The kinds of sources.
const (
	Builtin SourceKind = "builtin"
	Local   SourceKind = "local"
	MCP     SourceKind = "mcp"
)

// parseSource reads "builtin[.x]", "local[.x]" and "mcp.<server>[.<tool>]".
func parseSource(s string) (Source, error) {
	kind, rest, _ := strings.Cut(s, ".")
	src := Source{Kind: SourceKind(kind)}
	switch src.Kind {
	case Builtin, Local:
		src.Tool = rest
		return src, nil
	case MCP:
		src.Server, src.Tool, _ = strings.Cut(rest, ".")
		if src.Server != "" {
			return src, nil
		}
	}
	return Source{}, fmt.Errorf("%q is not a source", s)
}

// A CommandConfig is a command in the configuration: a line that is split into words, or a program
// with its arguments.
type CommandConfig struct {
	Line    string
	Program string
	Args    []string
	Shell   bool
}

// IsZero reports whether there is no command.
func (c CommandConfig) IsZero() bool { return c.Line == "" && c.Program == "" }

// Words splits a line like [command.Words].
func Words(line string) ([]string, error) { return command.Words(line) }

// Words returns the words of the command, with placeholders.
func (c CommandConfig) Words() ([]string, error) {
	if c.Line != "" {
		return command.Words(c.Line)
	}
	return append([]string{c.Program}, c.Args...), nil
}

// UnmarshalJSON reads either form.
func (c *CommandConfig) UnmarshalJSON(b []byte) error {
	if exact.Unmarshal(b, &c.Line) == nil {
		return nil
	}
	return fields(b, map[string]any{"program": &c.Program, "args": &c.Args, "shell": &c.Shell})
}

// A QuestionConfig sets how a question of a tool is answered.
type QuestionConfig struct {
	Target jsontext.Value // nil if absent
	Answer jsontext.Value // nil if absent
}

// A Style sets how calls are shown to users.
type Style struct {
	Hidden          bool
	InlineResults   string // "full", "off", or a number of lines
	ResultsFileLink string
	// Parameters is "json", "function_call" or "off"; Formatter is a command that replaces it.
	Parameters string
	Formatter  CommandConfig
}

// ErrNoSource is the error for a table without a source. It may configure a built-in tool, so the
// rest of the table is returned with the error.
var ErrNoSource = errors.New("source: missing")

// ParseConfig reads the configuration of a tool; defaults is that of '*', which may be nil. Unknown
// members are ignored.
func ParseConfig(name string, v, defaults jsontext.Value) (Config, error) {
	c := Config{Name: name, Enable: Enable{On: true}}
	if defaults != nil {
		if err := c.read(inherited(defaults)); err != nil {
			return Config{}, fmt.Errorf("tool '*': %w", err)
		}
	}
	if err := c.read(v); err != nil {
		return Config{}, fmt.Errorf("tool %q: %w", name, err)
	}
	if c.Source.Kind == "" {
		return c, fmt.Errorf("tool %q: %w", name, ErrNoSource)
	}
	return c, nil
}

// inherited returns the members of '*' that apply to every tool.
func inherited(v jsontext.Value) jsontext.Value {
	ms, err := Members(v)
	if err != nil {
		return v
	}
	var o Object
	for _, m := range ms {
		switch m.Name {
		case "enable", "run", "result", "format", "style", "access", "cancellation_response":
			o.Add(m.Name, m.Value)
		}
	}
	return o.Value()
}

func (c *Config) read(v jsontext.Value) error {
	var source, run, result, format string
	var parameters, questions jsontext.Value
	err := fields(v, map[string]any{
		"source": &source, "enable": &c.Enable, "command": &c.Command,
		"summary": &c.Summary, "description": &c.Description, "examples": &c.Examples,
		"parameters": &parameters, "questions": &questions,
		"options": &c.Options, "access": &c.Access, "style": &c.Style,
		"run": &run, "result": &result, "format": &format,
		"cancellation_response": &c.Policy.Cancelled,
	})
	if err != nil {
		return err
	}
	if source != "" {
		if c.Source, err = parseSource(source); err != nil {
			return fmt.Errorf("source: %w", err)
		}
	}
	if err := c.Policy.read(run, result, format); err != nil {
		return err
	}
	if parameters != nil {
		if c.Parameters, err = parseParameters(parameters); err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
	}
	if questions != nil {
		c.Questions, err = parseQuestions(questions)
	}
	return err
}

func (p *Policy) read(run, result, format string) error {
	for _, f := range []struct {
		name, value string
		to          *Mode
	}{{"run", run, &p.Run}, {"result", result, &p.Result}, {"format", format, &p.Format}} {
		m, err := parseMode(f.value)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if m != "" {
			*f.to = m
		}
	}
	return nil
}

func parseParameters(v jsontext.Value) ([]Parameter, error) {
	ms, err := Members(v)
	if err != nil {
		return nil, err
	}
	ps := make([]Parameter, 0, len(ms))
	for _, m := range ms {
		p := Parameter{Name: m.Name}
		if err := exact.Unmarshal(m.Value, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// UnmarshalJSON reads everything except the name.
func (p *Parameter) UnmarshalJSON(b []byte) error {
	var t types
	var items, properties jsontext.Value
	var enum []json.RawMessage
	err := fields(b, map[string]any{
		"type": &t, "default": &p.Default, "required": &p.Required, "summary": &p.Summary,
		"description": &p.Description, "examples": &p.Examples, "enum": &enum,
		"items": &items, "properties": &properties,
	})
	if err != nil {
		return err
	}
	p.Types = t
	ms, err := Members(b)
	if err != nil {
		return err
	}
	p.Bounds = lists.Filter(ms, func(m Member) bool { return slices.Contains(bounds, m.Name) })
	for _, e := range enum {
		p.Enum = append(p.Enum, jsontext.Value(e))
	}
	if items != nil {
		p.Items = new(Parameter)
		if err := exact.Unmarshal(items, p.Items); err != nil {
			return fmt.Errorf("items: %w", err)
		}
	}
	if properties != nil {
		if p.Properties, err = parseParameters(properties); err != nil {
			return fmt.Errorf("properties: %w", err)
		}
	}
	return nil
}

func parseQuestions(v jsontext.Value) (map[string]QuestionConfig, error) {
	ms, err := Members(v)
	if err != nil {
		return nil, fmt.Errorf("questions: %w", err)
	}
	all := make(map[string]QuestionConfig, len(ms))
	for _, m := range ms {
		var q QuestionConfig
		err := fields(m.Value, map[string]any{"target": &q.Target, "answer": &q.Answer})
		if err != nil {
			return nil, fmt.Errorf("questions: %s: %w", m.Name, err)
		}
		all[m.Name] = q
	}
	return all, nil
}

// UnmarshalJSON reads members of a style, and keeps the others.
func (s *Style) UnmarshalJSON(b []byte) error {
	var inline, parameters jsontext.Value
	err := fields(b, map[string]any{
		"hidden": &s.Hidden, "inline_results": &inline,
		"results_file_link": &s.ResultsFileLink, "parameters": &parameters,
	})
	if err != nil {
		return err
	}
	if inline != nil {
		s.InlineResults = strings.Trim(string(inline), `"`)
	}
	if parameters == nil {
		return nil
	}
	s.Parameters, s.Formatter = "", CommandConfig{}
	var word string
	if exact.Unmarshal(parameters, &word) == nil &&
		slices.Contains([]string{"json", "function_call", "off"}, word) {
		s.Parameters = word
		return nil
	}
	return exact.Unmarshal(parameters, &s.Formatter)
}

// Definition returns the definition for models, as far as the configuration has it.
func (c Config) Definition() Definition {
	return Definition{
		Name: c.Name, Summary: c.Summary, Description: c.Description, Examples: c.Examples,
		Parameters: c.Parameters, Schema: Schema(c.Parameters),
	}
}
