package upkeep

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A MigratedRecord is one conversation that was migrated, in JSON.
type MigratedRecord struct {
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

// A Migration converts conversations into another form, that of the workspace as it was opened.
type Migration struct {
	Printer *render.Printer
	To      config.Format
	DryRun  bool
}

// Run migrates conversations and prints the result for each. It reports whether some could not be
// migrated that should have been.
func (m Migration) Run(
	ctx context.Context, w *workspace.Workspace, entries []workspace.Entry,
) (failed bool, err error) {
	bar := m.Printer.Progress("migrate", int64(len(entries)))
	results, err := repair.Migrate(ctx, w, entries, repair.MigrateOptions{
		DryRun: m.DryRun, Progress: func() { bar.Add(1) },
	})
	bar.Done()
	for _, r := range results {
		failed = failed || hasFailed(r)
	}
	return failed, errors.Join(err, m.print(results))
}

// hasFailed reports whether a conversation could not be migrated that should have been.
func hasFailed(r repair.Migrated) bool {
	return r.Err != nil && !errors.Is(r.Err, workspace.ErrLegacy)
}

func (m Migration) print(results []repair.Migrated) error {
	p := m.Printer
	if p.JSON {
		return render.Records(p, lists.Map(results, m.record))
	}
	table := render.NewTable(p.Output, render.Column{Head: "ID"},
		render.Column{Head: "BEFORE", Align: render.AlignRight},
		render.Column{Head: "AFTER", Align: render.AlignRight},
		render.Column{Head: "REFERENCES", Align: render.AlignRight},
		render.Column{Head: "NEW BLOBS", Align: render.AlignRight},
		render.Column{Head: "TITLE", Shrink: true})
	var sum repair.Migrated
	changed, failed := 0, 0
	for _, r := range results {
		if r.Err != nil {
			p.Warn("%s: %v", r.Entry.Path, r.Err)
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
		if r.Contents > 0 || p.Verbose {
			table.Row(r.Entry.ID.String(), render.Bytes(r.Before), render.Bytes(r.After),
				fmt.Sprint(r.Contents), newBlobs(r), r.Title)
		}
	}
	if p.Quiet {
		return nil
	}
	if err := table.Write(p.Out); err != nil {
		return err
	}
	summary := m.summary(sum, changed)
	if changed == 0 && failed > 0 {
		summary = "nothing was migrated: " + render.Count(failed, "conversation") + " failed"
	}
	_, err := fmt.Fprintln(p.Out, summary)
	return err
}

func (m Migration) record(r repair.Migrated) MigratedRecord {
	rec := MigratedRecord{
		ID: r.Entry.ID.String(), Title: r.Title, To: string(m.To), DryRun: m.DryRun,
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

func (m Migration) summary(sum repair.Migrated, conversations int) string {
	if sum.Contents == 0 {
		return "nothing to migrate"
	}
	verb := "migrated"
	if m.DryRun {
		verb = "would migrate"
	}
	s := fmt.Sprintf("%s %s of %s: %s of streams", verb, render.Count(sum.Contents, "reference"),
		render.Count(conversations, "conversation"), render.Bytes(sum.Before))
	if m.To != config.Blobs || sum.Before == 0 {
		return s + " -> " + render.Bytes(sum.After)
	}
	return s + fmt.Sprintf(" -> %s and %s of %s, %.0f %% of what it was", render.Bytes(sum.After),
		render.Count(sum.Blobs, "new blob"), render.Bytes(sum.BlobBytes),
		100*float64(sum.After+sum.BlobBytes)/float64(sum.Before))
}
