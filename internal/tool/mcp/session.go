package mcp

import (
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

// A Server is where an MCP server is: a command, or an address.
type Server struct {
	ID string // required
	// Program, Args, Variables and Checksum are those of a server that is a process.
	Program   string
	Args      []string
	Variables []string
	Checksum  string
	// URL and Headers are those of a server with streamable HTTP.
	URL     string
	Headers map[string]string
	// Startup is how long the server may take to answer; zero is a minute.
	Startup time.Duration
}

// Options are how servers are reached, and as whom.
type Options struct {
	Starter tool.Starter // for servers that are processes
	Client  *http.Client // for those that have an address
	Dir     string       // absolute directory where processes start, and their root
	Space   *file.Space  // makes URIs of files canonical; nil leaves them
	Version string       // of this program
}

// A Session is a server that runs.
type Session struct {
	id      string
	session *mcp.ClientSession
	space   *file.Space
	stop    func()        // ends the process, if there is one
	startup time.Duration // how long it may take to say what it has

	mu      sync.Mutex
	calls   []*tool.Call // that run
	listed  []*mcp.Tool  // nil until they were asked for, and again after they changed
	changes int          // how often the server said that they did
}

// Connect starts a server, or finds it, and greets it. When ctx ends afterwards the
// session goes on: it is ended by [Session.Close].
func Connect(ctx context.Context, s Server, o Options) (*Session, error) {
	startup := s.Startup
	if startup == 0 {
		startup = defaultStartup
	}
	// The connection must outlive the start, and end with it when that fails.
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

// client returns what a server can ask of us: the root, when it runs here and could look
// anyway; and the user, while one of its tools runs. A model it cannot ask: what that costs
// and what it is told is not the server's to decide.
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

// ID returns the name of the server.
func (s *Session) ID() string { return s.id }

// Close says goodbye and ends the process.
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
		err = nil // it was faster
	}
	return err
}

// transport returns the way to the server. What detail returns belongs into errors.
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
	return nil, nil, nil, errors.New("there is no way to it")
}

// process starts a server that speaks over its standard streams. These are real pipes,
// so that nobody waits for a copy when it ends.
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
		Declared: tool.Declaration{
			Purpose: "MCP server " + s.ID, Key: "providers.mcp." + s.ID,
			Program: s.Program, Args: s.Args, Variables: s.Variables, Checksum: s.Checksum,
		},
		Program: s.Program, Args: s.Args, Variables: s.Variables, Dir: o.Dir,
		Stdin: in, Stdout: out, Stderr: stderr,
	})
	closeErr := errors.Join(in.Close(), out.Close()) // these ends are the server's
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeErr, toServer.Close(), fromServer.Close())
	}
	ended := make(chan struct{})
	go func() { _ = p.Wait(); close(ended) }() // how it ended shows in the connection
	stop = func() {
		_ = toServer.Close() // the session may have closed both
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
