package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type lsCmd struct {
	Archived bool     `short:"a" help:"List archived conversations too."`
	Agents   bool     `help:"List the sessions of agents, which lie in the archive."`
	Local    bool     `help:"List user-local conversations too."`
	Sort     string   `enum:"id,activity,title" default:"activity" help:"Order: id, activity or title."`
	Reverse  bool     `short:"r" help:"Reverse the order."`
	Limit    int      `short:"n" placeholder:"N" help:"List the last N only."`
	Label    []string `sep:"none" placeholder:"KEY[=VALUE]" help:"List those with this label; repeat for several."`
}

// Help explains the output.
func (lsCmd) Help() string {
	return `The latest is at the end. Marks: * active here, ^ pinned, a archived, l user-local,
o of the generation before events.json. SIZE is that of the stream, without content in the
store; PARENT the conversation that one was forked from. One without a title shows its first
words in quotes. A narrow terminal has fewer columns, --json all of them.

The streams of what is listed are read, so -n makes it fast where there are thousands; no
content is. What cannot be read shows as -, which 'git jp check' explains.`
}

// conversationRecord is a conversation in JSON, in every command that lists some.
type conversationRecord struct {
	ID           string            `json:"id"`
	Title        string            `json:"title"`
	Path         string            `json:"path"`
	Active       bool              `json:"active"`
	Archived     bool              `json:"archived"`
	Local        bool              `json:"local"`
	Legacy       bool              `json:"legacy"`
	CreatedAt    time.Time         `json:"created_at"`
	LastActiveAt *time.Time        `json:"last_active_at"` // null when the metadata is damaged
	PinnedAt     *time.Time        `json:"pinned_at"`
	ArchivedAt   *time.Time        `json:"archived_at"`
	ExpiresAt    *time.Time        `json:"expires_at"`
	Labels       map[string]string `json:"labels"`
	ForkedFrom   *workspace.Origin `json:"forked_from"`
}

// A listedRecord is a conversation in `ls --json`. What its stream says is null where that
// cannot be read.
type listedRecord struct {
	conversationRecord
	Turns       *int    `json:"turns"`
	StreamBytes *int64  `json:"stream_bytes"`
	Model       *string `json:"model"`
	FirstWords  *string `json:"first_words"`

	entry   workspace.Entry
	outline *render.Outline
}

// Run lists the conversations.
func (c lsCmd) Run(a *app) error {
	if c.Limit < 0 {
		return usagef("--limit %d: expected a positive number", c.Limit)
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	if c.Local {
		if err := adoptLocal(a, w); err != nil {
			return err
		}
	}
	all, problems, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return err
	}
	records, failed := c.records(a, c.wanted(all), problems)
	c.sort(records)
	if c.Limit > 0 && len(records) > c.Limit {
		records = records[len(records)-c.Limit:]
	}
	inParallel(len(records), func(i int) { records[i].read(w) })
	if err := c.print(a, records); err != nil {
		return err
	}
	if len(records) == 0 || a.Verbose {
		c.noteHidden(a, all, len(records))
	}
	if failed || len(problems) > 0 {
		return report.ErrProblems
	}
	return nil
}

// wanted leaves out what was not asked for.
func (c lsCmd) wanted(all []workspace.Entry) []workspace.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e workspace.Entry) bool {
		if c.Agents && e.ID.IsDerived() {
			return false
		}
		return c.Agents || e.Partition == workspace.Archive && !c.Archived || e.Local && !c.Local
	})
}

// noteHidden says why a list is shorter than one may think.
func (c lsCmd) noteHidden(a *app, all []workspace.Entry, listed int) {
	agents, archived, local := 0, 0, 0
	for _, e := range all {
		switch {
		case c.Agents:
		case e.Partition == workspace.Archive && !c.Archived && e.ID.IsDerived():
			agents++
		case e.Partition == workspace.Archive && !c.Archived:
			archived++
		case e.Local && !c.Local:
			local++
		}
	}
	if listed == 0 {
		a.note("no conversations to list")
	}
	if agents > 0 {
		a.note("%s of agents, listed with --agents", render.Count(agents, "session"))
	}
	if archived > 0 {
		a.note("%d archived, listed with --archived", archived)
	}
	if local > 0 {
		a.note("%d user-local, listed with --local", local)
	}
}

// records reads the details of each entry. One that cannot be read is listed
// without them and reported, unless problems say so already.
func (c lsCmd) records(
	a *app, entries []workspace.Entry, problems []workspace.Problem,
) (records []*listedRecord, failed bool) {
	told := make(map[string]bool)
	for _, p := range problems {
		a.warn("%s", p)
		told[p.Path] = true
	}
	active := activeID(a, a.openWorkspace)
	loaded, errs := loadDetails(a.openWorkspace, entries)
	for i, e := range entries {
		if errs[i] != nil {
			if !told[e.Path] {
				a.warn("%v", errs[i])
			}
			failed = true
			loaded[i] = &events.Details{}
		}
		if hasLabels(loaded[i].Labels, c.Label) {
			r := &listedRecord{conversationRecord: newRecord(e, loaded[i]), entry: e}
			r.Active = e.ID == active
			records = append(records, r)
		}
	}
	return records, failed
}

