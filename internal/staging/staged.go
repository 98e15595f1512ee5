package staging

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A StagedRecord is one conversation that is staged, in JSON.
type StagedRecord struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Path    string   `json:"path"` // "" when it was removed from the working tree
	Files   []string `json:"files"`
	Removed []string `json:"removed"`
	Blobs   int      `json:"blobs"`
	Bytes   int64    `json:"bytes"`
	DryRun  bool     `json:"dry_run"`
}

// A Stage stages conversations and prints what it did, or would do.
type Stage struct {
	Printer *render.Printer
	DryRun  bool
}

// Run stages what is requested. If findings refuse the stage, the error is a [*stage.RefusedError].
func (s Stage) Run(ctx context.Context, req stage.Request) (*stage.Plan, error) {
	progress, done := s.Printer.Stages("read")
	defer done()
	req.Progress = progress
	if !s.DryRun {
		res, err := stage.Run(ctx, req)
		return res.Plan, err
	}
	plan, err := stage.NewPlan(ctx, req)
	if err == nil && plan.Refused() {
		return nil, &stage.RefusedError{Report: plan.Report}
	}
	return plan, err
}

// Print prints what a plan stages.
func (s Stage) Print(plan *stage.Plan) error {
	p := s.Printer
	if p.JSON {
		return render.Records(p, lists.Map(plan.Items, s.record))
	}
	if len(plan.Items) == 0 {
		p.Note("nothing to stage")
	}
	var sum stage.Item
	for _, item := range plan.Items {
		if err := p.Line(s.sentence(item)); err != nil {
			return err
		}
		sum.Files = append(sum.Files, item.Files...)
		sum.Removed = append(sum.Removed, item.Removed...)
		sum.Blobs, sum.Bytes = sum.Blobs+item.Blobs, sum.Bytes+item.Bytes
	}
	if len(plan.Own) > 0 {
		p.Note("%s %s, which every clone needs", s.verb(), strings.Join(plan.Own, ", "))
	}
	if len(plan.Items) < 2 {
		return nil
	}
	_, err := fmt.Fprintf(p.Out, "%s: %s\n",
		render.Count(len(plan.Items), "conversation"), amounts(sum))
	return err
}

func (s Stage) record(item stage.Item) StagedRecord {
	return StagedRecord{
		ID: item.ID.String(), Title: item.Title, Path: item.Path,
		Files: append([]string{}, item.Files...), Removed: append([]string{}, item.Removed...),
		Blobs: item.Blobs, Bytes: item.Bytes, DryRun: s.DryRun,
	}
}

// verb returns the word for what happens to a conversation.
func (s Stage) verb() string {
	if s.DryRun {
		return "would stage"
	}
	return "staged"
}

func (s Stage) sentence(item stage.Item) string {
	text := fmt.Sprintf("%s %s", s.verb(), item.ID)
	if item.Title != "" {
		text += fmt.Sprintf(" %q", item.Title)
	}
	if item.Path == "" && len(item.Files) == 0 {
		return text + ": removed, " + render.Count(len(item.Removed), "path")
	}
	return text + ": " + amounts(item)
}

// amounts says how much the index gets and loses.
func amounts(item stage.Item) string {
	s := render.Count(len(item.Files)-item.Blobs, "file")
	if item.Blobs > 0 {
		s += fmt.Sprintf(", %s (%s)", render.Count(item.Blobs, "blob"), render.Bytes(item.Bytes))
	}
	if len(item.Removed) > 0 {
		s += fmt.Sprintf(", %s removed", render.Count(len(item.Removed), "path"))
	}
	return s
}

// Locked returns a function that reports who holds the lock of a conversation. The locks are read
// once.
func Locked(w *workspace.Workspace) func(events.ID) error {
	var held map[events.ID]error
	return func(id events.ID) error {
		if held == nil {
			held = make(map[events.ID]error)
			locks, err := w.Locks()
			if err != nil {
				return err
			}
			for _, l := range locks {
				held[l.ID] = l
			}
		}
		return held[id]
	}
}
