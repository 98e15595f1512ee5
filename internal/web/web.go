package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Entry is a conversation of a source. Version and Details are called by several goroutines at
// once.
type Entry struct {
	ID      events.ID
	Version func() string // changes when the conversation does
	Details func() (*events.Details, error)
	Load    func() (*workspace.Conversation, view.Conversation, error)
}

// A Source has the conversations that are shown.
type Source interface {
	// Entries returns the present ones.
	Entries(ctx context.Context) ([]Entry, error)
}

// A History knows what commits changed in conversations, and which turns lines come from.
type History interface {
	// Commits returns the commits that changed conversations, the newest first.
	Commits(ctx context.Context) ([]view.Commit, error)
	// Added returns the turns that a commit added; for "" the branch.
	Added(ctx context.Context, commit string) (title string, all []view.Conversation, err error)
	// Lines returns what the lines of a file come from, and File its page, "" for none.
	Lines(ctx context.Context, file string) ([]view.Span, error)
	File(name string) string
}

// A Server is a handler.
type Server struct {
	Source Source // required
	Token  string // required: the first element of each path
	Host   string // required: the address that it listens on
	Title  string
	Page   view.Document
	// Authors returns the people who first committed conversations; nil if that is unknown.
	Authors func(context.Context) (map[events.ID]string, error)
	// History knows the commits; nil if there are none.
	History History
	// Now is a clock; without one every request searches for changes.
	Now func() time.Time
	// Patience is how long a list waits for figures before it is sent without them; 0 is a time
	// that is not noticeable.
	Patience time.Duration

	loading sync.Mutex // one conversation is loaded at a time
	list    list
}

// Listen listens on loopback; port 0 means any port.
func Listen(ctx context.Context, port string) (net.Listener, error) {
	var l net.ListenConfig
	return l.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
}

// Serve answers until ctx is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	const patience = 10 * time.Second
	server := &http.Server{Handler: s, ReadHeaderTimeout: patience, WriteTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache, private")
	switch {
	case !s.isHost(r.Host):
		http.Error(w, "this server answers only to "+s.Host, http.StatusMisdirectedRequest)
		return
	case !s.ownOrigin(r):
		http.Error(w, "another page may not read this", http.StatusForbidden)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server only reads", http.StatusMethodNotAllowed)
		return
	}
	token, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1 {
		http.NotFound(w, r)
		return
	}
	if err := s.answer(w, r, name); err != nil {
		s.problem(w, err)
	}
}

// isHost reports whether a name is this server's. Browsers leave out the usual port.
func (s *Server) isHost(name string) bool { return name == s.Host || name+":80" == s.Host }

// ownOrigin reports whether a request comes from no page or from one of this server.
func (s *Server) ownOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "cross-site" || site == "same-site" { // a link from elsewhere has no token anyway
		return false
	}
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	return origin == "" || err == nil && u.Scheme == "http" && s.isHost(u.Host)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string) error {
	switch name {
	case "":
		return s.writeList(w, r)
	case "rows":
		return s.writeRows(w, r)
	case "search":
		return s.search(w, r)
	}
	if is, err := s.history(w, r, name); is {
		return err
	}
	digits, ok := strings.CutSuffix(name, ".html")
	digits, _ = strings.CutSuffix(digits, "-rest")
	id, err := events.ParseID(digits)
	if !ok || err != nil {
		return fs.ErrNotExist
	}
	return s.conversation(w, r, id, name == view.RestPage(digits))
}

// write sends a page, or that the browser's copy is current.
func write(w http.ResponseWriter, r *http.Request, page []byte) error {
	sum := sha256.Sum256(page)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, err := w.Write(page)
	if err != nil {
		return nil //nolint:nilerr // the browser went away
	}
	return nil
}

// load reads a conversation.
func (s *Server) load(e Entry) (*workspace.Conversation, view.Conversation, error) {
	s.loading.Lock()
	defer s.loading.Unlock()
	return e.Load()
}

