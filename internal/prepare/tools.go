package prepare

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/go-json-experiment/json/jsontext"
)

// A candidate is a tool that may be offered.
type candidate struct {
	config tool.Config
	item   func(ctx context.Context) (tool.Item, error)
	serves bool // helps with the others, and is not offered alone
}

// A toolset has the tools that a question offers.
type toolset struct {
	host        *Host
	target      *query.Target
	config      *jpconfig.Config
	gate        trust.Gate
	files       builtin.Workspace
	servers     *servers
	attachments *Attachments
	quiet       bool // no tools are offered, and faults are not reported

	selected []candidate
	calls    ask.Calls // how they are shown
	approve  *ask.ToolGate
	executor *tool.Executor
}

// choose selects the tools to offer. The flags are checked by the configuration without them, since
// their change of the configuration would unlock a locked tool.
func (k *toolset) choose(switches []tool.Switch) error {
	candidates := k.candidates()
	configs := lists.Map(candidates, func(c candidate) tool.Config { return c.config })
	on, err := tool.Select(configs, switches)
	if err != nil {
		return &AskedError{err}
	}
	for i, c := range candidates {
		if on[i] {
			k.selected = append(k.selected, c)
		}
	}
	if !slices.ContainsFunc(k.selected, func(c candidate) bool { return !c.serves }) {
		k.selected = nil
	}
	return nil
}

// open creates the offered tools. The user may require one by its name.
func (k *toolset) open(ctx context.Context, p *ask.Prompter, wanted string) (err error) {
	var items []tool.Item
	for _, c := range k.selected {
		item, err := c.item(ctx)
		if err == nil {
			err = item.Tool.Definition().Check()
		}
		if _, told := errors.AsType[*failedBefore](err); told {
			continue
		}
		if err != nil {
			k.host.warn("tool %s is not offered: %v", c.config.Name, err)
			continue
		}
		items = append(items, item)
	}
	if wanted != "" && !hasTool(items, wanted) {
		return askedf("--tool-use %s: no such tool is offered", wanted)
	}
	k.present(items)
	o := tool.Options{Slow: k.host.Terminal.Slow, Now: k.host.Now}
	if k.approve = ask.NewToolGate(p, items); k.approve != nil {
		o.Gate = k.approve
	}
	k.executor, err = tool.NewExecutor(items, o)
	return err
}

// unwatched limits the time of a call if no user can see that it does not end.
const unwatched = 10 * time.Minute

// limit returns the time limit of a tool's calls, zero for none.
func (k *toolset) limit(name string) time.Duration {
	if k.host.Terminal.Watched() {
		return k.config.Timeout(name, 0)
	}
	return k.config.Timeout(name, unwatched)
}

func hasTool(items []tool.Item, name string) bool {
	return slices.ContainsFunc(items, func(it tool.Item) bool {
		return it.Tool.Definition().Name == name
	})
}

func (k *toolset) refresher() builtin.Refresher {
	return k.attachments.refresher(k.target.Stream())
}

// current returns a function that reads the current content of a file, to replace a stale read; nil
// if the model must ask before it reads a file.
func (k *toolset) current() func(uri string) (events.Resource, error) {
	ctx := context.Background() // reading a file does not block
	reads := slices.ContainsFunc(k.selected, func(c candidate) bool {
		if c.config.Name != "fs_read_file" || c.config.Source.Kind != tool.Builtin ||
			len(c.config.Access) > 0 {
			return false
		}
		it, err := c.item(ctx)
		return err == nil && it.Policy.Run == tool.Unattended
	})
	if !reads {
		return nil
	}
	var r builtin.Refresher
	return func(uri string) (events.Resource, error) {
		if r == nil {
			r = k.refresher()
		}
		return r.Refresh(ctx, uri)
	}
}

