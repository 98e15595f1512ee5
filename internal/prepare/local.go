package prepare

import (
	"context"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/local"
	"github.com/go-json-experiment/json/jsontext"
)

// A command is a local tool. It asks for the approval of its command when it first runs: in a
// workspace with forty tools, the user is asked about those that are called.
type command struct {
	tools   *toolset
	config  tool.Config
	process jpconfig.Process
}

// A formattedCommand has another command that formats its arguments.
type formattedCommand struct {
	*command
	formatter jpconfig.Process
}

// local returns a local tool. It returns an error if no call of the command could run, since a
// model that is offered the tool could only fail.
func (k *toolset) local(c tool.Config, t jpconfig.Tool) (tool.Item, error) {
	run := &command{tools: k, config: c, process: t.Command}
	if line, _, ok := k.config.Value("conversation", "tools", c.Name, "command"); ok {
		if _, err := run.made(line); err != nil {
			return tool.Item{}, err
		}
	}
	if t.Formatter.IsZero() {
		return tool.Item{Tool: run, Policy: c.Policy}, nil
	}
	return tool.Item{Tool: &formattedCommand{run, t.Formatter}, Policy: c.Policy}, nil
}

// Definition implements [tool.Tool].
func (c *command) Definition() tool.Definition { return c.config.Definition() }

func (c *command) environment() local.Environment {
	k, id := c.tools, ""
	if k.target.ID != 0 {
		id = k.target.ID.String()
	}
	return local.Environment{
		Starter: k.host.Starter, Root: k.target.Workspace.Root(), Space: k.files.Tree.Space,
		WorkspaceID: k.target.Workspace.WorkspaceID(), ConversationID: id,
		Permit: func(ctx context.Context) error {
			_, err := c.line(ctx)
			return err
		},
	}
}

// Run implements [tool.Tool].
func (c *command) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	t, err := c.open(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return t.Run(ctx, call)
}

// open asks for the approval of the command and returns its tool.
func (c *command) open(ctx context.Context) (subsumingTool, error) {
	line, err := c.line(ctx)
	if err != nil {
		return nil, err
	}
	return c.made(line)
}

// line asks for the approval of the command and returns it.
func (c *command) line(ctx context.Context) ([]byte, error) {
	answered := tool.Waiting(ctx)
	defer answered()
	return c.process.Open(c.tools.gate)
}

// made returns the tool for a command line. It starts nothing.
func (c *command) made(line []byte) (subsumingTool, error) {
	config := c.config
	if err := exact.Unmarshal(line, &config.Command); err != nil {
		return nil, err
	}
	it, err := local.New(config, c.environment())
	if err != nil {
		return nil, err
	}
	return it.Tool.(subsumingTool), nil // every local tool is one
}

// A subsumingTool can be asked which earlier calls its calls subsume.
type subsumingTool interface {
	tool.Tool
	Subsumes(ctx context.Context, earlier, later jsontext.Value) (bool, error)
}

// FormatArguments implements [tool.Formatter].
func (c *formattedCommand) FormatArguments(ctx context.Context, call tool.Call) (string, error) {
	line, err := c.formatter.Open(c.tools.gate)
	if err != nil {
		return "", err
	}
	config := c.config
	if err := exact.Unmarshal(line, &config.Style.Formatter); err != nil {
		return "", err
	}
	f, err := local.NewFormatter(config, c.environment())
	if err != nil {
		return "", err
	}
	return f.FormatArguments(ctx, call)
}
