package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// A changeRecord is what `compact --diff --json` prints for each thing that a model is given
// otherwise.
type changeRecord struct {
	ID     string   `json:"id"`
	Turn   int      `json:"turn"`
	TurnTo int      `json:"turn_to"`
	What   string   `json:"what"`
	Tool   string   `json:"tool"`
	Call   string   `json:"call"`
	URI    string   `json:"uri"`
	By     []string `json:"by"`
	Before *int     `json:"bytes_before"` // null for nothing
	After  *int     `json:"bytes_after"`
	Patch  string   `json:"patch"`
}

// tellChanges prints what strategies would change of what a model is given.
func (c compactCmd) tellChanges(
	ctx context.Context, a *app, r *prepare.Compaction, out *compact.Result,
) error {
	warnOfSteps(a, out.Report)
	tellTangents(a, out.Report)
	if !out.Report.Changed() {
		a.note("%s", idle(out.Report))
		return nil
	}
	var pruned []string
	for _, s := range out.Report.Steps {
		pruned = append(pruned, s.Pruned...)
	}
	return c.showChanges(ctx, a, r, out.Stages, pruned)
}

// showChanges prints what a model would be given otherwise after all stages of a compaction, and
// without some tools.
func (c compactCmd) showChanges(
	ctx context.Context, a *app, r *prepare.Compaction, stages []compact.Stage, pruned []string,
) error {
	root := a.openWorkspace.Root()
	if a.JSON {
		root = "" // a record says $WORKSPACE, wherever it was made
	}
	o := r.Dedup()
	o.URI = func(uri string) string { return expanded(root, uri) }
	changes, err := query.Changes(r.Conversation.Stream, stages, o, r.Contents())
	if err != nil {
		return fmt.Errorf("compare what a model is given of %s: %w", r.Conversation.ID, err)
	}
	changes = append(query.WithoutTools(pruned), changes...) // tools stand before everything
	if len(changes) == 0 {
		a.note("a model would be given the same")
	}
	if err := c.warnOfSummary(a, r, changes); err != nil {
		return err
	}
	return a.paged(ctx, func(out io.Writer) error {
		for _, ch := range changes {
			if err := printChange(a, out, r.Conversation.ID, ch, root); err != nil {
				return err
			}
		}
		return nil
	})
}

// warnOfSummary says that the summary is another one when somebody is asked for it.
func (c compactCmd) warnOfSummary(a *app, r *prepare.Compaction, changes []query.Change) error {
	made := slices.ContainsFunc(changes, func(ch query.Change) bool {
		return ch.What == query.PieceSummary && ch.Is != nil
	})
	if !made {
		return nil
	}
	id, err := r.SummaryModel(c.Model)
	if err == nil && id != "" {
		a.warn("the summary shown is made by rules; the one that is kept, %s will write", id)
	}
	return err
}

// expanded is a URI for people, or, without a root, for programs.
func expanded(root, uri string) string {
	if root == "" {
		return uri
	}
	return file.Expand(root, uri)
}

func printChange(a *app, out io.Writer, id events.ID, ch query.Change, root string) error {
	patch := render.Abridge(ch.Patch())
	if a.JSON {
		return render.NewJSONLines(out, a.output()).Write(changeRecord{
			ID: id.String(), Turn: ch.From, TurnTo: ch.To, What: ch.What, Tool: ch.Tool,
			Call: ch.Call, URI: expanded(root, ch.URI), By: ch.By,
			Before: length(ch.Was), After: length(ch.Is), Patch: patch,
		})
	}
	_, err := io.WriteString(out, a.output().Titled(titleOf(ch, root), patch))
	return err
}

func length(text *string) *int {
	if text == nil {
		return nil
	}
	n := len(*text)
	return &n
}

// titleOf says in a line what changes, and by what.
func titleOf(ch query.Change, root string) string {
	var b strings.Builder
	b.WriteString("diff ")
	switch ch.From {
	case 0:
	case ch.To:
		fmt.Fprintf(&b, "turn %d, ", ch.From)
	default:
		fmt.Fprintf(&b, "turns %d–%d, ", ch.From, ch.To)
	}
	b.WriteString(ch.What)
	if ch.Tool != "" {
		b.WriteString(" of " + ch.Tool)
	}
	if name := cmp.Or(ch.Call, expanded(root, ch.URI)); name != "" {
		b.WriteString(" (" + name + ")")
	}
	fmt.Fprintf(&b, ", %s, by %s", sizes(ch), strings.Join(ch.By, ", "))
	return b.String()
}

// sizes says how much there was, and is.
func sizes(ch query.Change) string {
	switch {
	case ch.From == 0:
		return "gone"
	case ch.Is == nil:
		return render.Bytes(int64(len(*ch.Was))) + " gone"
	case ch.Was == nil:
		return render.Bytes(int64(len(*ch.Is))) + " new"
	default:
		return render.Bytes(int64(len(*ch.Was))) + " → " + render.Bytes(int64(len(*ch.Is)))
	}
}

// overlayStages are what a stream was after each compaction that an overlay added to its end.
func overlayStages(out *events.Stream, made []*events.Compaction) []compact.Stage {
	all := make([]compact.Stage, len(made))
	for i, m := range made {
		s, rest := out.Clone(), len(made)-1-i
		s.Remove(s.Len()-rest, rest)
		by := "overlay of " + listing.NewCompactionRecord(m).String()
		all[i] = compact.Stage{By: by, Stream: s}
	}
	return all
}
