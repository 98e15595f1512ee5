package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type migrateCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; all by default."`
	To           string   `enum:"blobs,inline" default:"blobs" help:"blobs, or inline as today's jp reads it."`
	DryRun       bool     `short:"n" help:"Print what would change and what it would save."`
}

// Help explains the two forms.
func (migrateCmd) Help() string {
	return `--to blobs moves what tools returned and people attached into the store and leaves
references. --to inline takes it back into events.json, so that today's jp can read it.
Both ways a conversation says the same before and after, which is verified. A migration
can be interrupted and run again.

Migrating all conversations also sets storage.format for the workspace, so that new ones
are stored alike.`
}

// migratedRecord is one conversation in `migrate --json`.
type migratedRecord struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	To        string `json:"to"`
	DryRun    bool   `json:"dry_run"`
	Before    int64  `json:"bytes_before"`
	After     int64  `json:"bytes_after"`
	Contents  int    `json:"contents"`
	Blobs     int    `json:"new_blobs"`
	BlobBytes int64  `json:"new_blob_bytes"`
	Error     string `json:"error,omitempty"`
}

// Run migrates conversations.
func (c migrateCmd) Run(ctx context.Context, a *app) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	conf, err := a.configAt(root)
	if err != nil {
		return err
	}
	settings := conf.Settings()
	if len(c.Conversation) > 0 && !c.DryRun && settings.Storage.Format != config.Format(c.To) {
		return usagef("the workspace stores content as %q and would undo that at the next save; "+
			"migrate all conversations, or set storage.format first", settings.Storage.Format)
	}
	settings.Storage.Format = config.Format(c.To)
	env := a.workspaceEnv(settings)
	w, err := a.openAt(root, env)
	if err != nil {
		return err
	}
	a.openWorkspace = w
	finishCollection(a, w)
	results, err := c.migrate(ctx, a, w)
	if err := errors.Join(err, c.print(a, results)); err != nil {
		return err
	}
	return c.finish(a, conf, results)
}

func (c migrateCmd) migrate(
	ctx context.Context, a *app, w *workspace.Workspace,
) ([]repair.Migrated, error) {
	entries, problems, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		a.warn("%s", p)
	}
	if len(c.Conversation) > 0 {
		entries = nil
		err := forEach(a, c.Conversation, func(e workspace.Entry) error {
			entries = append(entries, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	bar := a.terminal.Progress("migrate", int64(len(entries)))
	defer bar.Done()
	return repair.Migrate(ctx, w, entries, repair.MigrateOptions{
		DryRun: c.DryRun, Progress: func() { bar.Add(1) },
	})
}

// finish makes the new form the workspace's own once everything has it.
func (c migrateCmd) finish(a *app, conf *config.Config, results []repair.Migrated) error {
	failed := false
	for _, r := range results {
		failed = failed || hasFailed(r)
	}
	if failed {
		return report.ErrProblems
	}
	is := conf.Settings().Storage.Format
	if c.DryRun || len(c.Conversation) > 0 || is == config.Format(c.To) {
		return nil
	}
	file := filepath.Join(a.openWorkspace.Dir(), config.OwnFile)
	if err := editConfig(file, func(data []byte) ([]byte, error) {
		return config.Set(data, file, "storage.format", c.To)
	}); err != nil {
		return err
	}
	a.note("set storage.format to %q in %s", c.To, filepath.Join(workspace.DirName, config.OwnFile))
	return nil
}

// hasFailed reports whether a conversation could not be migrated that should have been.
func hasFailed(r repair.Migrated) bool {
	return r.Err != nil && !errors.Is(r.Err, workspace.ErrLegacy)
}

func (c migrateCmd) print(a *app, results []repair.Migrated) error {
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range results {
			if err := lines.Write(c.record(r)); err != nil {
				return err
			}
		}
		return nil
	}
	table := render.NewTable(a.output(), render.Column{Head: "ID"},
		render.Column{Head: "BEFORE", Align: render.AlignRight},
		render.Column{Head: "AFTER", Align: render.AlignRight},
		render.Column{Head: "CONTENTS", Align: render.AlignRight},
		render.Column{Head: "NEW BLOBS", Align: render.AlignRight},
		render.Column{Head: "TITLE", Shrink: true})
	var sum repair.Migrated
	changed, failed := 0, 0
	for _, r := range results {
		if r.Err != nil {
			a.warn("%s: %v", r.Entry.Path, r.Err)
			if hasFailed(r) {
				failed++
			}
			continue
		}
		sum.Before, sum.After = sum.Before+r.Before, sum.After+r.After
		sum.Contents, sum.Blobs = sum.Contents+r.Contents, sum.Blobs+r.Blobs
		sum.BlobBytes += r.BlobBytes
		if r.Contents > 0 {
			changed++
		}
		if r.Contents > 0 || a.Verbose {
			table.Row(r.Entry.ID.String(), render.Bytes(r.Before), render.Bytes(r.After),
				fmt.Sprint(r.Contents), newBlobs(r), r.Title)
		}
	}
	if a.Quiet {
		return nil
	}
	if err := table.Write(a.stdout); err != nil {
		return err
	}
	summary := c.summary(sum, changed)
	if changed == 0 && failed > 0 {
		summary = "nothing was migrated: " + render.Count(failed, "conversation") + " failed"
	}
	_, err := fmt.Fprintln(a.stdout, summary)
	return err
}

func (c migrateCmd) record(r repair.Migrated) migratedRecord {
	rec := migratedRecord{
		ID: r.Entry.ID.String(), Title: r.Title, To: c.To, DryRun: c.DryRun,
		Before: r.Before, After: r.After, Contents: r.Contents, Blobs: r.Blobs,
		BlobBytes: r.BlobBytes,
	}
	if r.Err != nil {
		rec.Error = r.Err.Error()
	}
	return rec
}

func newBlobs(r repair.Migrated) string {
	if r.Blobs == 0 {
		return "-"
	}
	return fmt.Sprintf("%d (%s)", r.Blobs, render.Bytes(r.BlobBytes))
}

func (c migrateCmd) summary(sum repair.Migrated, conversations int) string {
	if sum.Contents == 0 {
		return "nothing to migrate"
	}
	verb := "migrated"
	if c.DryRun {
		verb = "would migrate"
	}
	s := fmt.Sprintf("%s %s of %s: %s of streams", verb, render.Count(sum.Contents, "content"),
		render.Count(conversations, "conversation"), render.Bytes(sum.Before))
	if c.To != string(config.Blobs) || sum.Before == 0 {
		return s + " -> " + render.Bytes(sum.After)
	}
	return s + fmt.Sprintf(" -> %s and %s of %s, %.0f %% of what it was", render.Bytes(sum.After),
		render.Count(sum.Blobs, "new blob"), render.Bytes(sum.BlobBytes),
		100*float64(sum.After+sum.BlobBytes)/float64(sum.Before))
}
