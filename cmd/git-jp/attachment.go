package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

type attachmentCmd struct {
	Ls    attachmentLsCmd    `cmd:"" aliases:"l" default:"withargs" help:"List what is attached."`
	Add   attachmentAddCmd   `cmd:"" aliases:"a" help:"Attach something from the next question on."`
	Rm    attachmentRmCmd    `cmd:"" aliases:"r" help:"Remove an attachment."`
	Print attachmentPrintCmd `cmd:"" aliases:"p" help:"Print what attachments stand for now."`
}

// Help says what can be attached.
func (attachmentCmd) Help() string {
	return `What is attached is given to the model with the first question. It stands in the
configuration of the conversation, or in that of the workspace. An attachment is a path, a
pattern, the id of another conversation, or a URL:

    src/main.go          a file; a directory stands for all files below it
    'src/**/*.go'        a pattern; one that begins with ! takes files out again
    https://...          a web page
    cmd:git log -3       what a command prints
    jp-c17838...?all     another conversation
    mcp+server+uri       a resource of an MCP server`
}

// attachmentRecord is an attachment in the JSON of `attachment`.
type attachmentRecord struct {
	URL    string `json:"url"`
	Scheme string `json:"scheme"`
	// Approved is false where somebody else wrote it, and it does what has to be approved.
	Approved bool   `json:"approved"`
	Do       string `json:"do,omitempty"`
}

// The steps that a record may tell.
const (
	attached = "add"
	detached = "remove"
)

type attachmentLsCmd struct {
	ID string `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default, or the workspace."`
}

// Run lists attachments.
func (c attachmentLsCmd) Run(ctx context.Context, a *app) error {
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return err
	}
	conf, err := a.jpConfig(conv)
	if err != nil {
		return err
	}
	gate, err := approvedGate(a)
	if err != nil {
		return err
	}
	all, unapproved := conf.Attachments(), 0
	waiting, err := a.host().Waiting(ctx, a.openWorkspace, conf, gate)
	if err != nil {
		return err
	}
	warnOfConfig(a, conf)
	for _, at := range all {
		r := attachmentRecord{URL: at.Shown(), Scheme: at.Scheme}
		if r.Approved = !waiting[r.URL]; !r.Approved {
			unapproved++
		}
		if err := printAttachment(a, r); err != nil {
			return err
		}
	}
	switch {
	case len(all) == 0:
		a.note("nothing is attached")
	case unapproved > 0:
		a.note("%d of them not approved; 'git jp trust' asks", unapproved)
	}
	return nil
}

func printAttachment(a *app, r attachmentRecord) error {
	if a.JSON {
		return a.printJSON(r)
	}
	_, err := fmt.Fprintln(a.stdout, oneLine(a.output().Text(r.URL)))
	return err
}

// oneLine keeps what others wrote from looking like more than one entry.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// An attachmentError is an attachment that is not what the command needs.
type attachmentError struct{ arg, why string }

func (e *attachmentError) Error() string { return fmt.Sprintf("attachment %q: %s", e.arg, e.why) }

// Hints say what can be named.
func (*attachmentError) Hints() []string {
	return []string{"'git jp attachment' lists what is attached"}
}

type attachmentAddCmd struct {
	Attachment []string `arg:"" help:"Paths, patterns, ids of conversations, or URLs."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default."`
}

// Help says where it goes.
func (attachmentAddCmd) Help() string {
	return `The attachment becomes part of the conversation's configuration. What it stands for is
looked up with the next question. For you that is approved by it, also where it is a command
or an address; whoever else has the conversation is asked.`
}

// Run adds attachments to a conversation's configuration.
func (c attachmentAddCmd) Run(ctx context.Context, a *app) error {
	return changeAttachments(ctx, a, c.ID, func(list []jpconfig.Declared) (
		[]jpconfig.Declared, []string, error,
	) {
		urls, err := a.host().AttachmentURLs(ctx, a.openWorkspace, c.Attachment)
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
	}, attached)
}

type attachmentRmCmd struct {
	Attachment []string `arg:"" help:"Attachments, as 'ls' prints them or as 'add' takes them."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default."`
}

// Run takes attachments out of a conversation's configuration.
func (c attachmentRmCmd) Run(ctx context.Context, a *app) error {
	return changeAttachments(ctx, a, c.ID, func(list []jpconfig.Declared) (
		[]jpconfig.Declared, []string, error,
	) {
		var removed []string
		for _, arg := range c.Attachment {
			// What is gone cannot be looked up, but still be meant as it stands.
			names, err := a.host().AttachmentURLs(ctx, a.openWorkspace, []string{arg})
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
				return nil, nil, &attachmentError{arg, "it is not attached"}
			}
		}
		return list, removed, nil
	}, detached)
}

