package main

import (
	"io"

	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/workspace"
)

// envelopes writes conversations unchanged, a line each, for import in another workspace.
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
