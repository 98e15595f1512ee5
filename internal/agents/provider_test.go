//go:build agents

package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// An answer is the provider's answer to one request.
type answer struct {
	// when is a part of the last message of the request that it answers. Without it, it answers the
	// next request that offers tools; agents make requests without tools for titles, for example.
	when string

	think string
	text  string
	calls []call

	refuses bool // the model refuses
	status  int  // the server refuses: an error of HTTP
	tokens  int  // the reported length of the prompt; 0 for a short one
	hangs   bool // never ends
}

// A call is a tool that the model wants to run.
type call struct {
	name  string
	space string // the namespace of the name, if tools have one
	args  map[string]any
	free  string // the text of a tool that takes no arguments but text
}

// arguments returns the arguments of a call as JSON text.
func (c call) arguments() string {
	data, err := json.Marshal(c.args)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// A request is an agent's request.
type request struct {
	path   string
	stream bool
	tools  bool
	last   string // the last message, as JSON
	body   []byte
}

// A provider plays scripted answers in each of the formats that the agents use. It is their proxy
// too, and refuses all connections: nothing leaves the machine.
type provider struct {
	*httptest.Server
	hung chan struct{} // gets one for each answer that hangs
	done chan struct{}

	mu        sync.Mutex
	script    []answer
	made      int // ids made
	asked     []request
	strangers []string // hosts that the agent tried to reach
}

// serve starts a provider, which ends with the test.
func serve(tb testing.TB) *provider {
	tb.Helper()
	p := &provider{hung: make(chan struct{}, 16), done: make(chan struct{})}
	p.Server = httptest.NewServer(p)
	tb.Cleanup(func() {
		close(p.done)
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// play adds answers to the script.
func (p *provider) play(script ...answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = append(p.script, script...)
}

// rest returns the answers that were not requested. The next script begins without them.
func (p *provider) rest() []answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.script
	p.script = nil
	return left
}

// requests returns the requests so far.
func (p *provider) requests() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]request(nil), p.asked...)
}

// next returns the answer to a request.
func (p *provider) next(r request) answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	for i, a := range p.script {
		fits := a.when != "" && strings.Contains(r.last, a.when)
		if fits || a.when == "" && r.tools && !p.expects(r) {
			p.script = append(p.script[:i:i], p.script[i+1:]...)
			return a
		}
	}
	return answer{text: "Counting lines"}
}

// expects reports whether the script has an answer for exactly this request.
func (p *provider) expects(r request) bool {
	for _, a := range p.script {
		if a.when != "" && strings.Contains(r.last, a.when) {
			return true
		}
	}
	return false
}

// id makes a unique identifier.
func (p *provider) id(prefix string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return fmt.Sprintf("%s%022d", prefix, p.made)
}

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	write := wireOf(r.URL.Path)
	if r.Method == http.MethodConnect || r.URL.IsAbs() {
		p.refuse(w, r.Host)
		return
	}
	if write == nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := requestOf(r.URL.Path, body)
	a := p.next(asked)
	if a.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":%d,`+
			`"message":"the prompt is not to the taste of this server"}}`, a.status)
		return
	}
	write(&voice{provider: p, w: w, stream: asked.stream}, a)
	if a.hangs {
		_ = http.NewResponseController(w).Flush()
		p.hung <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-p.done:
		}
	}
}

// refuse records which host the agent tried to reach.
func (p *provider) refuse(w http.ResponseWriter, host string) {
	p.mu.Lock()
	p.strangers = append(p.strangers, host)
	p.mu.Unlock()
	http.Error(w, "only loopback", http.StatusForbidden)
}

// requestOf reads what all formats have in common.
func requestOf(path string, body []byte) request {
	var asked struct {
		Stream                    bool
		Tools                     []json.RawMessage
		Messages, Input, Contents []json.RawMessage
	}
	_ = json.Unmarshal(body, &asked) // other bodies have no last message
	r := request{path: path, stream: asked.Stream, tools: len(asked.Tools) > 0, body: body}
	for _, list := range [][]json.RawMessage{asked.Messages, asked.Input, asked.Contents} {
		if len(list) > 0 {
			r.last = string(list[len(list)-1])
			r.tools = r.tools || bytes.Contains(list[0], []byte(`"additional_tools"`))
		}
	}
	if strings.HasSuffix(path, ":streamGenerateContent") {
		r.stream = true
	}
	return r
}

// A voice writes one answer, as a stream of events or as one object.
type voice struct {
	*provider
	w      http.ResponseWriter
	stream bool
}

// begin writes the headers.
func (v *voice) begin() {
	kind := "application/json"
	if v.stream {
		kind = "text/event-stream"
	}
	v.w.Header().Set("Content-Type", kind)
}

// event writes one event of a stream.
func (v *voice) event(name string, data map[string]any) {
	var b bytes.Buffer
	if name != "" {
		data["type"] = name
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(&b, "data: %s\n\n", text)
	_, _ = v.w.Write(b.Bytes()) // the client may be gone
}

// object writes the only object of an answer without a stream.
func (v *voice) object(data map[string]any) {
	_ = json.NewEncoder(v.w).Encode(data)
}
