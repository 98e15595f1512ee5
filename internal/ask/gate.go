package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// A ToolGate asks the user whether a call may run, and whether the model is given its result.
type ToolGate struct {
	prompter *Prompter
	asked    map[string]bool // tools that need approval
	always   map[string]bool // answers for the rest of the turn, by tool
}

// NewToolGate returns a gate for tools, or nil if p is nil: then calls that need approval are
// refused.
func NewToolGate(p *Prompter, items []tool.Item) *ToolGate {
	if p == nil {
		return nil
	}
	g := &ToolGate{prompter: p, always: map[string]bool{}, asked: map[string]bool{}}
	for _, it := range items {
		switch it.Policy.Run {
		case tool.Unattended, tool.Skip:
		default:
			g.asked[it.Tool.Definition().Name] = true
		}
	}
	return g
}

// Asks reports whether the gate will ask about a call of this tool, and so shows the call.
func (g *ToolGate) Asks(name string) bool {
	if g == nil {
		return false
	}
	_, known := g.always[name]
	return g.asked[name] && !known
}

// Limits for the arguments in a question, and for the change that it shows, in bytes.
const (
	shownArguments = 600
	shownChange    = 8 << 10
)

// Admit implements [tool.Gate].
func (g *ToolGate) Admit(ctx context.Context, r tool.Request) (tool.Decision, error) {
	cautious := r.Caution.Subjects != nil
	if run, ok := g.always[r.Call.Name]; ok && (!run || !cautious) {
		return tool.Decision{Run: run}, nil
	}
	shown := clippedArguments(r)
	switch {
	case r.Caution.Change != "":
		shown = g.change(r)
	case r.Formatter != nil && r.Policy.Format == tool.Unattended:
		shown = formatted(ctx, r)
	}
	edit := r.Policy.Run == tool.Edit
	for {
		d, format, err := g.ask(ctx, r, shown, edit)
		if !format {
			return d, ended(ctx, err)
		}
		// After the question is closed: the formatter may need approval.
		shown, edit = formatted(ctx, r), false
	}
}

// ask asks the question once. It returns format if the user wants the arguments formatted first.
func (g *ToolGate) ask(
	ctx context.Context, r tool.Request, shown string, edit bool,
) (_ tool.Decision, format bool, _ error) {
	s, err := g.prompter.Open(ctx)
	if err != nil {
		return tool.Decision{}, false, err
	}
	defer func() { _ = s.Close() }()
	if edit {
		if d, ok, err := edited(ctx, s, r); ok || err != nil {
			return d, false, err
		}
	}
	fmt.Fprintln(s, shown)
	return g.choose(ctx, s, r)
}

// ended returns the error of a question without an answer if it ends the query. A terminal that is
// gone is no such error; it means no.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return noAnswer(err)
}

func (g *ToolGate) choose(
	ctx context.Context, s *Prompt, r tool.Request,
) (_ tool.Decision, format bool, _ error) {
	menu := "[y]es, [Y]es for this turn, [n]o, [N]o for this turn, no and say [w]hy, [e]dit"
	if r.Formatter != nil && r.Policy.Format != tool.Unattended {
		menu += ", [f]ormat"
	}
	name := r.Call.Name
	if r.Origin != "" {
		name += " (" + r.Origin + ")"
	}
	for {
		answer, err := s.Key("Run %s? %s, [p]rint: ", name, menu)
		if err != nil {
			return tool.Decision{}, false, err
		}
		switch answer {
		case "y", "yes":
			return tool.Decision{Run: true}, false, nil
		case "Y", "a", "always":
			g.always[r.Call.Name] = true
			return tool.Decision{Run: true}, false, nil
		case "n", "no":
			return tool.Decision{}, false, nil
		case "N":
			g.always[r.Call.Name] = false
			return tool.Decision{}, false, nil
		case "w", "r", "why":
			why, err := s.Line("Tell the model: ")
			if why != "" {
				why = "Tool skipped by user: " + why
			}
			return tool.Decision{Reply: why}, false, err
		case "e", "edit":
			if d, ok, err := edited(ctx, s, r); ok || err != nil {
				return d, false, err
			}
		case "f", "format":
			if r.Formatter != nil {
				return tool.Decision{}, true, nil
			}
		case "p", "print":
			all := strings.TrimLeft(r.Caution.Change+"\n"+pretty(r.Call.Arguments), "\n")
			s.Say("%s\n", render.Exact(all))
		}
	}
}

// change shows a call that changes files in a question: the diff, and the reason why it needs
// approval if other programs obey these files.
func (g *ToolGate) change(r tool.Request) string {
	change := r.Caution.Change
	if len(change) > shownChange {
		change = fmt.Sprintf("%s\n… (%d bytes, [p] prints all)\n",
			tool.Head([]byte(change), shownChange), len(change))
	}
	head := r.Call.Name
	if r.Caution.Subjects != nil {
		head = fmt.Sprintf("%s changes %s: %s", r.Call.Name,
			strings.Join(r.Caution.Subjects, ", "), r.Caution.Reason)
	}
	o := g.prompter.terminal.device()
	return o.Line(head) + "\n" + o.Patch(strings.TrimRight(change, "\n"))
}

