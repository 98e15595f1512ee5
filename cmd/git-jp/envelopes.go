package main

import (
	"context"
	"fmt"
	"io"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/workspace"
)

// envelopes writes conversations as they are, a line each, for import in another workspace.
func (c exportCmd) envelopes(a *app, out io.Writer, entries []workspace.Entry) error {
	for _, e := range entries {
		conv, err := a.openWorkspace.Load(e)
		if err != nil {
			return err
		}
		err = envelope.Write(out, &envelope.Envelope{
			ID: e.ID, Local: e.Local, Archived: e.Partition == workspace.Archive,
			Details: conv.Details, BaseConfig: conv.BaseConfig, Stream: conv.Stream,
		}, a.openWorkspace.BlobsOf(e))
		if err != nil {
			return err
		}
	}
	return nil
}

// receive imports the envelopes of standard input, all or none.
func (c importCmd) receive(ctx context.Context, a *app, im *importer.Importer) error {
	all, err := envelope.Read(a.stdin)
	if err != nil {
		return err
	}
	made, err := im.Receive(ctx, all)
	if err != nil {
		return fmt.Errorf("import: %w; nothing was imported", err)
	}
	for _, m := range made {
		if a.JSON {
			err = a.printJSON(importRecord{
				Session: m.ID.String(), State: string(m.State), ID: m.ID.String(), Title: m.Title,
			})
		} else {
			err = printMade(a, m)
		}
		if err != nil {
			return err
		}
	}
	a.note("%s", render.Count(len(made), "conversation")+" imported")
	return nil
}
