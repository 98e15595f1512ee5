package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/mcp"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A counting starter counts.
type counting struct {
	tool.Starter
	starts int
}

// Start implements [tool.Starter].
func (c *counting) Start(ctx context.Context, cmd tool.Command) (tool.Process, error) {
	c.starts++
	return c.Starter.Start(ctx, cmd)
}

// TestAServerThatEndsIsStartedAgain says how it ended, and asks a new one the next time, but not
// again what the one that ended may have done.
func TestAServerThatEndsIsStartedAgain(t *testing.T) {
	s, o := self(t)
	starter := &counting{Starter: o.Starter}
	o.Starter = starter
	session := connect(t, s, o)
	r := run(t, session, "die", `{"x":1}`)
	if got := shows(t, r); !strings.Contains(got, "the server ended, exit status 3: out of memory") {
		t.Errorf("the end: %q", got)
	}
	if starter.starts != 1 {
		t.Errorf("%d servers were asked to die, want 1", starter.starts)
	}
	if got := shows(t, run(t, session, "echo", `{"x":2}`)); got != `{"x":2}` {
		t.Errorf("the next call: %q", got)
	}
}

// TestAServerIsPermittedAgain checks that a server is not started again without a look at what it
// would run now.
func TestAServerIsPermittedAgain(t *testing.T) {
	s, o := self(t)
	o.Permit = func() error { return errors.New("its file has changed") }
	session := connect(t, s, o)
	run(t, session, "die", `{"x":1}`)
	got := shows(t, run(t, session, "echo", `{"x":2}`))
	if !strings.HasSuffix(got, "its file has changed") {
		t.Errorf("got %q", got)
	}
}

// TestThePermitTakesNoTime checks that a user who thinks about a server that was forgotten uses up
// the time of none of the calls that wait for it.
func TestThePermitTakesNoTime(t *testing.T) {
	const limit = 300 * time.Millisecond
	srv, forget, _ := forgetful(t, "")
	session := connect(t, mcp.Server{ID: "srv", URL: srv.URL}, mcp.Options{
		Client: mcp.NewClient(nil),
		Permit: func() error { time.Sleep(2 * limit); return nil },
	})
	item, err := session.Tool(tool.Config{
		Name: "echo", Policy: tool.Policy{Run: tool.Unattended, Timeout: limit},
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := tool.NewExecutor([]tool.Item{item}, tool.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	forget()
	call := tool.Call{Name: "echo", Arguments: jsontext.Value(`{"x":1}`)}
	results, err := x.Run(t.Context(), []tool.Call{call, call}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if got := shows(t, r); got != `{"x":1}` {
			t.Errorf("call %d: %s", i, got)
		}
	}
}

// TestOtherLinesOfAServer skips what is no message on its standard output.
func TestOtherLinesOfAServer(t *testing.T) {
	s, o := self(t)
	s.Args = []string{"-c", `printf '%s\n' "Server 1.0" '{"level":30}' '{}' '[]' "" ">"; exec "$0"`, s.Program}
	s.Program = "sh"
	if got := shows(t, run(t, connect(t, s, o), "echo", `{"x":2}`)); got != `{"x":2}` {
		t.Errorf("got %q", got)
	}
}

// forgetful serves over HTTP, and refuses the sessions that its function forgets with a body.
func forgetful(t *testing.T, body string) (srv *httptest.Server, forget func(), calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	var known, gone atomic.Value
	known.Store("")
	gone.Store("-")
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		s := server()
		s.AddReceivingMiddleware(beforeDiscovery, func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "tools/call" {
					calls.Add(1)
				}
				return next(ctx, method, r)
			}
		})
		return s
	}, nil)
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Mcp-Session-Id")
		if id == gone.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, body)
			return
		}
		if id != "" {
			known.Store(id)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, func() { gone.Store(known.Load()) }, calls
}

// TestASessionThatAServerForgot begins another one, and makes the call once.
func TestASessionThatAServerForgot(t *testing.T) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Session not found"},"id":"server-error"}`,
		"",
	} {
		srv, forget, calls := forgetful(t, body)
		session := connect(t, mcp.Server{ID: "srv", URL: srv.URL}, mcp.Options{Client: mcp.NewClient(nil)})
		run(t, session, "echo", `{"x":1}`)
		forget()
		if got := shows(t, run(t, session, "echo", `{"x":2}`)); got != `{"x":2}` || calls.Load() != 2 {
			t.Errorf("body %q: got %q after %d calls", body, got, calls.Load())
		}
	}
}

// TestRefusalsOfAnAddress are said in words, without the address, whose query may be secret.
func TestRefusalsOfAnAddress(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			http.Error(w, `{"error":"invalid_token"}`, http.StatusUnauthorized)
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<html>")
		case "/found":
			http.Redirect(w, r, "/page?key=secret", http.StatusFound)
		case "/elsewhere":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		case "/cut":
			panic(http.ErrAbortHandler)
		default:
			http.Error(w, "boom", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(srv.Close)
	for at, want := range map[string]string{
		srv.URL + "/login?key=secret":    "it returned 401: it wants a token in its 'headers'",
		srv.URL + "/page?key=secret":     "it returned a web page",
		srv.URL + "/found?key=secret":    "an MCP server may not redirect to " + srv.URL + "/page",
		srv.URL + "/elsewhere":           "an MCP server may not redirect to http://127.0.0.1:1/",
		srv.URL + "/cut?key=secret":      "the server closed the connection",
		srv.URL + "/?key=secret":         "it returned 500 Internal Server Error",
		"http://127.0.0.1:1/?key=secret": "dial tcp 127.0.0.1:1: connect: connection refused",
	} {
		_, err := mcp.Connect(t.Context(), mcp.Server{ID: "srv", URL: at}, mcp.Options{Client: mcp.NewClient(nil)})
		if want = `connect to MCP server "srv": ` + want; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", at, err, want)
		}
	}
}
