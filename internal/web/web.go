package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
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

// An Entry is a conversation that a source has.
type Entry struct {
	ID      events.ID
	Version string // changes when the conversation does
	Load    func() (*workspace.Conversation, view.Conversation, error)
}

// A Source has the conversations that are shown.
type Source interface {
	// Entries returns them as they are now.
	Entries(ctx context.Context) ([]Entry, error)
}

// A Server is a handler.
type Server struct {
	Source Source // required
	Token  string // required: the first element of each path
	Host   string // required: the address that it listens on
	Title  string
	Page   view.Document

	mu        sync.Mutex // one request is answered at a time: sources are read by one
	summaries map[events.ID]summary
	listed    struct { // the list as it was written last, by the versions of all
		versions [sha256.Size]byte
		page     []byte
	}
}

type summary struct {
	version string
	session string
	view.Summary
}

// Listen listens on loopback, where port 0 is any.
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
	case r.Host != s.Host:
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
	if err := s.answer(w, r, name); errors.Is(err, fs.ErrNotExist) {
		http.NotFound(w, r)
	} else if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// ownOrigin reports whether a request comes from no page or from one of this server.
func (s *Server) ownOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "cross-site" || site == "same-site" { // a link from elsewhere has no token anyway
		return false
	}
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	return origin == "" || err == nil && u.Scheme == "http" && u.Host == s.Host
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.Source.Entries(r.Context())
	if err != nil {
		return err
	}
	switch name {
	case "":
		return s.list(w, r, all)
	case "search":
		return s.search(w, r, all)
	}
	digits, ok := strings.CutSuffix(name, ".html")
	id, err := events.ParseID(digits)
	i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	if !ok || err != nil || i < 0 {
		return fs.ErrNotExist
	}
	return s.conversation(w, r, all, all[i])
}

// write sends a page, or that it is the one that the browser has.
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

func (s *Server) list(w http.ResponseWriter, r *http.Request, all []Entry) error {
	versions := versionsOf(all)
	if s.listed.page == nil || s.listed.versions != versions {
		list := make([]view.Summary, 0, len(all))
		for _, sum := range s.summarize(all) {
			list = append(list, sum.Summary)
		}
		slices.SortStableFunc(list, func(a, b view.Summary) int { return b.Last.Compare(a.Last) })
		var page bytes.Buffer
		if err := (view.Index{Title: s.Title, Search: "search"}).Write(&page, list); err != nil {
			return err
		}
		s.listed.versions, s.listed.page = versions, page.Bytes()
	}
	return write(w, r, s.listed.page)
}

// versionsOf changes when one of the conversations does, or which there are.
func versionsOf(all []Entry) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, e := range all {
		_, _ = io.WriteString(h, e.ID.String()+" "+e.Version+"\n") // a hash takes all
	}
	h.Sum(sum[:0])
	return sum
}

// summarize returns what the list says, of what did not change as it was.
func (s *Server) summarize(all []Entry) []summary {
	was := s.summaries
	s.summaries = make(map[events.ID]summary, len(all))
	list := make([]summary, 0, len(all))
	for _, e := range all {
		sum, ok := was[e.ID]
		if !ok || sum.version != e.Version {
			conv, _, err := e.Load()
			if err != nil {
				continue // its page says why
			}
			sum = summary{e.Version, view.SessionOf(conv), s.Page.Summarize(conv)}
			sum.Page = e.ID.Digits() + ".html"
		}
		s.summaries[e.ID] = sum
		list = append(list, sum)
	}
	return list
}

func (s *Server) conversation(
	w http.ResponseWriter, r *http.Request, all []Entry, e Entry,
) error {
	_, shown, err := e.Load()
	if err != nil {
		return err
	}
	doc := s.Page
	doc.Home, doc.Live = "./", true
	doc.Link = func(name string) string {
		for _, sum := range s.summarize(all) {
			if sum.session == name || sum.ID.String() == name {
				return sum.Page
			}
		}
		return ""
	}
	var page bytes.Buffer
	if _, err := doc.Write(&page, shown); err != nil {
		return err
	}
	return write(w, r, page.Bytes())
}

// search answers a form: what was found, in tool results too, with links to the turns.
func (s *Server) search(w http.ResponseWriter, r *http.Request, all []Entry) error {
	const most = 200
	words := strings.TrimSpace(r.URL.Query().Get("q"))
	page := view.Hits{Words: words}
	var pattern *search.Pattern
	var err error
	if words != "" {
		if pattern, err = search.Compile(search.Query{Pattern: words}); err != nil {
			return err
		}
	}
	for _, e := range all {
		if pattern == nil || len(page.All) >= most || r.Context().Err() != nil {
			break
		}
		conv, shown, err := e.Load()
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

// firstMatch is the first line of a hit, around what matched.
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
