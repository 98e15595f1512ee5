package scripts

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveGit is the script command
//
//	serve-git VAR DIR
//
// It serves the repositories below DIR over HTTP on loopback and puts the address into the
// variable. requests-git asserts how often objects were requested since its last call. A file
// DIR/mode sets the server's fault: "gone" refuses, "cut" ends each answer after a part, "slow"
// answers nothing for a while.
func serveGit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve-git VAR DIR")
	}
	out, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	dir := ts.MkAbs(args[1])
	s := &gitServer{dir: dir, backend: cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull,
		},
		Stderr: io.Discard,
	}}
	server := httptest.NewServer(s)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(args[0], server.URL)
	ts.Setenv("SERVED", dir)
}

// A gitServer counts what is fetched from it, in the file "log" of its directory: a line for each
// request of objects, with the bytes of the answer.
type gitServer struct {
	dir     string
	backend cgi.Handler
	mu      sync.Mutex
}

// ServeHTTP implements [http.Handler].
func (s *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mode, _ := os.ReadFile(filepath.Join(s.dir, "mode"))
	if strings.HasPrefix(string(mode), "gone") {
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	}
	if strings.HasPrefix(string(mode), "slow") {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	counted := &countedWriter{ResponseWriter: w}
	fetches := bytes.Contains(plain(body, r.Header), []byte("command=fetch"))
	if fetches && strings.HasPrefix(string(mode), "cut") {
		counted.most = 60
	}
	s.backend.ServeHTTP(counted, r)
	if fetches {
		s.mu.Lock()
		defer s.mu.Unlock()
		f, err := os.OpenFile(filepath.Join(s.dir, "log"),
			os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			fmt.Fprintln(f, counted.n)
			_ = f.Close()
		}
	}
	if counted.most > 0 {
		panic(http.ErrAbortHandler)
	}
}

// plain returns the body of a request, which git compresses when it is long.
func plain(body []byte, h http.Header) []byte {
	if h.Get("Content-Encoding") != "gzip" {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(z)
	return text
}

// A countedWriter counts what it writes, and writes no more than most bytes if that is set.
type countedWriter struct {
	http.ResponseWriter
	n, most int
}

func (w *countedWriter) Write(b []byte) (int, error) {
	n := len(b)
	w.n += n
	if w.most > 0 && w.n > w.most {
		b = b[:max(0, len(b)-(w.n-w.most))]
	}
	_, err := w.ResponseWriter.Write(b)
	return n, err
}

// requestsGit is the script command
//
//	requests-git N
//
// It asserts how many requests for objects there were since its last call.
func requestsGit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests-git N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := filepath.Join(ts.Getenv("SERVED"), "log")
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("%v", err)
	}
	_ = os.Remove(name)
	ts.Logf("bytes of the answers: %q", data)
	if n := bytes.Count(data, []byte("\n")); n != want {
		ts.Fatalf("%d requests for objects, want %d", n, want)
	}
}
