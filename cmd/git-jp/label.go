package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/workspace"
)

type labelCmd struct {
	Ls  labelLsCmd  `cmd:"" aliases:"l" default:"withargs" help:"List the labels of conversations."`
	Add labelAddCmd `cmd:"" aliases:"a,set" help:"Set labels."`
	Rm  labelRmCmd  `cmd:"" aliases:"r" help:"Remove labels."`
}

// Help says what labels are for.
func (labelCmd) Help() string {
	return `Labels are committed with the conversation, a merge keeps those of both sides, and
'git jp ls --label=<key>' lists the conversations that have one.

    git jp label add reviewed area=index
    git jp label rm --id 17838 area`
}

// labelled selects the conversations whose labels are meant.
type labelled struct {
	ID []string `short:"i" name:"id" sep:"none" placeholder:"CONVERSATION" help:"The conversation; the active one by default. Repeat for several."`
}

// refuseIDs refuses the id of a conversation where labels are expected: the active one would get
// it.
func (l labelled) refuseIDs(a *app, args []string) error {
	w, err := a.workspace()
	if err != nil || len(l.ID) > 0 {
		return err
	}
	for _, arg := range args {
		id, err := events.ParseID(arg)
		if err != nil {
			continue
		}
		if copies, err := w.Copies(id); err != nil || len(copies) > 0 {
			return cmp.Or(err, usagef(
				"%s is a conversation and no label: give it as --id %s", arg, arg))
		}
	}
	return nil
}

type labelLsCmd struct{ labelled }

// Run lists labels: a line for each.
func (c labelLsCmd) Run(a *app) error {
	return forEach(a, c.ID, func(e workspace.Entry) error {
		if a.JSON {
			return a.printRecord(e)
		}
		d, err := a.openWorkspace.LoadDetails(e)
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
			line := key
			if value := d.Labels[key]; value != "" {
				line += "=" + value
			}
			if len(c.ID) > 1 {
				line = e.ID.String() + "\t" + line
			}
			if err := a.terminal.Entry(line); err != nil {
				return err
			}
		}
		return nil
	})
}

type labelAddCmd struct {
	labelled

	Label []string `arg:"" placeholder:"KEY[=VALUE]" help:"Labels, as KEY or KEY=VALUE."`
}

// Run sets labels.
func (c labelAddCmd) Run(ctx context.Context, a *app) error {
	if err := c.refuseIDs(a, c.Label); err != nil {
		return err
	}
	labels, err := workspace.ParseLabels(c.Label)
	if err != nil {
		return err
	}
	return relabel(ctx, a, c.ID, func(d *events.Details) { workspace.SetLabels(d, labels) })
}

type labelRmCmd struct {
	labelled

	Key []string `arg:"" optional:"" help:"Keys of labels."`
	All bool     `help:"Remove all labels."`
}

// Run removes labels. Without a key it needs --all, so that an unset variable of a script does not
// remove all of them.
func (c labelRmCmd) Run(ctx context.Context, a *app) error {
	if (len(c.Key) == 0) != c.All {
		return usagef("expected \"<key> ...\" or --all")
	}
	if err := c.refuseIDs(a, c.Key); err != nil {
		return err
	}
	if err := forEach(a, c.ID, c.refuseAbsent(a)); err != nil {
		return err
	}
	return relabel(ctx, a, c.ID, func(d *events.Details) {
		maps.DeleteFunc(d.Labels, func(key, _ string) bool {
			return c.All || slices.Contains(c.Key, key)
		})
	})
}

// refuseAbsent returns a function that refuses a conversation without one of the labels, before
// any is changed.
func (c labelRmCmd) refuseAbsent(a *app) func(workspace.Entry) error {
	return func(e workspace.Entry) error {
		d, err := a.openWorkspace.LoadDetails(e)
		for _, key := range c.Key {
			if _, ok := d.Labels[key]; err == nil && !ok {
				err = &situation{
					fmt.Sprintf("%s has no label %q", e.ID, key), "'git jp label' lists labels",
				}
			}
		}
		return err
	}
}

// relabel changes the labels of conversations.
func relabel(ctx context.Context, a *app, names []string, change func(*events.Details)) error {
	return forEach(a, names, func(e workspace.Entry) error {
		var now string
		err := a.openWorkspace.UpdateDetails(ctx, e.ID, func(d *events.Details) error {
			change(d)
			now = listing.LabelText(d.Labels)
			return nil
		})
		if err != nil {
			return err
		}
		now = cmp.Or(now, " no labels")
		a.note("%s has%s", e.ID, a.output().Text(now))
		return a.printRecord(e)
	})
}
