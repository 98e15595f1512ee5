package wire_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// TestConnectingHasALimit connects to a server that accepts connections but stays silent, so that
// the TLS handshake does not end.
func TestConnectingHasALimit(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const limit = 50 * time.Millisecond
	c := wire.NewClient(wire.ClientOptions{Provider: "p", Connect: limit, First: time.Minute})
	res, err := c.Post("https://user:secret@"+silent.Addr().String()+"/v1?key=secret", "", http.NoBody)
	if err == nil {
		_ = res.Body.Close()
	}
	gone, ok := errors.AsType[*wire.UnreachableError](err)
	if !ok || !strings.HasSuffix(gone.Error(), "/v1: no connection within 50ms") ||
		strings.Contains(gone.Error(), "secret") || llm.Retryable(err) {
		t.Errorf("connecting ends with %v", err)
	}
}

// TestWhyThereIsNoAnswer says in words what the errors of package net mean, and who is to blame.
func TestWhyThereIsNoAnswer(t *testing.T) {
	foreign := httptest.NewUnstartedServer(nil)
	foreign.Config.ErrorLog = log.New(io.Discard, "", 0)
	foreign.StartTLS()
	defer foreign.Close()
	cutting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = errors.Join(conn.(*net.TCPConn).SetLinger(0), conn.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer cutting.Close()
	for name, tt := range map[string]struct{ url, proxy, want string }{
		"unknown authority": {foreign.URL, "", "p: connect to " + foreign.URL + ": its certificate is signed by an unknown authority"},
		"proxy":             {"https://model.example", "http://127.0.0.1:1", "p: connect to https://model.example: through the proxy: connection refused"},
		"reset":             {cutting.URL, "", "p: the connection was lost: connection reset by peer"},
	} {
		c := wire.NewClient(wire.ClientOptions{Provider: "p", Proxy: wire.Proxy{HTTPS: tt.proxy}})
		res, err := c.Post(tt.url, "", http.NoBody)
		if err == nil {
			_ = res.Body.Close()
		}
		if around, ok := errors.AsType[*url.Error](err); !ok || around.Err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
