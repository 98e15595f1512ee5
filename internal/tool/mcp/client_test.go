package mcp_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/mcp"
)

// longest is more than any answer may have, and little enough for a client that takes all of it.
const longest = 200 << 20

// endless writes an answer that does not end before it is refused, and counts its bytes.
func endless(w io.Writer, said *atomic.Int64) {
	piece := []byte(strings.Repeat("x", 1<<20))
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"x":"`)
	for said.Load() < longest {
		if _, err := w.Write(piece); err != nil {
			return
		}
		said.Add(int64(len(piece)))
	}
}

// packed writes such an answer in little time: packed once, piece by piece.
func packed(w io.Writer) error {
	var piece bytes.Buffer
	pack := func(text string) error {
		piece.Reset()
		z := gzip.NewWriter(&piece)
		_, err := io.WriteString(z, text)
		return errors.Join(err, z.Close())
	}
	err := pack(`{"jsonrpc":"2.0","id":1,"result":{"x":"`)
	if _, writeErr := w.Write(piece.Bytes()); err != nil || writeErr != nil {
		return errors.Join(err, writeErr)
	}
	err = pack(strings.Repeat("x", 1<<20))
	for n := 0; n < longest && err == nil; n += 1 << 20 {
		_, err = w.Write(piece.Bytes())
	}
	return err
}

func TestAnswersOfAnAddressComeToAnEnd(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request, said *atomic.Int64)
		want   string
	}{
		{"an answer", func(w http.ResponseWriter, _ *http.Request, said *atomic.Int64) {
			w.Header().Set("Content-Type", "application/json")
			endless(w, said)
		}, "longer than"},
		{"an error as events", func(w http.ResponseWriter, _ *http.Request, said *atomic.Int64) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusBadRequest)
			endless(w, said)
		}, "Bad Request"},
		{"a packed answer", func(w http.ResponseWriter, _ *http.Request, _ *atomic.Int64) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_ = packed(w) // until the client hangs up
		}, "longer than"},
		{"redirects", func(w http.ResponseWriter, r *http.Request, said *atomic.Int64) {
			if said.Add(5<<20) < longest {
				http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
			}
		}, "may not redirect"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := new(atomic.Int64)
			srv := httptest.NewServer(http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) { tt.answer(w, r, said) }))
			t.Cleanup(srv.Close)
			_, err := mcp.Connect(t.Context(), mcp.Server{ID: "srv", URL: srv.URL},
				mcp.Options{Client: mcp.NewClient(nil)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if n := said.Load(); n >= longest {
				t.Errorf("the client took all of it, %d bytes", n)
			}
		})
	}
}
