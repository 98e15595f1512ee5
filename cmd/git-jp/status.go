package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

type statusCmd struct{}

// Help explains the parts.
func (statusCmd) Help() string {
	return `Tells, by conversation, what is staged, what is changed and not staged, and what is not
whole: references without content, open tool calls, conversations that another process is
writing. Nothing is changed, not even the index's own bookkeeping.`
}

// statusRecord is one conversation in `status --json`.
type statusRecord struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Staged   string   `json:"staged,omitempty"`   // added, changed or removed
	Unstaged string   `json:"unstaged,omitempty"` // new, changed or removed
	Files    []string `json:"files,omitempty"`    // not staged
	Blobs    int      `json:"blobs,omitempty"`    // not staged
	Findings []string `json:"findings,omitempty"`
}

// Run tells the state of the workspace's conversations.
func (c statusCmd) Run(ctx context.Context, a *app) error {
	req, err := a.stageRequest(ctx, nil, false, true)
	if err != nil {
		return err
	}
	plan, err := stage.NewPlan(ctx, req)
	if err != nil {
		return err
	}
	staged, err := req.Repo.StagedPaths(ctx, req.Dir+"/conversations")
	if err != nil {
		return err
	}
	records := c.records(a, plan, staged)
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range records {
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	return c.print(a, records)
}

// records joins what is staged, what would be, and what was found, by conversation.
func (c statusCmd) records(a *app, plan *stage.Plan, staged []gitint.StagedPath) []*statusRecord {
	byID := make(map[string]*statusRecord)
	record := func(id string) *statusRecord {
		r, ok := byID[id]
		if !ok {
			r = &statusRecord{ID: id, Title: a.titleOf(id)}
			byID[id] = r
		}
		return r
	}
	for _, s := range staged {
		if id, ok := conversationOf(s.Path); ok {
			r := record(id.String())
			r.Staged = stagedWord(r.Staged, s)
		}
	}
	for _, item := range plan.Items {
		r := record(item.ID.String())
		r.Title = cmp.Or(item.Title, r.Title)
		r.Unstaged, r.Files, r.Blobs = unstagedWord(item, r.Staged), item.Files, item.Blobs
	}
	for _, f := range plan.Report.Findings {
		if f.Severity == check.Note || f.Conversation == "" {
			continue
		}
		r := record(f.Conversation)
		r.Title = cmp.Or(r.Title, f.Title)
		r.Findings = append(r.Findings, sentenceOf(f))
	}
	all := make([]*statusRecord, 0, len(byID))
	for _, r := range byID {
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y *statusRecord) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// sentenceOf says what a finding is, in one line.
func sentenceOf(f check.Finding) string {
	var b strings.Builder
	if f.Turn > 0 {
		fmt.Fprintf(&b, "turn %d", f.Turn)
	}
	if f.Call != "" {
		fmt.Fprintf(&b, ", call %s", f.Call)
	}
	if f.Tool != "" {
		fmt.Fprintf(&b, " (%s)", f.Tool)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(f.Detail)
	return b.String()
}

// conversationOf returns the conversation that a path belongs to.
func conversationOf(p string) (events.ID, bool) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if id, ok := events.ParseDirname(path.Base(dir)); ok {
			return id, true
		}
	}
	return 0, false
}

func (a *app) titleOf(id string) string {
	e, err := a.openWorkspace.Find(id, workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true},
	})
	if err != nil {
		return ""
	}
	return a.title(e)
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

func unstagedWord(item stage.Item, staged string) string {
	switch {
	case item.Path == "":
		return "removed"
	case len(item.Removed) == 0 && staged == "" && slices.ContainsFunc(item.Files, isMetadata):
		return "new or changed"
	default:
		return "changed"
	}
}

func isMetadata(p string) bool { return path.Base(p) == workspace.MetadataFile }

func (statusCmd) print(a *app, records []*statusRecord) error {
	if len(records) == 0 {
		a.note("every conversation is committed or staged as it is")
		return nil
	}
	for _, part := range []struct {
		head, hint string
		word       func(*statusRecord) string
	}{
		{"Staged:", "'git jp unstage <id>' to undo", func(r *statusRecord) string { return r.Staged }},
		{"Not staged:", "'git jp stage <id>' or 'git jp stage --changed'", unstagedText},
	} {
		first := true
		for _, r := range records {
			word := part.word(r)
			if word == "" {
				continue
			}
			if first {
				fmt.Fprintf(a.stdout, "%s (%s)\n", part.head, part.hint)
				first = false
			}
			line := fmt.Sprintf("%-9s %s  %s", word, r.ID, r.Title)
			fmt.Fprintln(a.stdout, "  "+a.output().Line(line))
		}
	}
	return printFindings(a, records)
}

func unstagedText(r *statusRecord) string {
	if r.Unstaged == "new or changed" {
		return "new"
	}
	return r.Unstaged
}

func printFindings(a *app, records []*statusRecord) error {
	first := true
	for _, r := range records {
		for _, f := range r.Findings {
			if first {
				fmt.Fprintln(a.stdout, "Not whole:")
				first = false
			}
			fmt.Fprintln(a.stdout, "  "+a.output().Line(fmt.Sprintf("%s  %s", r.ID, f)))
		}
	}
	return nil
}
