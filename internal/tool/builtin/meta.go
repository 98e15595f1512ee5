package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
)

// A Refresher resolves a resource again, through the handler that made it.
type Refresher interface {
	Refresh(ctx context.Context, uri string) (events.Resource, error)
}

// Refresh returns refresh_resource. It is always offered with other tools, so that their list does
// not change when the conversation gets its first resource.
func Refresh(r Refresher) tool.Item {
	return reads(tool.Definition{
		Name:    "refresh_resource",
		Summary: "Fetch the current content of a resource that was attached to the conversation.",
		Description: "Attached resources are snapshots. Use this when the content may have\n" +
			"changed since, for example after a file was modified.",
		Examples: "```json\n{\"uri\": \"file:///project/src/main.rs\"}\n```",
		Parameters: []tool.Parameter{
			required(text("uri", "The URI of the resource, as it was attached.")),
		},
	}, func(ctx context.Context, a struct {
		URI string `json:"uri"`
	},
	) (tool.Result, error) {
		res, err := r.Refresh(ctx, a.URI)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Blocks: []events.Block{tool.Resource(res)}}, nil
	})
}

// Describe returns describe_tools, which shows what schemas leave out. The function returns the
// offered tools.
func Describe(offered func() []tool.Definition) tool.Item {
	return reads(tool.Definition{
		Name: "describe_tools",
		Summary: "Get the full description, parameters and examples of one or more tools. " +
			"Use it before the first use of a tool whose summary leaves questions.",
		Examples:   "```json\n{\"tools\": [\"fs_modify_file\"]}\n```",
		Parameters: []tool.Parameter{required(texts("tools", "The names of the tools."))},
	}, func(_ context.Context, a struct {
		Tools list `json:"tools"`
	},
	) (tool.Result, error) {
		return describe(offered(), a.Tools), nil
	})
}

func describe(offered []tool.Definition, names []string) tool.Result {
	byName, all := map[string]tool.Definition{}, []string{}
	for _, d := range offered {
		byName[d.Name], all = d, append(all, d.Name)
	}
	var parts []string
	failed := true
	for _, name := range names {
		d, ok := byName[name]
		if !ok {
			parts = append(parts, fmt.Sprintf("No tool has the name '%s'. Available tools: %s.",
				name, strings.Join(all, ", ")))
			continue
		}
		parts, failed = append(parts, describeOne(d)), false
	}
	r := tool.OK(strings.Join(parts, "\n\n"))
	r.IsError = failed
	return r
}

func describeOne(d tool.Definition) string {
	parts := []string{"# " + d.Name}
	for _, s := range []string{d.Summary, d.Description} {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	if len(d.Parameters) > 0 {
		parts = append(parts, "## Parameters\n\n"+describeParameters(d.Parameters, ""))
	} else if len(d.Schema) > 0 {
		parts = append(parts, "## Parameters\n\n```json\n"+string(d.Schema)+"\n```")
	}
	if s := strings.TrimSpace(d.Examples); s != "" {
		parts = append(parts, "## Examples\n\n"+s)
	}
	return strings.Join(parts, "\n\n")
}

func describeParameters(ps []tool.Parameter, indent string) string {
	var b strings.Builder
	for _, p := range ps {
		need := "optional"
		if p.Required {
			need = "required"
		}
		fmt.Fprintf(&b, "%s- `%s` (%s, %s)", indent, p.Name, strings.Join(p.Types, " or "), need)
		for i, s := range []string{p.Summary, p.Description, p.Examples} {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			if i == 0 {
				b.WriteString(": " + s)
			} else {
				b.WriteString("\n" + indent + "  " + strings.ReplaceAll(s, "\n", "\n"+indent+"  "))
			}
		}
		b.WriteByte('\n')
		inner := p.Properties
		if p.Items != nil {
			inner = p.Items.Properties
		}
		b.WriteString(describeParameters(inner, indent+"  "))
	}
	return b.String()
}
