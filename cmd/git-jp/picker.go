package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/git-jp/git-jp/internal/workspace"
)

// picked is how many conversations are offered to choose from.
const picked = 15

// errNotPicked says that somebody was asked for a conversation and named none.
var errNotPicked = errors.New("no conversation was chosen")

// pickOne lets the person at the terminal choose a conversation: by its number in a list of those
// that were used last, by all that names one elsewhere, or by words of its text.
func pickOne(a *app) (workspace.Entry, error) {
	w, err := a.workspace()
	if err != nil {
		return workspace.Entry{}, err
	}
	ctx := context.Background() // an interrupt ends the program, which has changed nothing
	prompter := a.terminal.NewPrompter(ctx)
	if prompter == nil {
		return workspace.Entry{}, usagef("there is no terminal to choose on, name a conversation")
	}
	entries, _, err := w.List(workspace.ListOptions{Local: true})
	if err != nil {
		return workspace.Entry{}, err
	}
	s, err := prompter.Open(ctx)
	if err != nil {
		return workspace.Entry{}, err
	}
	defer func() { _ = s.Close() }()
	p := picker{app: a, workspace: w, prompt: s}
	for shown := entries; ; {
		e, found, err := p.choose(shown)
		if err != nil || len(found) == 1 {
			return e, err
		}
		if shown = found; len(found) == 0 {
			s.Say("no conversation has that\n")
			shown = entries
		}
	}
}

// A picker asks for a conversation.
type picker struct {
	app       *app
	workspace *workspace.Workspace
	prompt    *ask.Prompt
}

// choose shows the first of some conversations and returns the one that was chosen, or those that
// the answer may have meant.
func (p picker) choose(shown []workspace.Entry) (
	_ workspace.Entry, found []workspace.Entry, _ error,
) {
	records := recent(p.workspace, shown)
	for i, r := range records {
		p.prompt.Say("%3d  %s  %s\n", i+1, r.ID, oneLine(r.listed(p.app).Name()))
	}
	if more := len(shown) - len(records); more > 0 {
		p.prompt.Say("     and %d more\n", more)
	}
	answer, err := p.prompt.Line("Number, id, or words of the title or the text: ")
	if err != nil || answer == "" {
		return workspace.Entry{}, nil, errors.Join(errNotPicked, err)
	}
	if n, err := strconv.Atoi(answer); err == nil && 1 <= n && n <= len(records) {
		answer = records[n-1].ID
	}
	if answer == "?" { // is this list
		return workspace.Entry{}, nil, nil
	}
	if e, err := p.app.find(answer); err == nil {
		return e, []workspace.Entry{e}, nil
	}
	if found, err = p.saying(answer); len(found) == 1 {
		return found[0], found, err
	}
	return workspace.Entry{}, found, err
}

// saying returns the conversations whose title or text has some words.
func (p picker) saying(words string) (found []workspace.Entry, err error) {
	pattern, err := search.Compile(search.Query{Pattern: words})
	if err != nil {
		return nil, err
	}
	entries, _, err := p.workspace.List(workspace.ListOptions{Local: true})
	for _, e := range entries {
		conv, err := p.workspace.Load(e)
		if err != nil {
			continue // what cannot be read cannot be chosen either
		}
		hits, _ := pattern.Stream(conv.Stream, p.workspace.Blobs())
		if _, titled := pattern.Title(conv.Title()); titled || len(hits) > 0 {
			found = append(found, e)
		}
	}
	return found, err
}

// recent returns the conversations that were used last, the last one first.
func recent(w *workspace.Workspace, entries []workspace.Entry) []*listedRecord {
	details, errs := loadDetails(w, entries)
	var records []*listedRecord
	for i, e := range entries {
		if errs[i] == nil {
			records = append(records,
				&listedRecord{conversationRecord: newRecord(e, details[i]), entry: e})
		}
	}
	slices.SortStableFunc(records, func(a, b *listedRecord) int {
		return cmp.Or(b.lastActive().Compare(a.lastActive()), cmp.Compare(b.ID, a.ID))
	})
	records = records[:min(len(records), picked)]
	inParallel(len(records), func(i int) { records[i].read(w) })
	return records
}
