package llmtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A Reply is one response of a [Server].
type Reply struct {
	Status int // 0 for 200
	Header http.Header
	Body   []byte
	// Chunk returns how many bytes of the body the n-th write sends; nil sends all at once.
	Chunk func(n int) int
	// Hang keeps the connection open after the body, until the client disconnects.
	Hang bool
	// Repeat sends the body repeatedly, until the client disconnects.
	Repeat bool
	// Abort closes the connection after the body, before the end of the response.
	Abort bool
}

// Odd splits a body into chunks of 1 to 61 bytes, so that every kind of boundary occurs.
func Odd(n int) int { return 1 + n*7%61 }

// Bytewise splits a body into single bytes.
func Bytewise(int) int { return 1 }

// A Server replies to requests in the order of its script; the last reply repeats.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	replies []Reply
	next    int
	sent    []Sent
	done    chan struct{}
	busy    sync.WaitGroup
}

// Sent is a received request.
type Sent struct {
	Method, Path string
	Query        string
	Header       http.Header
	Body         []byte
}

// Serve starts a server, which ends with the test.
func Serve(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s := &Server{replies: replies, done: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.done)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Script converts recorded exchanges to replies, split by chunk.
func Script(exchanges []Exchange, chunk func(int) int) []Reply {
	replies := make([]Reply, len(exchanges))
	for i, e := range exchanges {
		replies[i] = Reply{Status: e.Status, Header: e.Header, Body: e.Body, Chunk: chunk}
	}
	return replies
}

// Sent returns the requests received so far.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent(nil), s.sent...)
}

// Endpoint returns an endpoint for the server in a format, without waits between attempts.
func (s *Server) Endpoint(t testing.TB, f wire.Format) llm.Endpoint {
	t.Helper()
	transport := &http.Transport{}
	client := wire.NewClient(wire.ClientOptions{
		Provider: string(f), Format: f, Idle: 10 * time.Second, Base: transport,
	})
	t.Cleanup(transport.CloseIdleConnections)
	return llm.Endpoint{Provider: string(f), BaseURL: s.URL, Key: "key", Client: client}
}

// Left waits until the server has no open request, and fails if a client stays on a response that
// hangs.
func (s *Server) Left(t testing.TB) {
	t.Helper()
	left := make(chan struct{})
	go func() {
		s.busy.Wait()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(5 * time.Second):
		t.Error("a connection is left open")
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	reply := s.reply(Sent{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: body,
	})
	for name, values := range reply.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	for ok := reply.write(w); ok && reply.Repeat && r.Context().Err() == nil; {
		ok = reply.write(w)
	}
	if reply.Hang {
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
	if reply.Abort {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) reply(sent Sent) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, sent)
	if len(s.replies) == 0 {
		return Reply{Status: http.StatusTeapot}
	}
	reply := s.replies[min(s.next, len(s.replies)-1)]
	s.next++
	return reply
}

// write reports whether the client still reads.
func (r Reply) write(w http.ResponseWriter) bool {
	flusher, _ := w.(http.Flusher)
	for i, rest := 0, r.Body; len(rest) > 0; i++ {
		n := len(rest)
		if r.Chunk != nil {
			n = min(n, r.Chunk(i))
		}
		if _, err := w.Write(rest[:n]); err != nil {
			return false
		}
		rest = rest[n:]
		flusher.Flush()
	}
	flusher.Flush()
	return true
}
