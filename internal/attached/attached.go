package attached

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Desk manages the attachments of a workspace and of its conversations.
type Desk struct {
	Host      *prepare.Host
	Workspace *workspace.Workspace
	Gate      trust.Gate
	Network   config.Network
}

// A Record is an attachment in JSON.
type Record struct {
	URL    string `json:"url"`
	Scheme string `json:"scheme"`
	// Approved is false for a foreign attachment that needs an approval and has none.
	Approved bool   `json:"approved"`
	Do       string `json:"do,omitempty"` // the change made to it
}

func (d *Desk) printer() *render.Printer { return &d.Host.Terminal.Printer }

// config returns the configuration of a conversation, or of the workspace alone if conv is nil.
func (d *Desk) config(conv *workspace.Conversation) (*jpconfig.Config, error) {
	return jpconfig.Load(d.Host.Sources(d.Workspace, conv))
}

// List prints the attachments of a conversation, or those of the workspace for every conversation
// if conv is nil.
func (d *Desk) List(ctx context.Context, conv *workspace.Conversation) error {
	conf, err := d.config(conv)
	if err != nil {
		return err
	}
	all, unapproved := conf.Attachments(), 0
	waiting, err := d.Host.Waiting(ctx, d.Workspace, conf, trust.WithoutAsking(d.Gate))
	if err != nil {
		return err
	}
	p := d.printer()
	for _, w := range conf.Warnings() {
		p.Warn("%v", w)
	}
	for _, at := range all {
		r := Record{URL: at.Shown(), Scheme: at.Scheme}
		if r.Approved = !waiting[r.URL]; !r.Approved {
			unapproved++
		}
		if p.JSON {
			err = p.Records(r)
		} else {
			err = p.Entry(r.URL)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(all) == 0:
		p.Note("nothing is attached")
	case unapproved > 0:
		p.Note("%d of them not approved; 'git jp trust' asks", unapproved)
	}
	return nil
}

// Print resolves and prints the attachments for the arguments, or all of them without arguments.
func (d *Desk) Print(
	ctx context.Context, conv *workspace.Conversation, args []string,
) (err error) {
	conf, err := d.config(conv)
	if err != nil {
		return err
	}
	open, err := d.Host.OpenAttachments(ctx, d.Workspace, d.Network, conf, d.Gate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	urls, err := open.URLs(args)
	if err != nil {
		return err
	}
	p := d.printer()
	resources, failures := open.Resolve(ctx, urls)
	for _, res := range resources {
		if err := printResource(p, res, len(resources) > 1); err != nil {
			return err
		}
	}
	switch {
	case len(failures) == 1 && len(urls) == 1:
		return failures[0]
	case len(failures) > 0:
		for _, f := range failures {
			p.Warn("%v", f)
		}
		return fmt.Errorf("print %s: %d failed",
			render.Count(len(urls), "attachment"), len(failures))
	case len(resources) == 0:
		p.Note("nothing is attached")
	}
	return nil
}

// printResource prints the content of a resource.
func printResource(p *render.Printer, res events.Resource, titled bool) error {
	data, err := res.Content.Bytes(nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", res.URI, err)
	}
	if p.JSON {
		return p.Records(newResourceRecord(res, data))
	}
	if titled {
		if err := p.Entry("==> " + res.URI); err != nil {
			return err
		}
	}
	if !file.IsText(data) {
		unit := "bytes"
		if len(data) == 1 {
			unit = "byte"
		}
		p.Note("%s: %d %s of %s, which is not text", res.URI, len(data), unit, res.MIMEType)
		return nil
	}
	text := p.Output.Text(string(data))
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(p.Out, text)
	return err
}

// A resourceRecord is a resource in JSON: a content of docs/json.md.
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
