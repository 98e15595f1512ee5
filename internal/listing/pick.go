package listing

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/git-jp/git-jp/internal/workspace"
)

// picked is how many conversations are offered for choosing.
const picked = 15

// errNotPicked reports that the user was asked for a conversation and named none.
var errNotPicked = errors.New("no conversation was chosen")

// A Picker lets a person choose a conversation.
type Picker struct {
	Workspace *workspace.Workspace
	// Find returns the conversation with a name.
	Find   func(name string) (workspace.Entry, error)
	Prompt interface {
		Say(format string, args ...any)
		Line(format string, args ...any) (string, error)
	}
	Printer *render.Printer
}

// Pick lets the person choose: by the number in a list of the most recent ones, by any name that
// other commands take, or by words of its text.
func (p Picker) Pick() (workspace.Entry, error) {
	entries, _, err := p.Workspace.List(workspace.ListOptions{Local: true})
	if err != nil {
		return workspace.Entry{}, err
	}
	for shown := entries; ; {
		e, found, err := p.choose(shown)
		if err != nil || len(found) == 1 {
			return e, err
		}
		if shown = found; len(found) == 0 {
			p.Prompt.Say("no conversation has that\n")
			shown = entries
		}
	}
}

// choose shows the first of some conversations and returns the one that was chosen, or those that
// the answer may have meant.
func (p Picker) choose(shown []workspace.Entry) (
	_ workspace.Entry, found []workspace.Entry, _ error,
) {
	records := recent(p.Workspace, shown)
	for i, r := range records {
		name := strings.ReplaceAll(r.row(p.Printer).Name(), "\n", `\n`)
		p.Prompt.Say("%3d  %s  %s\n", i+1, r.ID, name)
	}
	if more := len(shown) - len(records); more > 0 {
		p.Prompt.Say("     and %d more\n", more)
	}
	answer, err := p.Prompt.Line("Number, id, or words of the title or the text: ")
	if err != nil || answer == "" {
		return workspace.Entry{}, nil, errors.Join(errNotPicked, err)
	}
	if n, err := strconv.Atoi(answer); err == nil && 1 <= n && n <= len(records) {
		answer = records[n-1].ID
	}
	if answer == "?" { // shows this list
		return workspace.Entry{}, nil, nil
	}
	if e, err := p.Find(answer); err == nil {
		return e, []workspace.Entry{e}, nil
	}
	if found, err = p.saying(answer); len(found) == 1 {
		return found[0], found, err
	}
	return workspace.Entry{}, found, err
}

// saying returns the conversations whose title or text has some words.
func (p Picker) saying(words string) (found []workspace.Entry, err error) {
	pattern, err := search.Compile(search.Query{Pattern: words})
	if err != nil {
		return nil, err
	}
	entries, _, err := p.Workspace.List(workspace.ListOptions{Local: true})
	for _, e := range entries {
		conv, err := p.Workspace.Load(e)
		if err != nil {
			continue // an unreadable conversation cannot be chosen either
		}
		hits, _ := pattern.Stream(conv.Stream, p.Workspace.Blobs())
		if _, titled := pattern.Title(conv.Title()); titled || len(hits) > 0 {
			found = append(found, e)
		}
	}
	return found, err
}

// recent returns the most recent conversations, the last one first.
func recent(w *workspace.Workspace, entries []workspace.Entry) []*Listed {
	details, errs := loadDetails(w, entries)
	var all []*Listed
	for i, e := range entries {
		if errs[i] == nil {
			all = append(all, &Listed{Record: NewRecord(e, details[i]), entry: e})
		}
	}
	slices.SortStableFunc(all, func(a, b *Listed) int {
		return cmp.Or(b.lastActive().Compare(a.lastActive()), cmp.Compare(b.ID, a.ID))
	})
	all = all[:min(len(all), picked)]
	outline(w, all)
	return all
}