// candidates returns the tools that the configuration declares, followed by the other built-in
// ones.
func (k *toolset) candidates() []candidate {
	builtins := builtin.Items(k.files)
	var all []candidate
	declared := map[string]bool{}
	for _, name := range k.config.ToolNames() {
		declared[name] = true // even if invalid: its restrictions are then unknown
		c, t, err := k.toolConfig(name)
		if err != nil {
			if !k.quiet {
				k.host.warn("tool %s is not offered: %v", name, err)
			}
			continue
		}
		c.Policy.Timeout = k.limit(name)
		made := candidate{config: c, item: k.maker(c, t)}
		made.serves = c.Source.Kind == tool.Builtin && slices.Contains(servants(), name)
		all = append(all, made)
	}
	for _, it := range builtins {
		name := it.Tool.Definition().Name
		if declared[name] {
			continue
		}
		t := k.config.Tool(name)
		c, err := tool.ParseConfig(name, jsontext.Value(`{"source":"builtin"}`), t.Defaults)
		if err != nil {
			continue // faults of the defaults were reported for the others
		}
		c.Policy.Timeout = k.limit(name)
		all = append(all, candidate{config: c, item: func(context.Context) (tool.Item, error) {
			return k.builtin(c, name)
		}})
	}
	for _, name := range servants() {
		if declared[name] {
			continue
		}
		c := tool.Config{Name: name, Source: tool.Source{Kind: tool.Builtin}}
		c.Enable = tool.Enable{On: true, Toggle: tool.ToggleIfNamed}
		all = append(all, candidate{c, func(context.Context) (tool.Item, error) {
			return k.servant(name), nil
		}, true})
	}
	return all
}

// undeclared returns the built-in tools for which the configuration has no table of their own.
func (k *toolset) undeclared(declared []string) map[string]tool.Enable {
	all := map[string]tool.Enable{}
	for _, it := range builtin.Items(k.files) {
		all[it.Tool.Definition().Name] = tool.Enable{On: true}
	}
	for _, name := range servants() {
		all[name] = tool.Enable{On: true, Toggle: tool.ToggleIfNamed}
	}
	maps.DeleteFunc(all, func(name string, _ tool.Enable) bool {
		return slices.Contains(declared, name)
	})
	return all
}

// servants returns the built-in tools that help with the others, in the order in which they are
// offered. They do not depend on the conversation: a longer list of tools would invalidate the
// provider's cache.
func servants() []string { return []string{"describe_tools", "refresh_resource"} }

func (k *toolset) servant(name string) tool.Item {
	if name == "describe_tools" {
		return builtin.Describe(k.offered)
	}
	return builtin.Refresh(k.refresher())
}

// switched returns the changes of conversation.tools for flags that switch tools. A built-in tool
// that is not configured gets a table only when it is switched off: jp refuses to offer a built-in
// tool that it does not have.
func (k *toolset) switched(declared []string, switches []tool.Switch) map[string]any {
	tools := map[string]any{}
	for _, name := range declared {
		known, _, err := k.toolConfig(name)
		if err != nil {
			continue // such a tool is not offered
		}
		if on, ok := switchOf(switches, name, known.Enable); ok {
			tools[name] = map[string]any{"enable": on}
		}
	}
	for name, enable := range k.undeclared(declared) {
		if on, ok := switchOf(switches, name, enable); ok && !on {
			tools[name] = map[string]any{"source": "builtin", "enable": false}
		}
	}
	return tools
}

// switchOf returns how flags leave a tool, and whether one of them switches it.
func switchOf(switches []tool.Switch, name string, e tool.Enable) (on, ok bool) {
	free := e.Toggle == "" || e.Toggle == tool.ToggleAny
	for _, s := range switches {
		if s.Name == name || s.Name == "" && free {
			on, ok = s.On, true
		}
	}
	return on, ok
}

// toolConfig reads the table of a tool. The table of a built-in tool may omit its source, as jp
// allows: to ignore such a table would lift its restrictions.
func (k *toolset) toolConfig(name string) (tool.Config, jpconfig.Tool, error) {
	t := k.config.Tool(name)
	c, err := tool.ParseConfig(name, t.JSON, t.Defaults)
	ours := slices.Contains(servants(), name) || hasTool(builtin.Items(k.files), name)
	if errors.Is(err, tool.ErrNoSource) && ours {
		c.Source, err = tool.Source{Kind: tool.Builtin}, nil
	}
	return c, t, err
}

