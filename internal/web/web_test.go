package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
	"github.com/git-jp/git-jp/internal/workspace"
)

// source has conversations in memory, and counts how often they are read.
type source struct {
	said    map[events.ID]string
	loads   int
	details int
	mu      sync.Mutex    // details are read by several goroutines
	hold    chan struct{} // nil, or what a load waits for
	err     error
}

func (s *source) Entries(context.Context) ([]web.Entry, error) {
	var all []web.Entry
	for id, words := range s.said {
		title := "talk " + id.Digits()
		version := func() string { return words }
		details := func() (*events.Details, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.details++
			return &events.Details{Title: &title}, nil
		}
		all = append(all, web.Entry{ID: id, Version: version, Details: details, Load: func() (*workspace.Conversation, view.Conversation, error) {
			s.loads++
			if s.hold != nil {
				<-s.hold
			}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			stream := events.New(events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
				events.NewElement(at, &events.ChatRequest{Content: words}, events.Metadata{}))
			conv := &workspace.Conversation{
				Entry: workspace.Entry{ID: id}, Stream: stream,
				Details: &events.Details{Title: &title},
			}
			return conv, view.Conversation{Conversation: render.Conversation{ID: id, Title: title, Stream: stream}}, nil
		}})
	}
	return all, s.err
}

const host = "127.0.0.1:1234"

func get(t *testing.T, h http.Handler, method, path string, header ...string) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(method, "http://"+host+path, nil)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body), w.Header()
}

// TestOnlyOwnPagesAreAnswered tests which requests are answered: none by another name of this
// machine, from another page, without the token, or that would write.
func TestOnlyOwnPagesAreAnswered(t *testing.T) {
	s := &web.Server{Source: &source{said: map[events.ID]string{17000000001: "secret"}}, Token: "tok", Host: host, Patience: time.Minute}
	for name, c := range map[string]struct {
		method, path string
		header       []string
		want         int
	}{
		"the list":               {"GET", "/tok/", nil, 200},
		"a page":                 {"GET", "/tok/17000000001.html", nil, 200},
		"from the list":          {"GET", "/tok/17000000001.html", []string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}, 200},
		"typed in":               {"GET", "/tok/", []string{"Sec-Fetch-Site", "none"}, 200},
		"without a body":         {"HEAD", "/tok/", nil, 200},
		"rebound name":           {"GET", "/tok/", []string{"Host", "evil.example:1234"}, 421},
		"another name of ours":   {"GET", "/tok/", []string{"Host", "localhost:1234"}, 421},
		"another port":           {"GET", "/tok/", []string{"Host", "127.0.0.1:80"}, 421},
		"another origin":         {"GET", "/tok/", []string{"Origin", "https://evil.example"}, 403},
		"no origin to speak of":  {"GET", "/tok/", []string{"Origin", "null"}, 403},
		"another site":           {"GET", "/tok/", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"no token":               {"GET", "/", nil, 404},
		"another token":          {"GET", "/tokk/", nil, 404},
		"the beginning of it":    {"GET", "/to/", nil, 404},
		"writing":                {"POST", "/tok/", nil, 405},
		"an unknown page":        {"GET", "/tok/17000000002.html", nil, 404},
		"a path out of the list": {"GET", "/tok/../../etc/passwd", nil, 404},
	} {
		code, body, h := get(t, s, c.method, c.path, c.header...)
		if code != c.want {
			t.Errorf("%s: got %d, want %d", name, code, c.want)
		}
		if code != 200 && strings.Contains(body, "secret") {
			t.Errorf("%s: got %q", name, body)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: got headers %v", name, h)
		}
	}
}

// TestTheUsualPort answers requests that do not name it: browsers leave it out.
func TestTheUsualPort(t *testing.T) {
	s := &web.Server{Source: &source{}, Token: "tok", Host: "127.0.0.1:80", Patience: time.Minute}
	for _, at := range []string{"127.0.0.1", "127.0.0.1:80"} {
		if code, _, _ := get(t, s, "GET", "/tok/", "Host", at, "Origin", "http://"+at); code != 200 {
			t.Errorf("%s: got %d", at, code)
		}
	}
}

