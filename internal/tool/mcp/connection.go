package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A connection is one life of a session: until the server ends, or forgets it.
type connection struct {
	client *mcp.ClientSession
	link
}

// A link is what a connection runs over.
type link struct {
	transport mcp.Transport
	stop      func()        // ends the process, if there is one
	said      func() string // how the process ended, nil if there is none
}

// connect makes a connection.
func (s *Session) connect(ctx context.Context) (*connection, error) {
	// The connection must outlive the call, and end with it if that fails.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l, err := s.server.link(life, s.options)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start MCP server %q: %w", s.server.ID, err)
	}
	limit, done := context.WithTimeoutCause(ctx, s.server.Startup, s.server.silent())
	defer done()
	client, err := s.client().Connect(limit, l.transport, nil)
	if err != nil {
		if limit.Err() != nil {
			err = context.Cause(limit)
		}
		err = l.why(err)
		cancel()
		l.stop()
		return nil, fmt.Errorf("connect to MCP server %q: %w", s.server.ID, err)
	}
	stop := l.stop
	l.stop = func() { cancel(); stop() }
	return &connection{client, l}, nil
}

func (s Server) silent() error { return fmt.Errorf("no answer within %s", s.Startup) }

// do asks the server. If that has ended its last connection, a new one is made: a server that was
// started again, or forgot a session that it did not hear from for a while, is asked as before. A
// request that may have arrived is not sent again. The connection must not have ctx's values.
func (s *Session) do(ctx context.Context, ask func(*mcp.ClientSession) error) error {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	err := ask(conn.client)
	if ctx.Err() == nil && isUnasked(err) {
		if conn, err = s.again(ctx, conn); err != nil {
			return err
		}
		err = ask(conn.client)
	}
	return conn.why(err)
}

// isUnasked reports whether the server did not see the request.
func isUnasked(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, errExpired)
}

// again replaces a connection that has ended, unless another call has done so. That takes none of a
// call's time: the user may be asked, and other calls wait for the answer.
func (s *Session) again(ctx context.Context, ended *connection) (*connection, error) {
	defer tool.Waiting(ctx)()
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if s.conn != ended { // only this function changes it
		return s.conn, nil
	}
	ended.close()
	if s.options.Permit != nil {
		if err := s.options.Permit(); err != nil {
			return nil, err
		}
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	return conn, nil
}

// close ends the connection. It does not wait for long for a server that does not answer.
func (c *connection) close() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.client.Close() // the server may have ended first
	}()
	select {
	case <-ended:
	case <-time.After(closeGrace):
	}
	c.stop()
}

// why returns the cause of an error of the protocol's library, whose own text is a chain of its
// functions, with the address, the query of which may be secret.
func (l link) why(err error) error {
	var (
		failed  *url.Error
		refusal *jsonrpc.Error
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case l.said != nil && (isLost(err) || errors.Is(err, mcp.ErrConnectionClosed)):
		return errors.New(l.said())
	case isLost(err):
		return errors.New("the server closed the connection")
	case errors.As(err, &failed):
		return failed.Err
	case errors.As(err, &refusal):
		return refusal
	default:
		return err
	}
}

func isLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.EPIPE)
}

// link returns the link to a server.
func (s Server) link(life context.Context, o Options) (l link, err error) {
	switch {
	case s.URL != "" && o.Client != nil:
		return link{
			transport: &mcp.StreamableClientTransport{
				Endpoint: s.URL, HTTPClient: s.client(o.Client),
				DisableStandaloneSSE: true, MaxEventSize: maxMessage,
			},
			stop: func() {},
		}, nil
	case s.Program != "" && o.Starter != nil:
		return s.process(life, o)
	}
	return link{}, errors.New("no address or command is available")
}

// process starts a server on its standard streams. These are real pipes, so that no copying
// goroutine has to end first.
func (s Server) process(life context.Context, o Options) (l link, err error) {
	in, toServer, err := os.Pipe()
	if err != nil {
		return link{}, err
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		return link{}, errors.Join(err, in.Close(), toServer.Close())
	}
	words := new(tail)
	p, err := o.Starter.Start(life, tool.Command{
		Program: s.Program, Args: s.Args, Checksum: s.Checksum, Variables: s.Variables, Dir: o.Dir,
		Stdin: in, Stdout: out, Stderr: words,
	})
	closeErr := errors.Join(in.Close(), out.Close()) // the server's ends
	if err != nil {
		return link{}, errors.Join(err, closeErr, toServer.Close(), fromServer.Close())
	}
	ended := make(chan struct{})
	var status error
	go func() { status = p.Wait(); close(ended) }()
	l.stop = func() {
		_ = toServer.Close() // may be closed already
		<-ended
		_ = fromServer.Close()
	}
	l.said = func() string {
		text := "the server ended"
		select {
		case <-ended:
			if status != nil {
				text += ", " + status.Error()
			}
		case <-time.After(closeGrace):
			text = "the server closed its output"
		}
		if why := strings.TrimSpace(words.text()); why != "" {
			text += ": " + why
		}
		return text
	}
	l.transport = &mcp.IOTransport{
		Reader: newMessages(fromServer, words), Writer: toServer, MaxLineLength: maxMessage,
	}
	return l, nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-maxWords):]...)
	t.data = append(t.data[:0], t.data[max(0, len(t.data)-maxWords):]...)
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "")
}