// conversation writes the page of a conversation, or its page beside it with the rest of long
// texts.
func (s *Server) conversation(
	w http.ResponseWriter, r *http.Request, id events.ID, beside bool,
) error {
	k, ok, err := s.find(r.Context(), id)
	if err != nil || !ok {
		return cmp.Or(err, fs.ErrNotExist)
	}
	conv, shown, err := s.load(k.entry)
	if errors.Is(err, fs.ErrNotExist) { // its directory has the name of its title
		if k, ok, err = s.findAgain(r.Context(), id); err != nil || !ok {
			return cmp.Or(err, fs.ErrNotExist)
		}
		conv, shown, err = s.load(k.entry)
	}
	if err != nil {
		return err
	}
	shown.Left = s.left(conv)
	if kin := k.summary.Kin(); kin != "" {
		shown.Facts = append(shown.Facts, view.Fact{Name: "Together", Value: kin})
	}
	doc := s.Page
	doc.Home, doc.Live, doc.Link, doc.Rest = "./", true, s.pageOf, view.NewRest(id)
	if s.History != nil {
		doc.File = s.History.File
	}
	var page bytes.Buffer
	if _, err := doc.Write(&page, shown); err != nil {
		return err
	}
	if beside {
		page.Reset()
		if err := doc.Rest.Write(&page, doc.Home, view.TitleOf(shown)); err != nil {
			return err
		}
	}
	return write(w, r, page.Bytes())
}

// left returns the turns from which the person went back in a session. An unreadable conversation
// reports the error on its own page.
func (s *Server) left(conv *workspace.Conversation) (all []view.Left) {
	for _, name := range slices.Sorted(maps.Keys(conv.Details.Rewound())) {
		page := s.pageOf(name)
		id, err := events.ParseID(strings.TrimSuffix(page, ".html"))
		if page == "" || err != nil {
			continue
		}
		if k, ok := s.list.find(id); ok {
			if other, _, err := s.load(k.entry); err == nil {
				all = append(all, view.LeftOf(page, other.Stream))
			}
		}
	}
	return all
}

// search answers a form with the hits, in tool results too, with links to the turns.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	const most = 200
	all, err := s.Source.Entries(r.Context())
	if err != nil {
		return err
	}
	words := strings.ToValidUTF8(strings.TrimSpace(r.URL.Query().Get("q")), "\uFFFD")
	page := view.Hits{Words: words}
	var pattern *search.Pattern
	if words != "" {
		if pattern, err = search.Compile(search.Query{Pattern: words}); err != nil {
			return err
		}
	}
	for _, e := range all {
		if pattern == nil || len(page.All) >= most || r.Context().Err() != nil {
			break
		}
		conv, shown, err := s.load(e)
		if err != nil {
			continue
		}
		hits, _ := pattern.Stream(conv.Stream, shown.Contents)
		keys := conv.Stream.Keys()
		for _, h := range hits[:min(len(hits), most-len(page.All))] {
			page.All = append(page.All, view.Hit{
				Title: view.TitleOf(shown), Page: e.ID.Digits() + ".html", Key: keys[h.Element],
				Turn: h.Turn + 1, Scope: string(h.Scope), Text: firstMatch(h),
			})
		}
	}
	page.Cut = len(page.All) >= most
	var out bytes.Buffer
	if err := page.Write(&out); err != nil {
		return err
	}
	return write(w, r, out.Bytes())
}

// firstMatch returns the first matching line of a hit, around the match.
func firstMatch(h search.Hit) string {
	const before, most = 60, 240
	for _, l := range h.Lines {
		if !l.Match || len(l.Spans) == 0 {
			continue
		}
		from := max(l.Spans[0][0]-before, 0)
		return strings.ToValidUTF8(l.Text[from:min(from+most, len(l.Text))], "")
	}
	return ""
}
