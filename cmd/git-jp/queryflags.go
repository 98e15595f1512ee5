package main

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/tool"
)

// A turnsFlag is given without a value or with a number.
type turnsFlag struct {
	Given bool
	Last  int // 0 for all
}

// IsBool makes the value optional.
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

// An optionalFlag is given with or without a value.
type optionalFlag struct {
	Given bool
	Value string
}

// Decode implements kong's mapping of flags. The next word is the value, if there is one.
func (f *optionalFlag) Decode(k *kong.DecodeContext) error { //nolint:unparam // as kong has it
	f.Given = true
	if k.Scan.Peek().IsValue() {
		f.Value = k.Scan.Pop().String()
	}
	return nil
}

// A durationFlag is given without a value or as --flag=DURATION.
type durationFlag struct {
	Given bool
	Value time.Duration
}

// IsBool makes the value optional.
func (durationFlag) IsBool() bool { return true }

// Decode implements kong's mapping of flags.
func (f *durationFlag) Decode(k *kong.DecodeContext) error {
	f.Given = true
	if k.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := k.Scan.Pop().String()
	d, ok := parseAgo(text)
	if !ok {
		var err error
		if d, err = time.ParseDuration(text); err != nil || d < 0 {
			return errors.New("expected a duration like 36h or 3d")
		}
	}
	f.Value = d
	return nil
}

// A toolFlag collects one of the two flags for tools, with its positions on the command line: they
// count from left to right.
type toolFlag []placedTool

type placedTool struct {
	left int    // words that followed
	name string // "" for all
}

// Decode implements kong's mapping of flags.
func (f *toolFlag) Decode(k *kong.DecodeContext) error { //nolint:unparam // as kong has it
	t := placedTool{left: k.Scan.Len()}
	if k.Scan.Peek().IsValue() {
		t.name = k.Scan.Pop().String()
	}
	if t.name == "all" || t.name == "*" {
		t.name = ""
	}
	*f = append(*f, t)
	return nil
}

// options converts the flags of the question.
func (c queryCmd) options(a *app) (o prepare.Options, err error) {
	o = prepare.Options{
		Model: c.Model, Switches: c.switches(), Attach: c.Attach, MaxCost: c.MaxCost,
		KeepTitle: c.Title != "" || c.NoTitle, HideReasoning: c.HideReasoning,
		HideToolCalls: c.HideToolCalls, Explain: c.Explain, Resume: a.stdoutTerminal && !a.JSON,
	}
	if choice, ok := c.choice(); ok {
		o.Choice = &choice
	}
	flags := prepare.Flags{Model: c.Model, Params: c.Param, Reasoning: c.Reasoning}
	if c.NoReasoning {
		flags.Reasoning = "off"
	}
	o.Flags, err = flags.Values()
	return o, err
}

// switches returns the flags for tools, from left to right.
func (c queryCmd) switches() []tool.Switch {
	type placed struct {
		left int
		tool.Switch
	}
	var all []placed
	for _, t := range c.Tool {
		all = append(all, placed{t.left, tool.Switch{On: true, Name: t.name}})
	}
	for _, t := range c.NoTool {
		all = append(all, placed{t.left, tool.Switch{Name: t.name}})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.left, a.left) })
	return lists.Map(all, func(p placed) tool.Switch { return p.Switch })
}

// choice returns the choice of --tool-use, which counts for this turn only.
func (c queryCmd) choice() (llm.ToolChoice, bool) {
	switch {
	case c.NoToolUse, c.ToolUse.Value == "false":
		return llm.ToolChoice{Mode: llm.ChoiceNone}, true
	case !c.ToolUse.Given:
		return llm.ToolChoice{}, false
	case c.ToolUse.Value == "", c.ToolUse.Value == "true":
		return llm.ToolChoice{Mode: llm.ChoiceRequired}, true
	default:
		return llm.ToolChoice{Mode: llm.ChoiceTool, Name: c.ToolUse.Value}, true
	}
}
