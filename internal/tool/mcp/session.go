package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	defaultStartup = time.Minute
	closeGrace     = 3 * time.Second
	maxStderr      = 64 << 10
	maxMessage     = 64 << 20
)

// A Server is an MCP server: a command, or an address.
type Server struct {
	ID string // required
	// Program, Args, Variables and Checksum are for a server that is a process.
	Program   string
	Args      []string
	Variables []string
	Checksum  string
	// URL and Headers are for a server with streamable HTTP.
	URL     string
	Headers map[string]string
	// Startup limits the wait for the server's first answer; zero is a minute.
	Startup time.Duration
}

// Options configure the connections to servers.
type Options struct {
	Starter tool.Starter // for servers that are processes
	Client  *http.Client // for servers with an address
	Dir     string       // absolute working directory of processes, and their root
	Space   *file.Space  // makes URIs of files canonical; nil keeps them
	Version string       // of this program
}

// A Session is a connection to a running server.
type Session struct {
	id      string
	session *mcp.ClientSession
	space   *file.Space
	stop    func()        // ends the process, if there is one
	startup time.Duration // limit for listing its tools

	mu      sync.Mutex
	calls   []*tool.Call // running ones
	listed  []*mcp.Tool  // nil before the first request, and after a change
	changes int          // how often the server reported a change
}

// Connect starts a server, or connects to it, and initializes the session. The session does not
// depend on ctx afterwards: [Session.Close] ends it.
func Connect(ctx context.Context, s Server, o Options) (*Session, error) {
	startup := cmp.Or(s.Startup, defaultStartup)
	// The connection must outlive the call, and end with it if that fails.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	transport, stop, detail, err := s.transport(life, o)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start MCP server %q: %w", s.ID, err)
	}
	session := &Session{id: s.ID, space: o.Space, startup: startup}
	c := session.client(s, o)
	limit, done := context.WithTimeout(ctx, startup)
	defer done()
	if session.session, err = c.Connect(limit, transport, nil); err != nil {
		cancel()
		stop()
		return nil, fmt.Errorf("greet MCP server %q: %w%s", s.ID, err, detail())
	}
	session.stop = func() { cancel(); stop() }
	return session, nil
}

// client returns the client with its capabilities for the server: the root, for a local server,
// which could find it anyway; and questions to the user while one of its tools runs. It cannot ask
// a model: the cost and the content of such a request are not the server's to decide.
func (s *Session) client(at Server, o Options) *mcp.Client {
	capabilities := &mcp.ClientCapabilities{
		RootsV2:     &mcp.RootCapabilities{}, //nolint:staticcheck // servers of today ask for it
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
	}
	c := mcp.NewClient(
		&mcp.Implementation{Name: "git-jp", Version: o.Version},
		&mcp.ClientOptions{
			Capabilities: capabilities, ElicitationHandler: s.elicit,
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.listed = nil
				s.changes++
			},
		},
	)
	if at.URL == "" && o.Space != nil {
		root := o.Space.Expand("file:///$WORKSPACE")
		c.AddRoots(&mcp.Root{URI: root, Name: "workspace"}) //nolint:staticcheck // as above
	}
	return c
}

// Close ends the session and the process.
func (s *Session) Close() error {
	ended := make(chan error, 1)
	go func() { ended <- s.session.Close() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(closeGrace):
	}
	s.stop()
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		err = nil // the server ended first
	}
	return err
}

// transport returns a transport to the server. The result of detail belongs in errors.
func (s Server) transport(
	life context.Context, o Options,
) (t mcp.Transport, stop func(), detail func() string, err error) {
	none := func() string { return "" }
	switch {
	case s.URL != "" && o.Client != nil:
		return &mcp.StreamableClientTransport{
			Endpoint: s.URL, HTTPClient: s.client(o.Client),
			DisableStandaloneSSE: true, MaxEventSize: maxMessage,
		}, func() {}, none, nil
	case s.Program != "" && o.Starter != nil:
		return s.process(life, o)
	}
	return nil, nil, nil, errors.New("no address or command is available")
}

// process starts a server on its standard streams. These are real pipes, so that no copying
// goroutine has to end first.
func (s Server) process(
	life context.Context, o Options,
) (t mcp.Transport, stop func(), detail func() string, err error) {
	in, toServer, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, errors.Join(err, in.Close(), toServer.Close())
	}
	stderr := tool.NewCapture(maxStderr)
	p, err := o.Starter.Start(life, tool.Command{
		Program: s.Program, Args: s.Args, Checksum: s.Checksum, Variables: s.Variables, Dir: o.Dir,
		Stdin: in, Stdout: out, Stderr: stderr,
	})
	closeErr := errors.Join(in.Close(), out.Close()) // the server's ends
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeErr, toServer.Close(), fromServer.Close())
	}
	ended := make(chan struct{})
	go func() { _ = p.Wait(); close(ended) }() // the connection shows how it ended
	stop = func() {
		_ = toServer.Close() // may be closed already
		<-ended
		_ = fromServer.Close()
	}
	detail = func() string {
		if text := strings.TrimSpace(string(stderr.Bytes())); text != "" {
			return ": " + text
		}
		return ""
	}
	t = &mcp.IOTransport{Reader: fromServer, Writer: toServer, MaxLineLength: maxMessage}
	return t, stop, detail, nil
}
