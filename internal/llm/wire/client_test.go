package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client and the address of a server that answers with f.
func client(t *testing.T, o wire.ClientOptions, f http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	server := httptest.NewServer(f)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	o.Provider, o.Format = "ollama", wire.FormatOllama
	if o.Base == nil {
		o.Base = transport
	}
	return wire.NewClient(o), server.URL
}

func post(c *http.Client, url, body string) (string, error) {
	res, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

const fine = `{"messages":[{"role":"user","content":"q"}]}`

// TestNothingBypassesTheCheck checks that the client does not send a body that breaks a rule, and
// that a valid one arrives unchanged.
func TestNothingBypassesTheCheck(t *testing.T) {
	var got []string
	c, url := client(t, wire.ClientOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%d %s", r.ContentLength, body))
	})
	_, err := post(c, url, `{"messages":[]}`)
	var invalid *wire.InvalidError
	if !errors.As(err, &invalid) || invalid.Violations[0].Rule != "G0" || len(got) != 0 {
		t.Errorf("a bad body ends with %v and %q arrives", err, got)
	}
	if _, err := post(c, url, fine); err != nil || len(got) != 1 || got[0] != fmt.Sprintf("%d %s", len(fine), fine) {
		t.Errorf("a sound body ends with %v and %q arrives", err, got)
	}
	if _, err := c.Get(url); err != nil {
		t.Errorf("what has no body ends with %v", err)
	}
}

// TestShowsWithoutSending checks that a base sees exactly the request that would be sent.
func TestShowsWithoutSending(t *testing.T) {
	var seen string
	errShown := errors.New("shown")
	c := wire.NewClient(wire.ClientOptions{Format: wire.FormatOllama, Base: roundTrip(
		func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			seen = string(body)
			return nil, errors.Join(errShown, err)
		})})
	if _, err := post(c, "http://127.0.0.1:1", fine); !errors.Is(err, errShown) || seen != fine {
		t.Errorf("it ends with %v and shows %q", err, seen)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestIdleOnlyWhileReading(t *testing.T) {
	c, url := client(t, wire.ClientOptions{Idle: 300 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a")
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "b")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
	})
	read := func(path string) (string, error) {
		res, err := c.Get(url + path)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		var got []byte
		for {
			time.Sleep(600 * time.Millisecond) // like a user who thinks
			var one [1]byte
			n, err := res.Body.Read(one[:])
			got = append(got, one[:n]...)
			if errors.Is(err, io.EOF) {
				return string(got), nil
			}
			if err != nil {
				return string(got), err
			}
		}
	}
	if got, err := read("/"); got != "ab" || err != nil {
		t.Errorf("a slow reader gets %q, %v", got, err)
	}
	got, err := read("/hang")
	var idle *wire.IdleError
	if got != "ab" || !errors.As(err, &idle) || !idle.Timeout() {
		t.Errorf("silence gives %q, %v", got, err)
	}
}

func TestBoundsAnswers(t *testing.T) {
	c, url := client(t, wire.ClientOptions{MaxBytes: 10}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 10+len(r.URL.Path)-1))
	})
	if got, err := post(c, url, fine); len(got) != 10 || err != nil {
		t.Errorf("ten bytes end with %v", err)
	}
	_, err := post(c, url+"/1", fine)
	var size *wire.SizeError
	if !errors.As(err, &size) || size.Limit != 10 {
		t.Errorf("eleven bytes end with %v", err)
	}
}

func TestCanceled(t *testing.T) {
	c, url := client(t, wire.ClientOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})
	errWhy := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errWhy) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	var cut *wire.CutError
	if !errors.Is(err, errWhy) || errors.As(err, &cut) {
		t.Errorf("canceled, it ends with %v", err)
	}
}

func TestProxy(t *testing.T) {
	p := wire.ProxyFromEnv(func(name string) string {
		return map[string]string{"https_proxy": "http://p:1", "HTTP_PROXY": "http://q:2"}[name]
	})
	if p != (wire.Proxy{HTTP: "http://q:2", HTTPS: "http://p:1"}) {
		t.Errorf("proxies are %+v", p)
	}
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, "from the proxy")
	}))
	defer proxy.Close()
	c := wire.NewClient(wire.ClientOptions{Format: wire.FormatOllama, Proxy: wire.Proxy{HTTP: proxy.URL}})
	got, err := post(c, "http://model.example/api", fine)
	if err != nil || got != "from the proxy" || asked != "http://model.example/api" {
		t.Errorf("through the proxy: %q, %v, asked for %q", got, err, asked)
	}
}
