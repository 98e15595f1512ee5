package web

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/view"
)

// patience is how long a list waits for figures, see [Server.Patience].
const patience = 60 * time.Millisecond

// A list caches the summaries of a source's conversations. One search at a time updates it, first
// from the metadata of each conversation, then from their streams. Requests are answered from the
// results so far while the search continues.
type list struct {
	mu      sync.Mutex
	known   map[events.ID]*known
	names   map[string]string // pages by the names of sessions and conversations
	gone    map[events.ID]int // by the number of the change
	changes int
	running *lookup // nil if no search is running
	last    *lookup
	page    []byte // of all, as it was written after so many changes
	written int
}

// A known is a conversation of the list.
type known struct {
	entry   Entry
	version string
	summary view.Summary
	author  string // the person who first committed it
	changed int    // the number of the last change
}

// A lookup is a search for what changed.
type lookup struct {
	begun time.Time
	found chan struct{} // closed when the metadata of all is read
	done  chan struct{} // closed when their streams were read too
	// The following fields are set before found is closed.
	err   error
	ended time.Time     // of the search for them
	took  time.Duration // by it
}

// isFresh reports whether the last search was so recent that searching again is not worth it: if a
// search takes long, it must not take most of the time.
func (u *lookup) isFresh(now time.Time) bool {
	const share = 5
	return u != nil && u.err == nil && u.took > patience/2 && now.Sub(u.ended) < share*u.took
}

// refresh begins to bring the list up to date, unless a search is running, or has just ended.
func (s *Server) refresh(ctx context.Context) *lookup {
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if u := s.list.running; u != nil {
		return u
	}
	if u := s.list.last; u.isFresh(s.now()) {
		return u
	}
	u := &lookup{begun: s.now(), found: make(chan struct{}), done: make(chan struct{})}
	s.list.running = u
	go s.run(context.WithoutCancel(ctx), u) // not only the first request waits for it
	return u
}

func (s *Server) now() (t time.Time) {
	if s.Now != nil {
		t = s.Now()
	}
	return t
}

func (s *Server) run(ctx context.Context, u *lookup) {
	defer close(u.done)
	var changed []*known
	changed, u.err = s.findAll(ctx)
	u.ended = s.now()
	u.took = u.ended.Sub(u.begun)
	close(u.found)
	authors := s.authors(ctx, changed)
	for _, k := range changed {
		s.summarize(k, authors)
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if len(changed) > 0 {
		s.list.relate()
	}
	s.list.running, s.list.last = nil, u
}

// authors returns the people who first committed conversations, if one of these is new.
func (s *Server) authors(ctx context.Context, changed []*known) map[events.ID]string {
	isNew := func(k *known) bool { return k.author == "" }
	if s.Authors == nil || !slices.ContainsFunc(changed, isNew) {
		return nil
	}
	authors, err := s.Authors(ctx)
	if err != nil {
		return nil // the list names the first asker
	}
	return authors
}

// summarize reads a conversation. An unreadable one keeps its summary: its page says why.
func (s *Server) summarize(k *known, authors map[events.ID]string) {
	conv, _, err := s.load(k.entry)
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if err == nil {
		k.summary = s.Page.Summarize(conv)
	}
	k.author = cmp.Or(authors[k.entry.ID], k.author)
	k.summary.Pending, k.summary.Author = false, cmp.Or(k.author, k.summary.Author)
	s.list.change(k)
}

// readAtOnce is how many conversations are read at a time: reading many small files waits for the
// disk more than for the processor.
const readAtOnce = 4

// findAll finds the conversations and reads their metadata. It returns the ones that changed.
func (s *Server) findAll(ctx context.Context) ([]*known, error) {
	all, err := s.Source.Entries(ctx)
	if err != nil {
		return nil, err
	}
	s.list.mu.Lock()
	was := s.list.known
	s.list.mu.Unlock()
	is := make([]*known, len(all))
	parallel.Each(len(all), readAtOnce, func(i int) {
		e := all[i]
		version := e.Version()
		if k := was[e.ID]; k != nil && k.version == version {
			is[i] = k
			return
		}
		k := &known{entry: e, version: version}
		k.summary = view.Summary{ID: e.ID, Page: e.ID.Digits() + ".html", Pending: true, Doc: -1}
		if d, err := e.Details(); err == nil {
			k.summary = view.HeadOf(e.ID, d)
		}
		if old := was[e.ID]; old != nil {
			k.author = old.author
		}
		is[i] = k
	})
	return s.list.enter(is), nil
}

// enter replaces the entries of the list, and returns the changed ones.
func (l *list) enter(is []*known) (changed []*known) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.known
	l.known, l.names = make(map[events.ID]*known, len(is)), make(map[string]string, len(is))
	if l.gone == nil {
		l.gone = make(map[events.ID]int)
	}
	for _, k := range is {
		id := k.entry.ID
		l.known[id] = k
		l.names[id.String()] = k.summary.Page
		if k.summary.Session != "" {
			l.names[k.summary.Session] = k.summary.Page
		}
		delete(l.gone, id)
		if was[id] != k {
			l.change(k)
			changed = append(changed, k)
		}
	}
	for id := range was {
		if l.known[id] == nil {
			l.changes++
			l.gone[id] = l.changes
		}
	}
	slices.SortFunc(changed, func(a, b *known) int {
		return b.summary.Last.Compare(a.summary.Last)
	})
	return changed
}

