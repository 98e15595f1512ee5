package mcp

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	defaultStartup = time.Minute
	closeGrace     = 3 * time.Second
	maxWords       = 2 << 10 // of what a server writes beside its messages, the last ones
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
	// Permit is called before a server that ended is connected to again: the files that it runs may
	// have changed since. Nil permits it.
	Permit func() error
}

// A Session is a connection to a server, which is made again if the server ended it.
type Session struct {
	server  Server
	options Options
	space   *file.Space

	connecting sync.Mutex // one connection is made at a time
	mu         sync.Mutex
	conn       *connection
	calls      []*tool.Call // running ones
	listed     []*mcp.Tool  // nil before the first request, and after a change
	changes    int          // how often the server reported a change
}

// Connect starts a server, or connects to it, and initializes the session. The session does not
// depend on ctx afterwards: [Session.Close] ends it.
func Connect(ctx context.Context, s Server, o Options) (*Session, error) {
	s.Startup = cmp.Or(s.Startup, defaultStartup)
	session := &Session{server: s, options: o, space: o.Space}
	conn, err := session.connect(ctx)
	if err != nil {
		return nil, err
	}
	session.conn = conn
	return session, nil
}

// client returns the client with its capabilities for the server: the root, for a local server,
// which could find it anyway; and questions to the user while one of its tools runs. It cannot ask
// a model: the cost and the content of such a request are not the server's to decide.
func (s *Session) client() *mcp.Client {
	capabilities := &mcp.ClientCapabilities{
		RootsV2:     &mcp.RootCapabilities{}, //nolint:staticcheck // servers of today ask for it
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
	}
	c := mcp.NewClient(
		&mcp.Implementation{Name: "git-jp", Version: s.options.Version},
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
	if s.server.URL == "" && s.space != nil {
		root := s.space.Expand("file:///$WORKSPACE")
		c.AddRoots(&mcp.Root{URI: root, Name: "workspace"}) //nolint:staticcheck // as above
	}
	return c
}

// Close ends the session and the process. A server that cannot be told has ended it first.
func (s *Session) Close() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	conn.close()
}