// maker returns a function that creates a declared tool.
func (k *toolset) maker(
	c tool.Config, t jpconfig.Tool,
) func(context.Context) (tool.Item, error) {
	switch c.Source.Kind {
	case tool.Builtin:
		return func(context.Context) (tool.Item, error) {
			name := cmp.Or(c.Source.Tool, c.Name)
			if slices.Contains(servants(), name) {
				return k.servant(name), nil
			}
			return k.builtin(c, name)
		}
	case tool.MCP:
		return func(ctx context.Context) (tool.Item, error) { return k.remote(ctx, c, t) }
	default:
		return func(context.Context) (tool.Item, error) {
			return k.local(c, t)
		}
	}
}

// errAccess says that access.fs would not be enforced.
var errAccess = errors.New("access.fs: only built-in tools for files and local tools know it")

// builtin returns a built-in tool with its configuration, restricted to the files that its
// access.fs grants.
func (k *toolset) builtin(c tool.Config, name string) (tool.Item, error) {
	rules, err := file.ParseAccess(c.Access)
	if err != nil {
		return tool.Item{}, err
	}
	files := k.files
	if len(rules) > 0 {
		if !strings.HasPrefix(name, "fs_") {
			return tool.Item{}, errAccess
		}
		if files.Tree, err = files.Tree.Restricted(rules); err != nil {
			return tool.Item{}, err
		}
	}
	for _, it := range builtin.Items(files) {
		if it.Tool.Definition().Name == name {
			it.Policy.Timeout = c.Policy.Timeout
			return k.tightened(it, c.Name), nil
		}
	}
	return tool.Item{}, askedf("there is no built-in tool %q", name)
}

// tightened gives a built-in tool the configured run mode. Foreign settings can only make it
// stricter, since the tool changes the user's files.
func (k *toolset) tightened(it tool.Item, name string) tool.Item {
	for _, at := range []string{name, "*"} {
		raw, origins, ok := k.config.Value("conversation", "tools", at, "run")
		if !ok {
			continue
		}
		var mode tool.Mode
		if exact.Unmarshal(raw, &mode) != nil || len(origins) == 0 ||
			origins[len(origins)-1].Layer == jpconfig.BuiltIn {
			return it
		}
		foreign := slices.ContainsFunc(origins, func(o jpconfig.Origin) bool { return o.Foreign })
		// The default that init writes for all tools is meant for those that start programs; and
		// every conversation repeats it.
		if foreign && (at == "*" || mode == tool.Unattended) {
			return it
		}
		it.Policy.Run = mode
		return it
	}
	return it
}

// offered returns the tools of this turn.
func (k *toolset) offered() []tool.Definition { return k.executor.Definitions() }

// remote connects to the server of a tool.
func (k *toolset) remote(ctx context.Context, c tool.Config, t jpconfig.Tool) (tool.Item, error) {
	if rules, err := file.ParseAccess(c.Access); err != nil || len(rules) > 0 {
		return tool.Item{}, errors.Join(err, errAccess)
	}
	if _, err := t.Unattended.Open(trust.WithoutAsking(k.gate)); err != nil {
		c.Policy.Run = tool.Ask
	}
	s, err := k.servers.session(ctx, c.Source.Server)
	if err != nil {
		return tool.Item{}, err
	}
	return s.Tool(c)
}

// present sets how the calls of the offered tools are shown.
func (k *toolset) present(items []tool.Item) {
	k.calls.Styles, k.calls.Formatters = map[string]tool.Style{}, map[string]tool.Formatter{}
	for _, c := range k.selected {
		k.calls.Styles[c.config.Name] = c.config.Style
	}
	for _, it := range items {
		f, ok := it.Tool.(tool.Formatter)
		if ok && it.Policy.Format == tool.Unattended {
			k.calls.Formatters[it.Tool.Definition().Name] = f
		}
	}
}
