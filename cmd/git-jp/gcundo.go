package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/render"
)

type gcUndoCmd struct {
	Name      string `arg:"" name:"run" optional:"" help:"The run; the last one by default."`
	List      bool   `help:"List the runs that can be undone."`
	UserLocal bool   `help:"Undo a run of the user-local store."`
}

// Help says what comes back.
func (gcUndoCmd) Help() string {
	return `Brings back the files of a run and their entries in the index. Their grace period begins
again.`
}

// runRecord is a run in the JSON of `gc undo`.
type runRecord struct {
	Run      string   `json:"run"`
	Blobs    int      `json:"blobs"`
	Bytes    int64    `json:"bytes"`
	Restored []string `json:"restored"`
	Kept     []string `json:"kept"`
	Indexed  []string `json:"indexed"`
}

// Run brings back, or lists.
func (c gcUndoCmd) Run(ctx context.Context, a *app) error {
	o, err := a.collector(ctx, c.UserLocal)
	if err != nil {
		return err
	}
	if c.List {
		return c.list(a, o)
	}
	res, err := gc.Undo(ctx, o, c.Name)
	if err != nil {
		return err
	}
	if a.JSON {
		r := runRecord{Run: res.Run, Blobs: len(res.Blobs), Restored: []string{}, Kept: []string{}}
		for _, h := range res.Blobs {
			r.Restored = append(r.Restored, h.String())
		}
		for _, h := range res.Kept {
			r.Kept = append(r.Kept, h.String())
		}
		r.Indexed = append([]string{}, res.Indexed...)
		return a.printJSON(r)
	}
	_, err = fmt.Fprintf(a.stdout, "brought back %s of run %s\n",
		render.Count(len(res.Blobs), "blob"), res.Run)
	for _, h := range res.Kept {
		a.warn("%s stays in the quarantine: something else is in its place", h)
	}
	return err
}

func (c gcUndoCmd) list(a *app, o gc.Options) error {
	past, err := gc.Runs(o)
	if err != nil {
		return err
	}
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, p := range past {
			err := lines.Write(runRecord{
				Run: p.Run, Blobs: p.Blobs, Bytes: p.Bytes,
				Restored: []string{}, Kept: []string{}, Indexed: []string{},
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	table := render.NewTable(a.output(), render.Column{Head: "RUN"},
		render.Column{Head: "BLOBS", Align: render.AlignRight},
		render.Column{Head: "SIZE", Align: render.AlignRight}, render.Column{Head: "WHEN"})
	for _, p := range past {
		table.Row(p.Run, fmt.Sprint(p.Blobs), render.Bytes(p.Bytes), render.Ago(a.now(), p.Started))
	}
	return table.Write(a.stdout)
}
