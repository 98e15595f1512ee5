package scripts

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveModel is the script command
//
//	serve-model VAR FILE...
//
// It starts a server that accepts any of the formats and answers each request with the next file,
// the last one for ever, and puts its address into the variable. After a file whose name begins
// with hang the answer does not end; said1 exists when it was sent. Requests are kept in
// request1.json and so on, their addresses and headers in request1.head. A list of models is the
// content of tags.list, models.list or props.list, by the end of the path, if that file exists.
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve-model VAR FILE...")
	}
	m := &fakeModel{dir: ts.MkAbs("."), files: args[1:]}
	for i, name := range m.files {
		m.files[i] = ts.MkAbs(name)
	}
	server := httptest.NewServer(m)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(args[0], server.URL)
}

type fakeModel struct {
	dir   string
	files []string

	mu    sync.Mutex
	asked int
}

// ServeHTTP implements [http.Handler].
func (m *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	listed, err := os.ReadFile(filepath.Join(m.dir, path.Base(r.URL.Path)+".list"))
	switch {
	case r.Method == http.MethodGet && err == nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(listed)
		return
	case r.URL.Path == "/api/tags":
		_, _ = io.WriteString(w, `{"models":[{"name":"here:7b","model":"here:7b"}]}`)
		return
	case !asksModel(r):
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if bytes.Contains(body, []byte("Generate a title")) {
		m.title(w, r, body)
		return
	}
	m.mu.Lock()
	m.asked++
	n := m.asked
	m.mu.Unlock()
	name := m.files[min(n, len(m.files))-1]
	data, err := os.ReadFile(name)
	kept := filepath.Join(m.dir, "request"+strconv.Itoa(n)+".json")
	head := strings.TrimSuffix(kept, "json") + "head"
	if err != nil || os.WriteFile(kept, body, 0o644) != nil ||
		os.WriteFile(head, headOf(r), 0o644) != nil {
		http.Error(w, "the script is broken", http.StatusInternalServerError)
		return
	}
	if strings.HasPrefix(filepath.Base(name), "slow") {
		time.Sleep(2 * time.Second)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	_, _ = w.Write(data)
	if strings.HasPrefix(filepath.Base(name), "hang") {
		_ = http.NewResponseController(w).Flush()
		_ = os.WriteFile(filepath.Join(m.dir, "said"+strconv.Itoa(n)), data, 0o644)
		<-r.Context().Done()
	}
}

// asksModel reports whether a request is a question, by the end of its path. Below /none there is
// no model.
func asksModel(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/none/") {
		return false
	}
	for _, end := range []string{
		"/api/chat", "/chat/completions", "/messages", "/responses", ":streamGenerateContent",
	} {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, end) {
			return true
		}
	}
	return false
}

// headOf returns the address of a request, and its headers in the order of their names.
func headOf(r *http.Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s\n", r.URL.RequestURI())
	_ = r.Header.Write(&b) // into memory
	return bytes.ReplaceAll(b.Bytes(), []byte("\r"), nil)
}

// title answers a request for a title with title.ndjson, if it exists, and never if that is empty;
// such requests do not count.
func (m *fakeModel) title(w http.ResponseWriter, r *http.Request, body []byte) {
	data, err := os.ReadFile(filepath.Join(m.dir, "title.ndjson"))
	if err != nil || os.WriteFile(filepath.Join(m.dir, "titled.json"), body, 0o644) != nil {
		http.Error(w, "no titles", http.StatusBadRequest)
		return
	}
	if len(data) == 0 {
		<-r.Context().Done()
	}
	_, _ = w.Write(data)
}

// eventually is the script command
//
//	eventually PATTERN GLOB
//
// It waits until a file that the glob matches has text that the pattern matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: eventually PATTERN GLOB")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for range 2400 {
		names, err := filepath.Glob(ts.MkAbs(args[1]))
		ts.Check(err)
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && pattern.Match(data) {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("%s never had %q", args[1], args[0])
}
