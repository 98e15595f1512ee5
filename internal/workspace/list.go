package workspace

import (
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// ListOptions selects conversations in addition to the live ones of the workspace.
type ListOptions struct {
	Archived bool // archived ones
	Local    bool // those that exist only in user-local storage
}

// List returns the conversations, sorted by id, each once, and the problems of all directories,
// including those of conversations that were not selected. It opens no file:
// [Workspace.LoadDetails] reads the metadata of an entry.
func (w *Workspace) List(o ListOptions) ([]Entry, []Problem, error) {
	return w.listOf(o, anyID)
}

// listOf is List limited to the wanted ids: it opens no other conversation's directory.
func (w *Workspace) listOf(
	o ListOptions, wanted func(events.ID) bool,
) ([]Entry, []Problem, error) {
	entries, problems, err := w.main.scan(wanted)
	if err != nil {
		return nil, nil, err
	}
	entries = firstOfEach(entries)
	if o.Local && w.userLocal != nil {
		local, more, err := w.userLocal.scan(wanted)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, more...)
		entries = append(entries, without(firstOfEach(local), entries)...)
		slices.SortFunc(entries, Entry.compare)
	}
	if !o.Archived {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Partition == Archive })
	}
	return entries, problems, nil
}

// firstOfEach removes all but the first directory of each id. entries are sorted.
func firstOfEach(entries []Entry) []Entry {
	return slices.CompactFunc(entries, func(a, b Entry) bool { return a.ID == b.ID })
}

func without(entries, known []Entry) []Entry {
	have := lists.Set(lists.Map(known, func(e Entry) events.ID { return e.ID }))
	return slices.DeleteFunc(entries, func(e Entry) bool { return have[e.ID] })
}
