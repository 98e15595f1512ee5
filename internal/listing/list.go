package listing

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Request says which conversations are listed, and how.
type Request struct {
	Active                  events.ID // 0 for none
	Archived, Agents, Local bool
	Labels                  []string // as KEY or KEY=VALUE
	Sort                    string   // id, activity or title
	Reverse                 bool
	Limit                   int // the last ones, 0 for all
}

// A List is the requested conversations.
type List struct {
	Listed []*Listed
	Failed bool // something cannot be read, which was reported

	request Request
	all     []workspace.Entry
}

// A Listed is a conversation in a list. The members from its stream are null if that cannot be
// read.
type Listed struct {
	Record
	Turns       *int    `json:"turns"`
	StreamBytes *int64  `json:"stream_bytes"`
	Model       *string `json:"model"`
	FirstWords  *string `json:"first_words"`

	entry   workspace.Entry
	outline *render.Outline
}

// Read lists the conversations of a workspace. One that cannot be read is listed without the
// missing members, and reported once.
func Read(
	w *workspace.Workspace, q Request, warn func(format string, args ...any),
) (List, error) {
	l := List{request: q}
	all, problems, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return l, err
	}
	l.all, l.Failed = all, len(problems) > 0
	reported := make(map[string]bool)
	for _, p := range problems {
		warn("%s", p)
		reported[p.Path] = true
	}
	entries := q.wanted(all)
	loaded, errs := loadDetails(w, entries)
	for i, e := range entries {
		if errs[i] != nil {
			if !reported[e.Path] {
				warn("%v", errs[i])
			}
			l.Failed = true
			loaded[i] = &events.Details{}
		}
		if HasLabels(loaded[i].Labels, q.Labels) {
			r := &Listed{Record: NewRecord(e, loaded[i]), entry: e}
			r.Active = e.ID == q.Active
			l.Listed = append(l.Listed, r)
		}
	}
	q.sort(l.Listed)
	if q.Limit > 0 && len(l.Listed) > q.Limit {
		l.Listed = l.Listed[len(l.Listed)-q.Limit:]
	}
	outline(w, l.Listed)
	return l, nil
}

// wanted removes the entries that were not requested.
func (q Request) wanted(all []workspace.Entry) []workspace.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e workspace.Entry) bool {
		if q.Agents && e.ID.IsDerived() {
			return false
		}
		return q.Agents || e.Partition == workspace.Archive && !q.Archived || e.Local && !q.Local
	})
}

func (q Request) sort(all []*Listed) {
	slices.SortStableFunc(all, func(x, y *Listed) int {
		switch q.Sort {
		case "title":
			return cmp.Compare(strings.ToLower(x.Title), strings.ToLower(y.Title))
		case "activity":
			return x.lastActive().Compare(y.lastActive())
		default:
			return x.CreatedAt.Compare(y.CreatedAt)
		}
	})
	if q.Reverse {
		slices.Reverse(all)
	}
}

// IDs returns the ids of all conversations, in full or as their digits. Unreadable conversations
// are left out.
func IDs(w *workspace.Workspace, full bool) (ids []string) {
	entries, _, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if full {
			ids = append(ids, e.ID.String())
		} else {
			ids = append(ids, e.ID.Digits())
		}
	}
	return ids
}

// HasLabels reports whether labels has each of want, as KEY or KEY=VALUE.
func HasLabels(labels map[string]string, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool {
		key, value, exact := strings.Cut(w, "=")
		have, ok := labels[key]
		return !ok || exact && have != value
	})
}

// loadDetails reads the metadata of all entries, several at a time: most of the time of reading
// many small files is spent in the system opening them.
func loadDetails(w *workspace.Workspace, entries []workspace.Entry) ([]*events.Details, []error) {
	details, errs := make([]*events.Details, len(entries)), make([]error, len(entries))
	parallel.Each(len(entries), runtime.GOMAXPROCS(0), func(i int) {
		details[i], errs[i] = w.LoadDetails(entries[i])
	})
	return details, errs
}

// outline adds the members that come from streams.
func outline(w *workspace.Workspace, all []*Listed) {
	parallel.Each(len(all), runtime.GOMAXPROCS(0), func(i int) {
		r := all[i]
		text, err := w.LoadText(r.entry)
		if err != nil {
			return // a list is no check
		}
		o := render.OutlineOf(text.Stream, text.BaseConfig, text.Bytes)
		r.outline = &o
		r.Turns, r.StreamBytes, r.Model, r.FirstWords = &o.Turns, &o.Bytes, &o.Model, &o.First
	})
}

// Print prints the list.
func (l List) Print(p *render.Printer) error {
	if p.JSON {
		return render.Records(p, l.Listed)
	}
	list := lists.Map(l.Listed, func(r *Listed) render.Listed { return r.row(p) })
	return render.List(p.Output, list).Write(p.Out)
}

func (r *Listed) row(p *render.Printer) render.Listed {
	l := render.Listed{
		Marks: r.marks(), ID: r.ID, Active: p.Ago(r.lastActive()), Title: r.Title,
		Labels: LabelText(withoutSession(r.Labels)), Outline: r.outline,
		Agent: events.AgentOf(r.Labels[events.LabelSession]),
	}
	switch parent := r.Labels[events.LabelParent]; {
	case r.ForkedFrom != nil:
		l.Parent = r.ForkedFrom.ID
	case parent != "":
		l.Parent = events.SessionIDs(parent)[0].String()
	}
	return l
}

// NoteHidden says why the list is shorter than one may expect.
func (l List) NoteHidden(p *render.Printer) {
	agents, archived, local := 0, 0, 0
	for _, e := range l.all {
		archive := e.Partition == workspace.Archive && !l.request.Archived
		switch {
		case l.request.Agents:
		case archive && e.ID.IsDerived():
			agents++
		case archive:
			archived++
		case e.Local && !l.request.Local:
			local++
		}
	}
	if len(l.Listed) == 0 {
		p.Note("no conversations to list")
	}
	listed := "listed"
	if len(l.request.Labels) > 0 {
		listed = "looked through" // whether one has the label was not looked at
	}
	if agents > 0 {
		p.Note("%s of agents, %s with --agents", render.Count(agents, "session"), listed)
	}
	if archived > 0 {
		p.Note("%d archived, %s with --archived", archived, listed)
	}
	if local > 0 {
		p.Note("%d user-local, %s with --local", local, listed)
	}
}