// changeAttachments gives a conversation another list of attachments. It replaces the
// list: what the workspace declares can be taken away for one conversation.
func changeAttachments(
	ctx context.Context, a *app, id string,
	change func([]jpconfig.Declared) (list []jpconfig.Declared, changed []string, err error),
	do string,
) error {
	e, err := a.findOr(id)
	if err != nil {
		return err
	}
	var changed []string
	err = a.openWorkspace.Update(ctx, e.ID, func(conv *workspace.Conversation) error {
		conf, err := a.jpConfig(conv)
		if err != nil {
			return err
		}
		list, which, err := change(conf.Declared())
		if changed = which; err != nil || len(changed) == 0 {
			return err
		}
		delta, err := jpconfig.AttachmentsDelta(list)
		if err != nil {
			return err
		}
		conv.Stream.Append(events.NewElement(
			a.now().UTC(), &events.ConfigDelta{Delta: delta}, events.Metadata{}))
		return nil
	})
	if err != nil {
		return err
	}
	return tellChanged(ctx, a, e, changed, do)
}

// tellChanged tells what was added or taken away.
func tellChanged(
	ctx context.Context, a *app, e workspace.Entry, changed []string, do string,
) error {
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return err
	}
	conf, err := a.jpConfig(conv)
	if err != nil {
		return err
	}
	gate, err := gateOf(a)
	if err != nil {
		return err
	}
	h := a.host()
	if do == attached {
		if err := h.ApproveAttached(ctx, a.openWorkspace, conf, gate, changed); err != nil {
			return err
		}
	}
	waiting, err := h.Waiting(ctx, a.openWorkspace, conf, trust.WithoutAsking(gate))
	if err != nil {
		return err
	}
	verb := map[string]string{attached: "attached", detached: "took away"}[do]
	for _, u := range changed {
		a.note("%s %s", verb, u)
		if a.JSON {
			r := attachmentRecord{
				URL: u, Scheme: events.URIScheme(u), Approved: !waiting[u], Do: do,
			}
			if err := a.printJSON(r); err != nil {
				return err
			}
		}
	}
	if len(changed) == 0 {
		a.note("%s has it already", e.ID)
	}
	return nil
}

type attachmentPrintCmd struct {
	Attachment []string `arg:"" optional:"" help:"Attachments; all that are declared by default."`
	ID         string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation; the active one by default, or the workspace."`
}

// Help says what has to be approved.
func (attachmentPrintCmd) Help() string {
	return `Looks attachments up and prints their text, each behind its URI when there are several.
Binary content is printed with --json only. What the configuration declares and somebody else
may have written has to be approved where it runs a command, reaches a host or reads outside
of the workspace, whether it is named here or not.`
}

// Run resolves attachments and prints them.
func (c attachmentPrintCmd) Run(ctx context.Context, a *app) (err error) {
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return err
	}
	conf, err := a.jpConfig(conv)
	if err != nil {
		return err
	}
	gate, err := gateOf(a)
	if err != nil {
		return err
	}
	open, err := a.host().OpenAttachments(
		ctx, a.openWorkspace, a.openConfig.Settings().Network, conf, gate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	urls, err := open.URLs(c.Attachment)
	if err != nil {
		return err
	}
	resources, failures := open.Resolve(ctx, urls)
	for _, res := range resources {
		if err := printResource(a, res, len(resources) > 1); err != nil {
			return err
		}
	}
	switch {
	case len(failures) == 1 && len(urls) == 1:
		return failures[0]
	case len(failures) > 0:
		for _, f := range failures {
			a.warn("%v", f)
		}
		return fmt.Errorf("print %s: %d failed", plural(len(urls), "attachment"), len(failures))
	case len(resources) == 0:
		a.note("nothing is attached")
	}
	return nil
}

// printResource prints what an attachment stands for.
func printResource(a *app, res events.Resource, titled bool) error {
	data, err := res.Content.Bytes(nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", res.URI, err)
	}
	if a.JSON {
		return a.printJSON(newResourceRecord(res, data))
	}
	if titled {
		uri := oneLine(a.output().Text(res.URI))
		if _, err := fmt.Fprintf(a.stdout, "==> %s\n", uri); err != nil {
			return err
		}
	}
	if !file.IsText(data) {
		a.note("%s: %s of %s, which is no text", res.URI, plural(len(data), "byte"), res.MIMEType)
		return nil
	}
	text := a.output().Text(string(data))
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(a.stdout, text)
	return err
}

// resourceRecord is a resource in the JSON of `attachment print`: a content of
// docs/json.md.
type resourceRecord struct {
	Type     string `json:"type"`
	URI      string `json:"uri"`
	MIMEType string `json:"mime_type,omitempty"`
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
	Text     string `json:"text,omitempty"`
	Base64   []byte `json:"base64,omitempty"`
}

func newResourceRecord(res events.Resource, data []byte) resourceRecord {
	r := resourceRecord{
		Type: "resource", URI: res.URI, MIMEType: res.MIMEType,
		SHA256: blobs.Sum(data).String(), Size: int64(len(data)),
	}
	if utf8.Valid(data) {
		r.Text = string(data)
	} else {
		r.Base64 = data
	}
	return r
}