// read adds what the stream says.
func (r *listedRecord) read(w *workspace.Workspace) {
	text, err := w.LoadText(r.entry)
	if err != nil {
		return // a list is no check
	}
	o := render.OutlineOf(text.Stream, text.BaseConfig, text.Bytes)
	r.outline = &o
	r.Turns, r.StreamBytes, r.Model, r.FirstWords = &o.Turns, &o.Bytes, &o.Model, &o.First
}

// loadDetails reads the metadata of all entries.
func loadDetails(w *workspace.Workspace, entries []workspace.Entry) ([]*events.Details, []error) {
	details, errs := make([]*events.Details, len(entries)), make([]error, len(entries))
	inParallel(len(entries), func(i int) { details[i], errs[i] = w.LoadDetails(entries[i]) })
	return details, errs
}

// inParallel calls f for each of n by several goroutines: most of the time of reading many
// small files is spent in the system opening them.
func inParallel(n int, f func(i int)) {
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	readers.Wait()
}

func newRecord(e workspace.Entry, d *events.Details) conversationRecord {
	r := conversationRecord{
		ID: e.ID.String(), Path: e.Path, Archived: e.Partition == workspace.Archive,
		Local: e.Local, Legacy: e.Legacy, CreatedAt: d.CreatedAt(e.ID),
		PinnedAt: d.PinnedAt, ExpiresAt: d.ExpiresAt,
		Labels: map[string]string{}, ForkedFrom: workspace.OriginOf(d),
	}
	if r.Archived {
		r.ArchivedAt = d.ArchivedAt // of one that was taken back it may be left
	}
	if !d.LastActivatedAt.IsZero() {
		r.LastActiveAt = &d.LastActivatedAt
	}
	maps.Copy(r.Labels, d.Labels)
	if d.Title != nil {
		r.Title = *d.Title
	}
	return r
}

// lastActive is the zero time when it is not known.
func (r conversationRecord) lastActive() time.Time {
	if r.LastActiveAt == nil {
		return time.Time{}
	}
	return *r.LastActiveAt
}

// activeID returns the id of this session's active conversation, 0 for none.
func activeID(a *app, w *workspace.Workspace) events.ID {
	s, ok := workspace.SessionOf(a.workspaceEnv(a.openConfig.Settings()))
	if !ok {
		return 0
	}
	e, err := w.Active(s)
	if err != nil {
		return 0
	}
	return e.ID
}

// hasLabels reports whether labels has each of want, as KEY or KEY=VALUE.
func hasLabels(labels map[string]string, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool {
		key, value, exact := strings.Cut(w, "=")
		have, ok := labels[key]
		return !ok || exact && have != value
	})
}

func (c lsCmd) sort(records []*listedRecord) {
	slices.SortStableFunc(records, func(x, y *listedRecord) int {
		switch c.Sort {
		case "title":
			return cmp.Compare(strings.ToLower(x.Title), strings.ToLower(y.Title))
		case "activity":
			return x.lastActive().Compare(y.lastActive())
		default:
			return x.CreatedAt.Compare(y.CreatedAt)
		}
	})
	if c.Reverse {
		slices.Reverse(records)
	}
}

func (c lsCmd) print(a *app, records []*listedRecord) error {
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range records {
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	list := make([]render.Listed, len(records))
	for i, r := range records {
		list[i] = r.listed(a)
	}
	return render.List(a.output(), list).Write(a.stdout)
}

func (r *listedRecord) listed(a *app) render.Listed {
	l := render.Listed{
		Marks: marks(r.conversationRecord), ID: r.ID, Active: ago(a, r.lastActive()),
		Title: r.Title, Labels: labelText(withoutSession(r.Labels)), Outline: r.outline,
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

// withoutSession leaves out the labels with which an import keeps count.
func withoutSession(labels map[string]string) map[string]string {
	shown := maps.Clone(labels)
	for _, key := range []string{
		events.LabelSession, events.LabelImport, events.LabelRules, events.LabelParent,
		events.LabelDir,
	} {
		delete(shown, key)
	}
	return shown
}

// ago says when something happened: relative for a person, exact in a file.
func ago(a *app, t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case a.stdoutTerminal:
		return render.Ago(a.now(), t)
	default:
		return t.UTC().Format(time.RFC3339)
	}
}

// moment is ago with the exact time, where there is room for both.
func moment(a *app, t time.Time) string {
	if t.IsZero() || !a.stdoutTerminal {
		return ago(a, t)
	}
	return t.Local().Format("2006-01-02 15:04") + ", " + ago(a, t)
}

func marks(r conversationRecord) string {
	var b strings.Builder
	for _, m := range []struct {
		on   bool
		mark byte
	}{
		{r.Active, '*'},
		{r.PinnedAt != nil, '^'},
		{r.Archived, 'a'},
		{r.Local, 'l'},
		{r.Legacy, 'o'},
	} {
		if m.on {
			b.WriteByte(m.mark)
		}
	}
	return b.String()
}

func labelText(labels map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == "" {
			fmt.Fprintf(&b, " [%s]", key)
		} else {
			fmt.Fprintf(&b, " [%s=%s]", key, labels[key])
		}
	}
	return b.String()
}