// TestPagesFollow verifies that a page has a tag that changes when the conversation does, and that
// the list reads what changed and nothing else.
func TestPagesFollow(t *testing.T) {
	src := &source{said: map[events.ID]string{17000000001: "one", 17000000002: "two"}}
	s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Minute}
	_, _, h := get(t, s, "GET", "/tok/17000000001.html")
	tag := h.Get("ETag")
	if code, body, _ := get(t, s, "GET", "/tok/17000000001.html", "If-None-Match", tag); code != 304 || body != "" {
		t.Errorf("unchanged: got %d and %d bytes", code, len(body))
	}
	get(t, s, "GET", "/tok/")
	src.loads = 0
	get(t, s, "GET", "/tok/")
	if src.loads != 0 {
		t.Errorf("a list of what did not change read %d conversations", src.loads)
	}
	src.loads = 0
	src.said[17000000001] = "one more"
	code, body, h := get(t, s, "GET", "/tok/17000000001.html", "If-None-Match", tag)
	if code != 200 || !strings.Contains(body, "one more") || h.Get("ETag") == tag {
		t.Errorf("changed: got %d, tag %s", code, h.Get("ETag"))
	}
	if _, body, _ := get(t, s, "GET", "/tok/"); src.loads != 2 || !strings.Contains(body, "one more") {
		t.Errorf("a page and a list after one change read %d conversations", src.loads)
	}
}

// TestFiguresCome verifies that a list does not wait for the streams: it is sent with the metadata,
// and its script gets the rest, each row once, and the removed rows.
func TestFiguresCome(t *testing.T) {
	src := &source{said: map[events.ID]string{17000000001: "one", 17000000002: "two"}, hold: make(chan struct{})}
	s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Millisecond}
	_, body, _ := get(t, s, "GET", "/tok/")
	if !strings.Contains(body, ">talk 17000000001</a>") || strings.Contains(body, ">one<") ||
		!strings.Contains(body, `<noscript><meta http-equiv="refresh"`) {
		t.Errorf("before the streams are read: got %q", body)
	}
	next := regexp.MustCompile(`data-next="(\d+)"`)
	after := next.FindStringSubmatch(body)[1]
	if _, body, _ := get(t, s, "GET", "/tok/rows?after="+after); strings.Contains(body, "<a ") || !strings.Contains(body, `id="pending">2<`) {
		t.Errorf("nothing new: got %q", body)
	}
	close(src.hold)
	s.Patience = time.Minute
	_, body, _ = get(t, s, "GET", "/tok/rows?after="+after)
	if !strings.Contains(body, ">one<") || !strings.Contains(body, ">two<") || !strings.Contains(body, `id="pending">0<`) {
		t.Errorf("after the streams were read: got %q", body)
	}
	delete(src.said, 17000000002)
	_, body, _ = get(t, s, "GET", "/tok/rows?after="+next.FindStringSubmatch(body)[1])
	if strings.Contains(body, "<a ") || !strings.Contains(body, `id="gone">c17000000002<`) {
		t.Errorf("one is gone: got %q", body)
	}
	if src.details != 2 {
		t.Errorf("metadata was read %d times", src.details)
	}
}

// TestAPageOfANewConversation is there although a search that was there before it is still running.
func TestAPageOfANewConversation(t *testing.T) {
	src := &source{said: map[events.ID]string{17000000001: "one"}, hold: make(chan struct{})}
	s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Millisecond}
	get(t, s, "GET", "/tok/")
	src.said[17000000002] = "two"
	time.AfterFunc(20*time.Millisecond, func() { close(src.hold) })
	if code, body, _ := get(t, s, "GET", "/tok/17000000002.html"); code != 200 || !strings.Contains(body, "two") {
		t.Errorf("got %d", code)
	}
}

