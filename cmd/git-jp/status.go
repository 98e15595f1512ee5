package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

type statusCmd struct{}

// Help explains the parts.
func (statusCmd) Help() string {
	return `Shows, by conversation, what is staged, what is changed and not staged, and what is
incomplete: references without content, open tool calls, conversations that another process is
writing. Where sessions of coding agents were imported once, it counts those that are new or have
grown since. Nothing is changed, not even the index's own bookkeeping.`
}

// statusRecord is one conversation in `status --json`.
type statusRecord struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Staged   string   `json:"staged,omitempty"`   // added, changed or removed
	Unstaged string   `json:"unstaged,omitempty"` // new, changed or removed
	Files    []string `json:"files,omitempty"`    // not staged
	Removed  []string `json:"removed,omitempty"`  // not staged
	Blobs    int      `json:"blobs,omitempty"`    // not staged
	Findings []string `json:"findings,omitempty"`
}

// Run tells the state of the workspace's conversations.
func (c statusCmd) Run(ctx context.Context, a *app) error {
	req, err := stageRequest(ctx, a, nil, false, true)
	if err != nil {
		return err
	}
	req.NoContent = true
	plan, err := stage.NewPlan(ctx, req)
	if err != nil {
		return err
	}
	gone, err := c.gone(ctx, req, plan)
	if err != nil {
		return err
	}
	conflicts, err := audit.InConflict(ctx, req.Repo, req.Dir)
	if err != nil {
		return err
	}
	findings := slices.Concat(plan.Report.Findings, gone, conflicts)
	records := c.records(a, plan, findings)
	c.entitle(ctx, a, plan.Staged, records)
	unimported := intake.NotImported(ctx, req.Repo, a.openWorkspace, placesOf(a))
	if !a.JSON {
		return errors.Join(c.print(a, records),
			intake.PrintNotImported(&a.terminal.Printer, unimported))
	}
	lines := render.NewJSONLines(a.stdout, a.output())
	for _, r := range records {
		if err := lines.Write(r); err != nil {
			return err
		}
	}
	for _, r := range unimported {
		if err := lines.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// gone returns what is missing because files of the store were deleted. The plan does
// not see that of conversations that did not change.
func (statusCmd) gone(
	ctx context.Context, req stage.Request, plan *stage.Plan,
) ([]check.Finding, error) {
	if len(plan.Lost) == 0 {
		return nil, nil
	}
	src, err := check.OpenWorkTree(req.Repo.Root(), req.Repo.Limits())
	if err != nil {
		return nil, err
	}
	left, err := check.LeftOutOf(ctx, req.Repo, req.Repo.Root())
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	report, err := check.Tree(ctx, src, check.Options{
		Dirs: []string{req.Dir}, Cache: req.Cache, LeftOut: left,
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, err
	}
	return report.Findings, nil
}

// records joins what is staged, what would be, and what was found, by conversation.
func (c statusCmd) records(
	a *app, plan *stage.Plan, findings []check.Finding,
) []*statusRecord {
	byID := make(map[string]*statusRecord)
	record := func(id string) *statusRecord {
		r, ok := byID[id]
		if !ok {
			r = &statusRecord{ID: id}
			byID[id] = r
		}
		return r
	}
	for _, s := range plan.Staged {
		if id, ok := workspace.PathID(s.Path); ok {
			r := record(id.String())
			r.Staged = stagedWord(r.Staged, s)
		}
	}
	for _, item := range plan.Items {
		r := record(item.ID.String())
		r.Title = cmp.Or(item.Title, r.Title)
		r.Unstaged, r.Files, r.Blobs = unstagedWord(item), item.Files, item.Blobs
		r.Removed = item.Removed
	}
	for _, f := range findings {
		if f.Severity == check.Note || f.Conversation == "" {
			continue
		}
		r, sentence := record(f.Conversation), newPrinter(a).Sentence(f)
		r.Title = cmp.Or(r.Title, f.Title)
		if !slices.Contains(r.Findings, sentence) {
			r.Findings = append(r.Findings, sentence)
		}
	}
	all := make([]*statusRecord, 0, len(byID))
	for _, r := range byID {
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y *statusRecord) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// entitle gives records their title: that of the working tree, or of HEAD for those that
// are gone.
func (statusCmd) entitle(
	ctx context.Context, a *app, staged []gitint.StagedPath, records []*statusRecord,
) {
	untitled := make(map[string]*statusRecord)
	for _, r := range records {
		if r.Title == "" {
			untitled[r.ID] = r
		}
	}
	if len(untitled) == 0 {
		return
	}
	// What cannot be listed or read has no title, which is for others to complain about.
	entries, _, _ := a.openWorkspace.List(workspace.ListOptions{Archived: true})
	for _, e := range entries {
		if r, ok := untitled[e.ID.String()]; ok {
			r.Title = a.openWorkspace.Title(e)
		}
	}
	for _, s := range staged {
		id, _ := workspace.PathID(s.Path)
		r, ok := untitled[id.String()]
		if !ok || r.Title != "" || s.Status != 'D' || !isMetadata(s.Path) {
			continue
		}
		data, err := a.openRepo.ReadObject(ctx, s.Old, 0)
		if err != nil {
			continue
		}
		if d, err := events.DecodeDetails(data); err == nil && d.Title != nil {
			r.Title = *d.Title
		}
	}
}

// stagedWord says what happens to a conversation in the next commit. A renamed one
// has removed and added paths, and is changed.
func stagedWord(before string, s gitint.StagedPath) string {
	word := map[byte]string{'A': "added", 'D': "removed"}[s.Status]
	switch {
	case word == "":
		return "changed"
	case before == "" || before == word:
		return word
	default:
		return "changed"
	}
}

func isMetadata(p string) bool { return path.Base(p) == workspace.MetadataFile }

func unstagedWord(item stage.Item) string {
	switch {
	case item.Path == "":
		return "removed"
	case item.New:
		return "new"
	default:
		return "changed"
	}
}

func (statusCmd) print(a *app, records []*statusRecord) error {
	if len(records) == 0 {
		a.note("nothing to stage")
		return nil
	}
	staged := func(r *statusRecord) string { return r.Staged }
	unstaged := func(r *statusRecord) string { return r.Unstaged }
	return errors.Join(
		printWords(a, "Staged (undo with 'git jp unstage <id>'):", records, staged),
		printWords(a, "Not staged ('git jp stage <id>', or 'git jp stage --changed' for all):",
			records, unstaged),
		printNotWhole(a, records))
}

// printWords prints the conversations that have a word, below a head.
func printWords(
	a *app, head string, records []*statusRecord, word func(*statusRecord) string,
) error {
	head += "\n"
	for _, r := range records {
		if word(r) == "" {
			continue
		}
		line := a.output().Line(fmt.Sprintf("%-8s %s  %s", word(r), r.ID, r.Title))
		if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", head, line); err != nil {
			return err
		}
		head = ""
	}
	return nil
}

// maxFindings is how many findings of a conversation a status shows.
const maxFindings = 3

func printNotWhole(a *app, records []*statusRecord) error {
	head := "Incomplete ('git jp check' says what helps):\n"
	for _, r := range records {
		for i, f := range r.Findings {
			if i == maxFindings && len(r.Findings) > maxFindings+1 && !a.Verbose {
				f = fmt.Sprintf("and %d more", len(r.Findings)-i)
			} else if i > maxFindings && !a.Verbose {
				break
			}
			line := a.output().Line(fmt.Sprintf("%s  %s", r.ID, f))
			if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", head, line); err != nil {
				return err
			}
			head = ""
		}
	}
	return nil
}
