package attach

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestNormalizeURL(t *testing.T) {
	tests := []struct{ in, want string }{
		{"HTTP://A.Example", "http://a.example/"},
		{"https://a.example:443/x", "https://a.example/x"},
		{"http://a.example:443/x", "http://a.example:443/x"},
		{"http://a.example:80?q", "http://a.example/?q"},
		{"http://a.example/a/../b/./c/..", "http://a.example/b/"},
		{"http://a.example/../../x", "http://a.example/x"},
		{"http://a.example/%7euser/%2f%3F", "http://a.example/~user/%2F%3F"},
		{"http://a.example/a b?q=a b&r=%2b", "http://a.example/a%20b?q=a%20b&r=%2B"},
		{"http://a.example/x#frag", "http://a.example/x"},
		{"http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"},
		{"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
		{"http://a.example//x//y/", "http://a.example//x//y/"},
		{"http://a.example/x?", "http://a.example/x?"},
		{"http:///x", ""},
		{"ftp://a.example", ""},
		{"http://u:p@a.example/", ""},
		{"http://u@a.example/", ""},
	}
	for _, tt := range tests {
		got, err := NormalizeURL(tt.in)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q (%v), want %q", tt.in, got, err, tt.want)
			continue
		}
		if again, err := NormalizeURL(got); err == nil && again != got {
			t.Errorf("%s is not normal: %s", got, again)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	public := []string{"1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"}
	private := []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1",
		"169.254.169.254", "100.64.0.1", "198.18.0.1", "192.0.0.1", "224.0.0.1", "255.255.255.255",
		"240.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1",
		"::ffff:127.0.0.1", "::ffff:100.64.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
		"2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::", "2001:db8::1",
	}
	for _, s := range public {
		if !isPublic(netip.MustParseAddr(s)) {
			t.Errorf("%s is public", s)
		}
	}
	for _, s := range private {
		if isPublic(netip.MustParseAddr(s)) {
			t.Errorf("%s is private", s)
		}
	}
}

// site starts a server on the loopback address, which tests allow by name.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	send := func(pattern, kind, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			_, _ = w.Write([]byte(body))
		})
	}
	send("/page", "text/html; charset=utf-8", "<html><head><script>x()</script></head><body>"+
		"<h1>Title</h1><p>Some <b>bold</b> <a href='/other'>link</a>.</p></body></html>")
	send("/latin", "text/html; charset=iso-8859-1", "<p>na\xefve</p>")
	send("/text", "text/plain; charset=iso-8859-1", "na\xefve")
	send("/plain", "text/plain", "na\u00efve\n")
	send("/data.json", "application/json", `{"a":1}`)
	send("/logo.png", "image/png", "\x89PNG\r\n\x1a\n")
	send("/file.md", "", "# x\n")
	send("/large", "text/plain", strings.Repeat("x", 2000))
	mux.HandleFunc("/dated", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		_, _ = w.Write([]byte("x"))
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("u"), http.StatusFound)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func fetcher(t *testing.T, o HTTPOptions) *Fetcher {
	t.Helper()
	f := NewFetcher(o)
	g := f.client.Transport.(*guard)
	t.Cleanup(g.direct.CloseIdleConnections)
	t.Cleanup(g.proxy.CloseIdleConnections)
	return f
}

func onlyLoopback(host string) bool { return host == "127.0.0.1" }

func TestFetch(t *testing.T) {
	srv := site(t)
	f := fetcher(t, HTTPOptions{AllowPrivate: onlyLoopback, MaxBytes: 1000})
	tests := []struct{ path, kind, want string }{
		{"/page", "text/markdown", "# Title\n\nSome **bold** [link](" + srv.URL + "/other)."},
		{"/latin", "text/markdown", "naïve"},
		{"/text", "text/plain", "naïve"},
		{"/plain", "text/plain", "naïve\n"},
		{"/data.json", "application/json", `{"a":1}`},
		{"/logo.png", "image/png", "\x89PNG\r\n\x1a\n"},
		{"/file.md", "text/markdown", "# x\n"},
		{"/to?u=/plain", "text/plain", "naïve\n"},
	}
	for _, tt := range tests {
		res, err := f.Fetch(t.Context(), srv.URL+tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		b, _ := res.Content.Bytes(nil)
		if res.MIMEType != tt.kind || strings.TrimSpace(string(b)) != strings.TrimSpace(tt.want) ||
			res.URI != srv.URL+tt.path || res.Name != res.URI {
			t.Errorf("%s: %s %s %q", tt.path, res.URI, res.MIMEType, b)
		}
	}
	if res, err := f.Fetch(t.Context(), srv.URL+"/dated"); err != nil ||
		string(res.Annotations) != `{"lastModified":"2015-10-21T07:28:00Z"}` {
		t.Errorf("%s (%v)", res.Annotations, err)
	}
	_, err := f.Fetch(t.Context(), srv.URL+"/nope")
	if err == nil || err.Error() != "the server returned 404 Not Found" {
		t.Errorf("not found: %v", err)
	}
	for _, path := range []string{"/large", "/loop", "/to?u=file:///etc/passwd", "/to?u=ftp://a.example"} {
		if _, err := f.Fetch(t.Context(), srv.URL+path); err == nil {
			t.Errorf("%s: fetched", path)
		}
	}
	slow := fetcher(t, HTTPOptions{AllowPrivate: onlyLoopback, Timeout: 100 * time.Millisecond})
	if _, err := slow.Fetch(t.Context(), srv.URL+"/slow"); err == nil {
		t.Error("slow: fetched")
	}
}

func TestPrivateNetworksAreRefused(t *testing.T) {
	srv := site(t)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	closed := fetcher(t, HTTPOptions{})
	allowed := fetcher(t, HTTPOptions{AllowPrivate: onlyLoopback})
	other := fmt.Sprintf("http://localhost:%s/plain", u.Port())
	var pe *PrivateError
	for _, address := range []string{
		srv.URL + "/plain", other, "http://[::1]:" + u.Port() + "/plain", "http://0.0.0.0:" + u.Port() + "/",
		"http://[::ffff:127.0.0.1]:" + u.Port() + "/", "http://169.254.169.254/latest/meta-data",
	} {
		if _, err := closed.Fetch(t.Context(), address); !errors.As(err, &pe) {
			t.Errorf("%s: %v", address, err)
		}
	}
	// A name that resolves to a private address, and a redirect from an allowed host to one that is
	// not.
	for _, address := range []string{other, srv.URL + "/to?u=" + url.QueryEscape(other)} {
		if _, err := allowed.Fetch(t.Context(), address); !errors.As(err, &pe) || pe.Host != "localhost" {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestBehindAProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = w.Write([]byte("through the proxy"))
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := fetcher(t, HTTPOptions{Proxy: http.ProxyURL(u)})
	res, err := f.Fetch(t.Context(), "http://name-that-only-the-proxy-knows.invalid/x")
	if b, _ := res.Content.Bytes(nil); err != nil || string(b) != "through the proxy" {
		t.Errorf("%q (%v)", b, err)
	}
	var pe *PrivateError
	if _, err := f.Fetch(t.Context(), "http://127.0.0.1:9/x"); !errors.As(err, &pe) {
		t.Errorf("%v", err)
	}
	if len(asked) != 1 {
		t.Errorf("the proxy was asked for %q", asked)
	}
}