// clippedArguments shows a call in a question: one line for each argument, strings without JSON's
// quotes and escapes.
func clippedArguments(r tool.Request) string {
	members, err := tool.Members(r.Call.Arguments)
	if err != nil {
		return render.Exact(r.Call.Name + " " + string(r.Call.Arguments))
	}
	var b strings.Builder
	b.WriteString(r.Call.Name)
	for _, m := range members {
		var text string
		if json.Unmarshal(m.Value, &text) != nil {
			text = string(m.Value)
		}
		if strings.Contains(text, "\n") {
			text = "\n" + strings.TrimRight(text, "\n")
		}
		fmt.Fprintf(&b, "\n  %s: %s", m.Name, strings.ReplaceAll(text, "\n", "\n    "))
	}
	shown := b.String()
	if len(shown) > shownArguments {
		shown = fmt.Sprintf("%s… (%d bytes, [p] prints all)",
			strings.ToValidUTF8(shown[:shownArguments], ""), len(r.Call.Arguments))
	}
	return render.Exact(shown)
}

// formatted returns the output of the tool's formatter for the arguments, else the arguments.
func formatted(ctx context.Context, r tool.Request) string {
	text, err := r.Formatter.FormatArguments(ctx, r.Call)
	if err != nil {
		return render.Exact(
			fmt.Sprintf("%s (%v):\n%s", r.Call.Name, err, pretty(r.Call.Arguments)))
	}
	return render.Sanitize(r.Call.Name + ":\n" + strings.TrimRight(text, "\n"))
}

// pretty returns indented JSON.
func pretty(v []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}

// edited lets the user edit the arguments, and repeats that until they are an object. If no change
// was saved, ok is false, and the question is asked as if nothing had been edited.
func edited(
	ctx context.Context, s *Prompt, r tool.Request,
) (_ tool.Decision, ok bool, _ error) {
	text := pretty(r.Call.Arguments) + "\n"
	for {
		after, err := s.Edit(ctx, r.Call.Name+".json", text)
		if err != nil {
			s.Say("%v\n", err)
			return tool.Decision{}, false, nil
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(after), &object) == nil && object != nil {
			args := jsontext.Value(strings.TrimSpace(after))
			return tool.Decision{Run: true, Arguments: args}, true, nil
		}
		text = after
		answer, err := s.Key("That is not a JSON object. [e]dit again, [d]rop the edit: ")
		if err != nil || answer != "e" {
			return tool.Decision{}, false, err
		}
	}
}

// Deliver implements [tool.Gate].
func (g *ToolGate) Deliver(
	ctx context.Context, r tool.Request, result tool.Result,
) (tool.Result, error) {
	s, err := g.prompter.Open(ctx)
	if err != nil {
		return withheld(), ended(ctx, err)
	}
	defer func() { _ = s.Close() }()
	if r.Policy.Result == tool.Edit {
		if after, ok := editedResult(ctx, s, r, result); ok {
			return after, nil
		}
	}
	for {
		answer, err := s.Key("Give the result of %s (%d bytes) to the model? "+
			"[y]es, [n]o, [e]dit, [p]rint: ", r.Call.Name, len(textOf(result)))
		if err != nil {
			return withheld(), ended(ctx, err)
		}
		switch answer {
		case "y", "yes":
			return result, nil
		case "n", "no":
			return withheld(), nil
		case "e", "edit":
			if after, ok := editedResult(ctx, s, r, result); ok {
				return after, nil
			}
		case "p", "print":
			s.Say("%s\n", strings.TrimRight(textOf(result), "\n"))
		}
	}
}

func withheld() tool.Result {
	r := tool.OK("Result delivery skipped by user.")
	r.Person.Did = tool.Withheld
	return r
}

// editedResult lets the user edit the result for the model; ok is false if no change was saved.
func editedResult(
	ctx context.Context, s *Prompt, r tool.Request, result tool.Result,
) (tool.Result, bool) {
	after, err := s.Edit(ctx, r.Call.Name+".txt", textOf(result))
	if err != nil {
		s.Say("%v\n", err)
		return tool.Result{}, false
	}
	result.Blocks, result.Err = []events.Block{tool.Text(after)}, nil
	result.Person.Did = tool.EditedResult
	return result, true
}

// textOf returns the text of a result.
func textOf(r tool.Result) string {
	var parts []string
	for _, b := range r.Blocks {
		content := b.Content
		if b.Resource != nil {
			content = b.Resource.Content
			if f := b.Resource.Formatted; f != nil {
				content = *f
			}
		}
		if data, err := content.Bytes(nil); err == nil {
			parts = append(parts, string(data))
		}
	}
	return strings.Join(parts, "\n\n")
}
