package main

import (
	"context"
	"fmt"
	"io"
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
	return `Tells the way from a branch, an index or a work tree to the reference that keeps a
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
	o, err := a.collector(ctx, c.UserLocal)
	if err != nil {
		return err
	}
	h, err := a.contentNamed(o, c.Content)
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
	for _, r := range records {
		if err := r.print(a.stdout, a.output()); err != nil {
			return err
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

func (r whyRecord) print(w io.Writer, o render.Output) error {
	var lines []string
	switch r.Reason {
	case reasonTip:
		lines = append(lines, "kept by "+r.Root)
	case reasonHistory:
		lines = append(lines, "kept for an older commit, which refers to it and does not have it")
	case reasonYoung:
		lines = append(lines, "kept by the grace period, and by nothing else")
	case reasonQuarantine:
		lines = append(lines, "in the quarantine of run "+r.Run)
	case reasonDead:
		lines = append(lines, "kept by nothing")
	case reasonLast:
		lines = append(lines, "last referred to by")
	}
	if r.Commit != "" {
		lines = append(lines, "  commit "+r.Commit)
	}
	if r.Path != "" {
		lines = append(lines, "  file "+r.Path)
	}
	if r.Conversation != "" {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  conversation %s %s",
			r.Conversation, r.Title), " "))
	}
	if r.Element != nil {
		text := fmt.Sprintf("  turn %d, element %d", r.Turn, *r.Element)
		if r.Tool != "" {
			text += ", result of " + r.Tool
		}
		if r.URI != "" {
			text += ", " + r.URI
		}
		lines = append(lines, text)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, o.Line(line)); err != nil {
			return err
		}
	}
	return nil
}
