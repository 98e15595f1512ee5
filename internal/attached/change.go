package attached

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Error says that an argument names no suitable attachment.
type Error struct{ arg, why string }

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("attachment %q: %s", e.arg, e.why) }

// Hints say where to find the names.
func (*Error) Hints() []string { return []string{"'git jp attachment' lists what is attached"} }

// A change returns a new list of attachments, and those that were added or removed.
type change func([]jpconfig.Declared) (list []jpconfig.Declared, changed []string, err error)

// Add adds attachments to a conversation's configuration, and approves them.
func (d *Desk) Add(ctx context.Context, e workspace.Entry, args []string) error {
	conf, added, err := d.change(ctx, e, func(list []jpconfig.Declared) (
		[]jpconfig.Declared, []string, error,
	) {
		urls, err := d.Host.AttachmentURLs(ctx, d.Workspace, args)
		if err != nil {
			return nil, nil, err
		}
		var added []string
		for _, u := range urls {
			if !slices.ContainsFunc(list, func(d jpconfig.Declared) bool { return d.URL == u }) {
				list, added = append(list, jpconfig.Declare(u)), append(added, u)
			}
		}
		return list, added, nil
	})
	if err != nil {
		return err
	}
	if err := d.Host.ApproveAttached(ctx, d.Workspace, conf, d.Gate, added); err != nil {
		return err
	}
	if len(added) == 0 {
		d.printer().Note("%s has it already", e.ID)
	}
	return d.report(ctx, conf, added, "attached", "add")
}

// Remove removes attachments from a conversation's configuration.
func (d *Desk) Remove(ctx context.Context, e workspace.Entry, args []string) error {
	conf, removed, err := d.change(ctx, e, func(list []jpconfig.Declared) (
		[]jpconfig.Declared, []string, error,
	) {
		var removed []string
		for _, arg := range args {
			// An attachment whose file is gone has no resolved name, but may be named exactly as
			// declared.
			names, err := d.Host.AttachmentURLs(ctx, d.Workspace, []string{arg})
			if err != nil {
				names = nil
			}
			names = append(names, arg)
			before := len(list)
			list = slices.DeleteFunc(slices.Clone(list), func(d jpconfig.Declared) bool {
				if !slices.Contains(names, d.URL) {
					return false
				}
				removed = append(removed, d.URL)
				return true
			})
			if len(list) == before {
				return nil, nil, &Error{arg, "it is not attached"}
			}
		}
		return list, removed, nil
	})
	if err != nil {
		return err
	}
	return d.report(ctx, conf, removed, "removed", "remove")
}

// change replaces the list of attachments of a conversation, and returns its new configuration. It
// replaces the list so that attachments of the workspace can be removed from one conversation.
func (d *Desk) change(
	ctx context.Context, e workspace.Entry, f change,
) (conf *jpconfig.Config, changed []string, err error) {
	err = d.Workspace.Update(ctx, e.ID, func(conv *workspace.Conversation) error {
		conf, err := d.config(conv)
		if err != nil {
			return err
		}
		list, which, err := f(conf.Declared())
		if changed = which; err != nil || len(changed) == 0 {
			return err
		}
		delta, err := jpconfig.AttachmentsDelta(list)
		if err != nil {
			return err
		}
		conv.Stream.Append(events.NewElement(
			d.Host.Now().UTC(), &events.ConfigDelta{Delta: delta}, events.Metadata{}))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	conv, err := d.Workspace.Load(e)
	if err != nil {
		return nil, nil, err
	}
	conf, err = d.config(conv)
	return conf, changed, err
}

// report prints the attachments that were added or removed.
func (d *Desk) report(
	ctx context.Context, conf *jpconfig.Config, changed []string, did, do string,
) error {
	waiting, err := d.Host.Waiting(ctx, d.Workspace, conf, trust.WithoutAsking(d.Gate))
	if err != nil {
		return err
	}
	p := d.printer()
	for _, u := range changed {
		p.Note("%s %s", did, u)
		if p.JSON {
			r := Record{URL: u, Scheme: events.URIScheme(u), Approved: !waiting[u], Do: do}
			if err := p.Records(r); err != nil {
				return err
			}
		}
	}
	return nil
}
