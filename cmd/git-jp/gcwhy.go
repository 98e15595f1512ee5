package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/render"
)

type gcWhyCmd struct {
	Content   string `arg:"" help:"A hash, its beginning, or the path of a blob."`
	UserLocal bool   `help:"Ask about the user-local store."`
}

// Help says what is told.
func (gcWhyCmd) Help() string {
	return `Shows the way from a branch, an index or a worktree to the reference that keeps a
content, or the last one that did. It says nothing about age but whether the grace period keeps it.`
}

// whyRecord is a chain in the JSON of `gc why`.
type whyRecord struct {
	Hash         string `json:"hash"`
	Reason       string `json:"reason"`
	Root         string `json:"root"`
	Commit       string `json:"commit"`
	Path         string `json:"path"`
	Conversation string `json:"conversation"`
	Title        string `json:"title"`
	Turn         int    `json:"turn,omitempty"`
	Element      *int   `json:"element,omitempty"`
	Tool         string `json:"tool,omitempty"`
	Call         string `json:"call,omitempty"`
	URI          string `json:"uri,omitempty"`
	Run          string `json:"run,omitempty"`
}

// The reasons of a record.
const (
	reasonTip        = "tip"
	reasonHistory    = "history"
	reasonYoung      = "young"
	reasonQuarantine = "quarantine"
	reasonLast       = "last"
	reasonDead       = "dead"
)

// Run explains.
func (c gcWhyCmd) Run(ctx context.Context, a *app) error {
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	h, err := gc.Named(o, c.Content)
	if errors.Is(err, gc.ErrNoName) {
		return usagef("%q is %w", c.Content, err)
	}
	if err != nil {
		return err
	}
	w, err := gc.Explain(ctx, o, h)
	if err != nil {
		return err
	}
	records := whyRecords(w)
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range records {
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	return printWhy(a.stdout, a.output(), records)
}

// printWhy prints records. What several have in common is said once, below the last of them.
func printWhy(w io.Writer, o render.Output, records []whyRecord) error {
	records = entitled(records)
	first := make(map[string]int) // where each reference came first
	for i, r := range records {
		if _, ok := first[r.reference()]; !ok {
			first[r.reference()] = i
		}
	}
	slices.SortStableFunc(records, func(a, b whyRecord) int {
		return first[a.reference()] - first[b.reference()]
	})
	for i, r := range records {
		var next whyRecord
		if i+1 < len(records) {
			next = records[i+1]
		}
		text := r.head()
		if same := next.Reason != "" && next.reference() == r.reference(); !same {
			text += r.commit() + r.reference()
		} else if next.Commit != r.Commit {
			text += r.commit()
		}
		for line := range strings.Lines(text) {
			if _, err := fmt.Fprintln(w, o.Line(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

func whyRecords(w *gc.Why) []whyRecord {
	var all []whyRecord
	add := func(reason string, c gc.Chain) {
		r := whyRecord{
			Hash: w.Hash.String(), Reason: reason, Root: c.Root, Path: c.Path,
			Conversation: conversationName(c.Conversation), Title: c.Title,
		}
		if !c.Commit.IsZero() {
			r.Commit = c.Commit.String()
		}
		if c.At != nil {
			r.Turn, r.Element = c.At.Turn+1, &c.At.Element
			r.Tool, r.Call, r.URI = c.At.Tool, c.At.Call, c.At.URI
		}
		all = append(all, r)
	}
	for _, c := range w.Tips {
		add(reasonTip, c)
	}
	for _, c := range w.Past {
		add(reasonHistory, c)
	}
	bare := whyRecord{Hash: w.Hash.String()}
	switch {
	case w.Run != "" && !w.Kept():
		bare.Reason, bare.Run = reasonQuarantine, w.Run
		all = append(all, bare)
	case w.Young && !w.Kept():
		bare.Reason = reasonYoung
		all = append(all, bare)
	case !w.Kept():
		bare.Reason = reasonDead
		all = append(all, bare)
	}
	if w.Last != nil {
		add(reasonLast, *w.Last)
	}
	return all
}

// entitled returns records in which an index, which is not asked for titles, has that of a commit
// or of a working tree.
func entitled(records []whyRecord) []whyRecord {
	titles := make(map[string]string)
	for _, r := range records {
		if titles[r.Path] == "" {
			titles[r.Path] = r.Title
		}
	}
	records = slices.Clone(records)
	for i := range records {
		if r := &records[i]; r.Title == "" {
			r.Title = titles[r.Path]
		}
	}
	return records
}

// head says what keeps the content.
func (r whyRecord) head() string {
	switch r.Reason {
	case reasonTip:
		return "kept by " + r.Root + "\n"
	case reasonHistory:
		return "kept for an older commit, which refers to it and does not have it\n"
	case reasonYoung:
		return "kept by the grace period, and by nothing else\n"
	case reasonQuarantine:
		return "in the quarantine of run " + r.Run + "\n"
	case reasonLast:
		return "last referred to by\n"
	default:
		return "kept by nothing\n"
	}
}

func (r whyRecord) commit() string {
	if r.Commit == "" {
		return ""
	}
	return "  commit " + r.Commit + "\n"
}

// reference says which file refers to the content, and where.
func (r whyRecord) reference() string {
	text := ""
	if r.Path != "" {
		text += "  file " + r.Path + "\n"
	}
	if r.Conversation != "" {
		text += strings.TrimRight("  conversation "+r.Conversation+" "+r.Title, " ") + "\n"
	}
	if r.Element != nil {
		text += fmt.Sprintf("  turn %d, element %d", r.Turn, *r.Element)
		if r.Tool != "" {
			text += ", result of " + r.Tool
		}
		if r.URI != "" {
			text += ", " + r.URI
		}
		text += "\n"
	}
	return text
}
