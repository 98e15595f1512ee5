package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/workspace"
)

// picked is how many conversations are offered to choose from.
const picked = 15

// errNotPicked says that somebody was asked for a conversation and named none.
var errNotPicked = errors.New("no conversation was chosen")

// pick lets the person at the terminal choose a conversation: by its number in a list of those
// that were used last, or by all that names one elsewhere.
func (a *app) pick() (workspace.Entry, error) {
	w, err := a.workspace()
	if err != nil {
		return workspace.Entry{}, err
	}
	ctx := context.Background() // an interrupt ends the program, which has changed nothing
	p := a.terminal.NewPrompter(ctx)
	if p == nil {
		return workspace.Entry{}, usagef("--id: there is no terminal to choose on, name one")
	}
	entries, _, err := w.List(workspace.ListOptions{Local: true})
	if err != nil {
		return workspace.Entry{}, err
	}
	records := a.recent(w, entries)
	s, err := p.Open(ctx)
	if err != nil {
		return workspace.Entry{}, err
	}
	defer func() { _ = s.Close() }()
	for i, r := range records {
		s.Say("%3d  %s  %s\n", i+1, r.ID, oneLine(r.Title))
	}
	answer, err := s.Line("Number, id or words of the title: ")
	if err != nil || answer == "" {
		return workspace.Entry{}, errors.Join(errNotPicked, err)
	}
	if n, err := strconv.Atoi(answer); err == nil && 1 <= n && n <= len(records) {
		answer = records[n-1].ID
	}
	return a.find(answer)
}

// recent returns the conversations that were used last, the last one first.
func (a *app) recent(w *workspace.Workspace, entries []workspace.Entry) []conversationRecord {
	details, errs := loadDetails(w, entries)
	var records []conversationRecord
	for i, e := range entries {
		if errs[i] == nil {
			records = append(records, newRecord(e, details[i]))
		}
	}
	slices.SortStableFunc(records, func(a, b conversationRecord) int {
		return cmp.Or(b.lastActive().Compare(a.lastActive()), cmp.Compare(b.ID, a.ID))
	})
	return records[:min(len(records), picked)]
}
