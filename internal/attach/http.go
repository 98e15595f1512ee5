package attach

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/file"
	"golang.org/x/net/html/charset"
	"golang.org/x/net/idna"
)

const (
	defaultTimeout = 30 * time.Second
	defaultBytes   = 10 << 20
	maxRedirects   = 10
)

// HTTPOptions configure a Fetcher. The zero value allows public addresses only.
type HTTPOptions struct {
	// AllowPrivate reports whether a host may have a private address; nil allows none.
	AllowPrivate func(host string) bool
	// Proxy is the proxy function of the transport; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// Timeout limits a complete fetch; zero is 30 seconds.
	Timeout time.Duration
	// MaxBytes limits the size of a page after decompression; zero is 10 MiB.
	MaxBytes  int64
	UserAgent string
}

// A Fetcher fetches web pages.
type Fetcher struct {
	o      HTTPOptions
	client *http.Client
}

// NewFetcher returns a fetcher.
func NewFetcher(o HTTPOptions) *Fetcher {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultBytes)
	f := &Fetcher{o: o}
	f.client = &http.Client{
		Transport: newGuard(o), Timeout: o.Timeout, CheckRedirect: checkRedirect,
	}
	return f
}

// checkRedirect allows redirects to the web only, and never from https to http.
func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case r.URL.Scheme != "http" && r.URL.Scheme != "https":
		return fmt.Errorf("redirect to scheme %q", r.URL.Scheme)
	case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme == "http":
		return errors.New("redirect from https to http")
	case r.URL.User != nil:
		return errUser
	}
	return nil
}

// Fetch returns the page as a resource. HTML is converted to Markdown, because readers want the
// text of a page, and because markup changes more often than the text.
func (f *Fetcher) Fetch(ctx context.Context, address string) (events.Resource, error) {
	u, err := NormalizeURL(address)
	if err != nil {
		return events.Resource{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return events.Resource{}, err
	}
	req.Header.Set("User-Agent", f.o.UserAgent)
	req.Header.Set("Accept", "text/html,text/markdown,text/plain,application/*;q=0.9,*/*;q=0.5")
	resp, err := f.client.Do(req)
	if err != nil {
		return events.Resource{}, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, f.o.MaxBytes+1))
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
		return events.Resource{}, fmt.Errorf("read %q: %w", u, err)
	case resp.StatusCode/100 != 2:
		return events.Resource{}, errors.New("the server returned " + resp.Status)
	case int64(len(data)) > f.o.MaxBytes:
		return events.Resource{}, fmt.Errorf("the page is larger than %d bytes", f.o.MaxBytes)
	}
	if resp.Header.Get("Content-Encoding") != "" {
		return events.Resource{}, fmt.Errorf("the page has the unknown encoding %q",
			resp.Header.Get("Content-Encoding"))
	}
	return inTime(ctx, func() (events.Resource, error) { return page(u, resp, data) })
}

// inTime returns when ctx ends, even if the conversion of a malicious page takes longer.
func inTime(
	ctx context.Context, convert func() (events.Resource, error),
) (events.Resource, error) {
	type answer struct {
		res events.Resource
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := convert()
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		return a.res, a.err
	case <-ctx.Done():
		return events.Resource{}, ctx.Err()
	}
}

// page converts a response to a resource. Its URI is the requested address, not that of a redirect.
func page(u string, resp *http.Response, data []byte) (events.Resource, error) {
	res := events.Resource{URI: u, Name: u, Annotations: lastModified(resp.Header)}
	header := resp.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(header)
	if err != nil || kind == "" || kind == "application/octet-stream" {
		kind = file.Type(path.Base(resp.Request.URL.Path), data)
	}
	kind = believable(kind, data)
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		data, err = markdown(data, header, resp.Request.URL)
		kind = "text/markdown"
	case strings.HasPrefix(kind, "text/"):
		data, err = decodeText(data, header)
	}
	if err != nil {
		return events.Resource{}, fmt.Errorf("read %q: %w", u, err)
	}
	res.MIMEType, res.Content = kind, blobs.Loaded(data)
	return res, nil
}

// believable returns the type of content if the server's is impossible: a provider refuses a
// complete request for an image that is not one.
func believable(kind string, data []byte) string {
	found := file.Sniff(data)
	said, _, _ := strings.Cut(kind, "/")
	switch {
	case found == kind || found == "application/octet-stream":
		return kind
	case kind == "image/svg+xml":
		return kind // may be any XML
	case said == "image", said == "audio", said == "video", kind == "application/pdf":
		return found
	case said == "text" && !file.IsText(data) && !strings.HasPrefix(found, "text/"):
		return found
	}
	return kind
}

func markdown(data []byte, header string, base *url.URL) ([]byte, error) {
	r, err := charset.NewReader(bytes.NewReader(data), header)
	if err != nil {
		return nil, err
	}
	return htmltomarkdown.ConvertReader(r, converter.WithDomain(base.Scheme+"://"+base.Host))
}

// decodeText converts text to UTF-8. Text without a declared encoding that is valid UTF-8 does not
// change.
func decodeText(data []byte, header string) ([]byte, error) {
	if file.IsText(data) && !strings.Contains(strings.ToLower(header), "charset") {
		return data, nil
	}
	r, err := charset.NewReader(bytes.NewReader(data), header)
	if err != nil {
		return nil, err
	}
	data, err = regular.ReadAll(r, 4*int64(len(data))+1024)
	return bytes.TrimPrefix(data, []byte("\uFEFF")), err // the byte order mark
}

func lastModified(h http.Header) []byte {
	t, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return nil
	}
	b, err := json.Marshal(map[string]string{"lastModified": t.UTC().Format(time.RFC3339)})
	if err != nil {
		return nil
	}
	return b
}

var errUser = errors.New("an address with a name and a password would be stored with them")

// NormalizeURL returns the canonical form of a web address: scheme and host in lower case, no
// default port, no dots, encodings as in RFC 3986, and no fragment, which servers do not see.
func NormalizeURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not a web address", address)
	}
	if u.User != nil {
		return "", errUser
	}
	host, err := hostOf(u)
	if err != nil {
		return "", fmt.Errorf("host of %q: %w", address, err)
	}
	p := cmp.Or(removeDots(file.Normalize(u.EscapedPath())), "/")
	out := u.Scheme + "://" + host + p
	if u.RawQuery != "" || u.ForceQuery {
		out += "?" + file.Normalize(u.RawQuery)
	}
	return out, nil
}

func hostOf(u *url.URL) (string, error) {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	} else {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", err
		}
	}
	port := u.Port()
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host, nil
	}
	return host + ":" + port, nil
}

// removeDots implements RFC 3986, 5.2.4, for a path that begins with a slash.
func removeDots(p string) string {
	var out []string
	segments := strings.Split(p, "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 1 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return strings.Join(out, "/")
}
