package wire_test

import (
	"errors"
	"net"
	"net/http"
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
