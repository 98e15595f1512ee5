package compactor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// A ChangeRecord is one change of what a model is given, in JSON.
type ChangeRecord struct {
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

// differing is a compaction whose differences are shown, with the model that the user named for its
// summary.
type differing struct {
	*prepare.Compaction

	model string
}

// printChanges prints how strategies would change what a model is given.
func (j Job) printChanges(ctx context.Context, r differing, out *compact.Result) error {
	p := &j.terminal().Printer
	warnOfSteps(p, out.Report)
	noteTangents(p, out.Report)
	if !out.Report.Changed() {
		p.Note("%s", idle(out.Report))
		return nil
	}
	var pruned []string
	for _, s := range out.Report.Steps {
		pruned = append(pruned, s.Pruned...)
	}
	return j.printStages(ctx, r, out.Stages, pruned)
}

// printStages prints how all stages of a compaction, and the removal of some tools, would change
// what a model is given.
func (j Job) printStages(
	ctx context.Context, r differing, stages []compact.Stage, pruned []string,
) error {
	t, id := j.terminal(), j.Conversation.ID
	root := j.Workspace.Root()
	if t.JSON {
		root = "" // a record has $WORKSPACE, so that it does not depend on the clone
	}
	o := r.Dedup()
	o.URI = func(uri string) string { return expanded(root, uri) }
	changes, err := query.Changes(j.Conversation.Stream, stages, o, r.Contents())
	if err != nil {
		return fmt.Errorf("compare what a model is given of %s: %w", id, err)
	}
	changes = append(query.WithoutTools(pruned), changes...) // tools precede everything else
	if len(changes) == 0 {
		t.Note("a model would be given the same")
	}
	if err := j.warnOfSummary(r, changes); err != nil {
		return err
	}
	return j.Paged(ctx, func(out io.Writer) error {
		for _, ch := range changes {
			if err := j.printChange(out, ch, root); err != nil {
				return err
			}
		}
		return nil
	})
}

// warnOfSummary warns that a model will write another summary than the shown one.
func (j Job) warnOfSummary(r differing, changes []query.Change) error {
	made := slices.ContainsFunc(changes, func(ch query.Change) bool {
		return ch.What == query.PieceSummary && ch.Is != nil
	})
	if !made {
		return nil
	}
	id, err := r.SummaryModel(r.model)
	if err == nil && id != "" {
		j.terminal().Warn("this summary is made by rules; %s will write the saved one", id)
	}
	return err
}

// expanded returns a URI for users, or, without a root, for programs.
func expanded(root, uri string) string {
	if root == "" {
		return uri
	}
	return file.Expand(root, uri)
}

func (j Job) printChange(out io.Writer, ch query.Change, root string) error {
	t, patch := j.terminal(), render.Abridge(ch.Patch())
	if t.JSON {
		return render.NewJSONLines(out, t.Output).Write(ChangeRecord{
			ID: j.Conversation.ID.String(), Turn: ch.From, TurnTo: ch.To, What: ch.What,
			Tool: ch.Tool, Call: ch.Call, URI: expanded(root, ch.URI), By: ch.By,
			Before: length(ch.Was), After: length(ch.Is), Patch: patch,
		})
	}
	_, err := io.WriteString(out, t.Output.Titled(titleOf(ch, root), patch))
	return err
}

func length(text *string) *int {
	if text == nil {
		return nil
	}
	n := len(*text)
	return &n
}

// titleOf returns a line with the piece that changes and the steps that change it.
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

// sizes returns the sizes before and after.
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