func (l *list) change(k *known) {
	l.changes++
	k.changed = l.changes
}

// summaries returns all summaries, the latest first, with the number of each one's last change.
func (l *list) summaries() (all []view.Summary, changed []int) {
	sorted := slices.SortedFunc(maps.Values(l.known), func(a, b *known) int {
		return cmp.Or(b.summary.Last.Compare(a.summary.Last), cmp.Compare(a.entry.ID, b.entry.ID))
	})
	for _, k := range sorted {
		all, changed = append(all, k.summary), append(changed, k.changed)
	}
	return all, changed
}

// relate adds up the cost of conversations together with those that come from them.
func (l *list) relate() {
	all, _ := l.summaries()
	view.Families(all)
	for _, s := range all {
		k := l.known[s.ID]
		if k.summary.Kin() != s.Kin() || k.summary.OriginPage != s.OriginPage ||
			k.summary.OriginName != s.OriginName {
			l.change(k)
		}
		k.summary = s
	}
}

// settle brings the list up to date as far as that takes no noticeable time: only once, since the
// rows of an update that takes longer are sent after the page.
func (s *Server) settle(ctx context.Context) error {
	u := s.refresh(ctx)
	select {
	case <-u.done:
	case <-ctx.Done():
	case <-time.After(cmp.Or(s.Patience, patience) - s.now().Sub(u.begun)):
		s.list.mu.Lock()
		first := s.list.known == nil
		s.list.mu.Unlock()
		if !first {
			return nil
		}
		<-u.found
	}
	select {
	case <-u.found:
		return u.err
	default:
		return nil
	}
}

func (s *Server) index() view.Index {
	x := view.Index{Title: s.Title, Search: "search", Rows: "rows", Next: s.list.changes}
	if s.History != nil {
		x.Links = []view.Link{
			{Name: "This branch", Page: branchPage}, {Name: "Commits", Page: commitsPage},
		}
	}
	return x
}

// writeList writes the page with all conversations.
func (s *Server) writeList(w http.ResponseWriter, r *http.Request) error {
	if err := s.settle(r.Context()); err != nil {
		return err
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	// While streams are read a page is outdated before it is sent, and its script requests the
	// rows.
	old := s.list.written != s.list.changes && s.list.running == nil
	if s.list.page == nil || old {
		all, _ := s.list.summaries()
		var page bytes.Buffer
		if err := s.index().Write(&page, all); err != nil {
			return err
		}
		s.list.page, s.list.written = page.Bytes(), s.list.changes
	}
	return write(w, r, s.list.page)
}

// writeRows writes the rows that changed since a page was made.
func (s *Server) writeRows(w http.ResponseWriter, r *http.Request) error {
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	if err := s.settle(r.Context()); err != nil {
		return err
	}
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	all, changed := s.list.summaries()
	rows := view.Rows{Index: s.index(), All: all}
	for i, n := range changed {
		if n > after {
			rows.Changed = append(rows.Changed, all[i])
		}
	}
	for id, n := range s.list.gone {
		if n > after {
			rows.Gone = append(rows.Gone, id)
		}
	}
	var page bytes.Buffer
	if err := rows.Write(&page); err != nil {
		return err
	}
	return write(w, r, page.Bytes())
}

// find returns the list's entry of a conversation.
func (s *Server) find(ctx context.Context, id events.ID) (known, bool, error) {
	if err := s.settle(ctx); err != nil {
		return known{}, false, err
	}
	if k, ok := s.list.find(id); ok {
		return k, true, nil
	}
	return s.findAgain(ctx, id)
}

// findAgain asks the source for a conversation. A search that is running may have been there before
// the conversation was.
func (s *Server) findAgain(ctx context.Context, id events.ID) (known, bool, error) {
	all, err := s.Source.Entries(ctx)
	if err != nil {
		return known{}, false, err
	}
	at := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	if at < 0 {
		return known{}, false, nil
	}
	k, _ := s.list.find(id)
	k.entry = all[at]
	return k, true, nil
}

func (l *list) find(id events.ID) (known, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.known[id]; k != nil {
		return *k, true
	}
	return known{}, false
}

// pageOf returns the page of a session or a conversation, "" for none.
func (s *Server) pageOf(name string) string {
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	return s.list.names[name]
}
