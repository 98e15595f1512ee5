package prepare

import (
	"context"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/tool/mcp"
	"github.com/git-jp/git-jp/internal/trust"
)

// servers are the MCP servers of a command. Each is started once; a server that does not start is
// not tried again for the next of its tools.
type servers struct {
	host   *Host
	config *jpconfig.Config
	gate   trust.Gate
	dir    string
	space  *file.Space

	tried map[string]connected
}

type connected struct {
	session *mcp.Session
	err     error
}

// session returns the session with a server. The error for a server that failed before is a
// *[failedBefore].
func (s *servers) session(ctx context.Context, id string) (*mcp.Session, error) {
	if c, ok := s.tried[id]; ok {
		if c.err != nil {
			return nil, &failedBefore{c.err}
		}
		return c.session, nil
	}
	session, err := s.connect(ctx, id)
	if s.tried == nil {
		s.tried = map[string]connected{}
	}
	s.tried[id] = connected{session, err}
	return session, err
}

// A failedBefore is an error of a server that was reported already.
type failedBefore struct{ err error }

func (e *failedBefore) Error() string { return e.err.Error() }
func (e *failedBefore) Unwrap() error { return e.err }

// close ends all sessions.
func (s *servers) close() {
	for _, c := range s.tried {
		if c.session != nil {
			c.session.Close()
		}
	}
}

func (s *servers) connect(ctx context.Context, id string) (*mcp.Session, error) {
	declared := s.config.Server(id)
	table, err := serverTable(declared, s.gate)
	if err != nil {
		return nil, err
	}
	if table.Command == "" && table.URL == "" {
		return nil, askedf("no MCP server has the name %q", id)
	}
	server := mcp.Server{
		ID: id, Program: table.Command, Args: table.Arguments, Variables: table.Variables,
		URL: table.URL, Headers: table.Headers, Startup: time.Duration(table.Startup) * time.Second,
	}
	if table.Checksum.Value != "" {
		server.Checksum = table.Checksum.Algorithm + ":" + table.Checksum.Value
	}
	return mcp.Connect(ctx, server, mcp.Options{
		Starter: s.host.Starter, Client: mcp.NewClient(wire.ProxyFromEnv(s.host.Getenv).Function()),
		Dir: s.dir, Space: s.space, Version: s.host.Version,
		Permit: func() error {
			_, err := serverTable(declared, s.gate)
			return err
		},
	})
}

// A serverConfig is an entry of providers.mcp.
type serverConfig struct {
	Command   string            `json:"command"`
	Arguments []string          `json:"arguments"`
	Variables []string          `json:"variables"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Startup   int               `json:"startup_timeout_secs"`
	Checksum  struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"value"`
	} `json:"checksum"`
}

// serverTable returns the command or address of a server, which needs an approval if it is foreign.
func serverTable(s jpconfig.Server, gate trust.Gate) (table serverConfig, err error) {
	line, err := s.Command.Open(gate)
	if err != nil {
		return table, err
	}
	whole := []byte(line)
	if whole == nil {
		at, err := s.URL.Open(gate)
		if err != nil || at == "" {
			return table, err
		}
		whole = []byte(at)
	}
	if err := exact.Unmarshal(whole, &table); err != nil {
		return table, fmt.Errorf("read MCP server %q: %w", s.Name, err)
	}
	return table, nil
}
