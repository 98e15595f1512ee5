package attach

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
)

// TestHostileServers fetches from servers that misrepresent their response, or send too much on
// purpose.
func TestHostileServers(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		zeros := make([]byte, 1<<20)
		for range 64 {
			_, _ = z.Write(zeros)
		}
		_ = z.Close()
		return b.Bytes()
	}()
	mux := http.NewServeMux()
	send := func(pattern, kind, encoding string, body []byte) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			_, _ = w.Write(body)
		})
	}
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	send("/bomb", "text/plain", "gzip", bomb)
	send("/twice", "text/plain", "gzip, gzip", bomb)
	send("/deep", "text/html", "", []byte(strings.Repeat("<div>", 200_000)))
	send("/lists", "text/html", "", []byte(strings.Repeat("<ul><li>", 100_000)))
	send("/wide", "text/html", "", []byte(strings.Repeat("<p>x<b>y", 100_000)))
	send("/table", "text/html", "", []byte("<table>"+strings.Repeat("<tr>"+strings.Repeat("<td>x", 200), 500)))
	send("/no-image", "image/png", "", []byte("<p>not an image</p>"))
	send("/no-pdf", "application/pdf", "", []byte("plain words"))
	send("/other-image", "image/jpeg", "", png)
	send("/no-text", "text/plain", "", append(png, 0, 1, 2))
	send("/no-page", "text/html", "", png)
	send("/charset", "text/plain; charset=nonsense", "", []byte("words"))
	send("/utf16", "text/plain; charset=utf-16", "", []byte("\xff\xfeh\x00i\x00"))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	f := fetcher(t, HTTPOptions{AllowPrivate: onlyLoopback, MaxBytes: 4 << 20, Timeout: 20 * time.Second})
	for _, tt := range []struct{ path, kind, content string }{
		{"/bomb", "", ""},
		{"/endless", "", ""},
		{"/twice", "", ""},
		{"/no-image", "text/markdown", "not an image"},
		{"/no-pdf", "text/plain", "plain words"},
		{"/other-image", "image/png", string(png)},
		{"/no-text", "image/png", string(png) + "\x00\x01\x02"},
		{"/no-page", "image/png", string(png)},
		{"/utf16", "text/plain", "hi"},
	} {
		res, err := f.Fetch(t.Context(), srv.URL+tt.path)
		if tt.kind == "" {
			if err == nil {
				t.Errorf("%s: fetched", tt.path)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if b, _ := res.Content.Bytes(nil); res.MIMEType != tt.kind || string(b) != tt.content {
			t.Errorf("%s: %s %q", tt.path, res.MIMEType, b)
		}
	}
	// Pages designed to take for ever end, and end when the context does.
	for _, path := range []string{"/deep", "/lists", "/wide", "/table", "/charset"} {
		res, err := f.Fetch(t.Context(), srv.URL+path)
		if b, _ := res.Content.Bytes(nil); err == nil && len(b) > 1<<20 {
			t.Errorf("%s: %d bytes", path, len(b))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := inTime(ctx, func() (events.Resource, error) {
		cancel()
		<-t.Context().Done() // until the test ends
		return events.Resource{}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a conversion without end: %v", err)
	}
}