// TestAListWaitsOnce verifies that an update has the patience of one request: further requests do
// not wait while streams are read.
func TestAListWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{said: map[events.ID]string{17000000001: "one"}, hold: make(chan struct{})}
		s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Second, Now: time.Now}
		for i, want := range []time.Duration{time.Second, 0, 0} {
			begun := time.Now()
			if _, body, _ := get(t, s, "GET", "/tok/"); !strings.Contains(body, "talk 17000000001") {
				t.Errorf("request %d: got %q", i, body)
			}
			if took := time.Since(begun); took != want {
				t.Errorf("request %d waited %s, want %s", i, took, want)
			}
		}
		close(src.hold)
		synctest.Wait()
	})
}

// TestAListIsWrittenOnceAnUpdate sends the same list while streams are read, although figures came:
// its script has them as rows.
func TestAListIsWrittenOnceAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{said: map[events.ID]string{17000000001: "one", 17000000002: "two"}, hold: make(chan struct{})}
		s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Second, Now: time.Now}
		_, first, _ := get(t, s, "GET", "/tok/")
		src.hold <- struct{}{}
		synctest.Wait()
		if _, again, _ := get(t, s, "GET", "/tok/"); again != first {
			t.Error("the list was written again")
		}
		if _, rows, _ := get(t, s, "GET", "/tok/rows?after=2"); !strings.Contains(rows, `id="pending">1<`) {
			t.Errorf("got rows %q", rows)
		}
		close(src.hold)
		synctest.Wait()
		if _, all, _ := get(t, s, "GET", "/tok/"); !strings.Contains(all, ">one<") || !strings.Contains(all, ">two<") {
			t.Errorf("got %q", all)
		}
	})
}

// TestAuthorsAreThoseOfCommits asks once for the authors of new conversations.
func TestAuthorsAreThoseOfCommits(t *testing.T) {
	asked := 0
	s := &web.Server{Source: &source{said: map[events.ID]string{17000000001: "one"}}, Token: "tok", Host: host, Patience: time.Minute}
	s.Authors = func(context.Context) (map[events.ID]string, error) {
		asked++
		return map[events.ID]string{17000000001: "Grace"}, nil
	}
	for range 2 {
		if _, body, _ := get(t, s, "GET", "/tok/"); !strings.Contains(body, ">Grace</td>") || asked != 1 {
			t.Errorf("asked %d times, got %q", asked, body)
		}
	}
}

// TestSearchLeadsToTurns verifies that a hit is a link to the event, and is escaped.
func TestSearchLeadsToTurns(t *testing.T) {
	src := &source{said: map[events.ID]string{17000000001: "a <b>needle</b> here", 17000000002: "hay"}}
	s := &web.Server{Source: src, Token: "tok", Host: host, Patience: time.Minute}
	_, body, _ := get(t, s, "GET", "/tok/search?q=needle")
	for _, want := range []string{
		"1 place", `href="17000000001.html?q=needle#e-1767225600000000-1767225600000000-chat_request-`,
		"&lt;b&gt;needle&lt;/b&gt;",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(body, "17000000002") {
		t.Error("the other conversation was found")
	}
	if code, body, _ := get(t, s, "GET", "/tok/search?q="); code != 200 || !strings.Contains(body, "0 places") {
		t.Errorf("nothing to search: got %d", code)
	}
}

// TestASourceThatFails is an error and no crash.
func TestASourceThatFails(t *testing.T) {
	s := &web.Server{Source: &source{err: errors.New("no tree")}, Token: "tok", Host: host, Patience: time.Minute}
	if code, _, _ := get(t, s, "GET", "/tok/"); code != 500 {
		t.Errorf("got %d, want 500", code)
	}
}

// TestListenIsLoopback tests where the server can be reached, and that it ends.
func TestListenIsLoopback(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := web.Listen(ctx, "0")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Addr().String(); !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("listens on %s", got)
	}
	s := &web.Server{Source: &source{}, Token: "tok", Host: l.Addr().String()}
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	answer, err := http.Get("http://" + s.Host + "/tok/")
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != 200 {
		t.Errorf("got %d, %v", answer.StatusCode, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
}
