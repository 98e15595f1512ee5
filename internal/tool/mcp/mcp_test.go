package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/tool/mcp"
	"github.com/git-jp/git-jp/internal/tool/process"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVariable makes the test binary a server on its standard streams.
const serverVariable = "GIT_JP_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		os.Exit(m.Run())
	}
	s := server()
	if os.Getenv(serverVariable) == oldServer {
		s.AddReceivingMiddleware(beforeDiscovery)
	}
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// oldServer as the variable's value makes it a server for the protocol of 2025 only, in which
// servers send requests themselves.
const oldServer = "old"

func beforeDiscovery(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "server/discover" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "what?"}
		}
		return next(ctx, method, r)
	}
}

// server has a tool for each feature that must be preserved.
func server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	schema := jsontext.Value(`{"type":"object","properties":{"x":{"type":"integer"},"hidden":{}},"required":["x"]}`)
	add := func(name string, f func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "about " + name, InputSchema: schema}, f)
	}
	add("blocks", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		size := int64(7)
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "hello", Annotations: &sdk.Annotations{Priority: 0.5}},
			&sdk.ImageContent{Data: []byte{0, 1, 2}, MIMEType: "image/png"},
			&sdk.AudioContent{Data: []byte{3}, MIMEType: "audio/wav"},
			&sdk.ResourceLink{URI: "https://a.example/x", Name: "n", Title: "T", Size: &size},
			&sdk.EmbeddedResource{
				Resource:    &sdk.ResourceContents{URI: "test://r", MIMEType: "text/plain", Text: "R"},
				Annotations: &sdk.Annotations{Audience: []sdk.Role{"user"}, LastModified: "2026-01-01T00:00:00Z"},
			},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
				URI: "test://b", Blob: []byte{0xff, 0}, Meta: sdk.Meta{"k": "v"},
			}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///tmp/../nowhere/e"}},
		}}, nil
	})
	add("echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	add("fails", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "bad"}}}, nil
	})
	add("broken", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("internal trouble")
	})
	add("structured", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"a": 1}}, nil
	})
	add("slow", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil, nil
	})
	addRequests(s, add)
	s.AddResource(&sdk.Resource{URI: "test://doc", Name: "doc"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
				{URI: r.Params.URI, MIMEType: "text/plain", Text: "the doc"},
				{URI: "test://bin", Blob: []byte{1}},
			}}, nil
		})
	return s
}

// self starts the test binary as a server.
func self(t *testing.T, variables ...string) (mcp.Server, mcp.Options) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := process.Launcher{
		Env: append(process.Minimal(os.Environ()), serverVariable+"=1"), Grace: time.Second,
	}
	return mcp.Server{ID: "srv", Program: exe, Variables: variables, Startup: 30 * time.Second},
		mcp.Options{Starter: l, Dir: t.TempDir(), Version: "test"}
}

func connect(t *testing.T, s mcp.Server, o mcp.Options) *mcp.Session {
	t.Helper()
	session, err := mcp.Connect(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

func serveHTTP(t *testing.T) *httptest.Server {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server() }, nil)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// each runs a test over both transports.
func each(t *testing.T, f func(t *testing.T, s *mcp.Session)) {
	t.Run("stdio", func(t *testing.T) {
		s, o := self(t)
		f(t, connect(t, s, o))
	})
	t.Run("stdio of 2025", func(t *testing.T) {
		s, o := self(t)
		l, _ := o.Starter.(process.Launcher)
		l.Env = append(l.Env, serverVariable+"="+oldServer)
		o.Starter = l
		f(t, connect(t, s, o))
	})
	t.Run("http", func(t *testing.T) {
		srv := serveHTTP(t)
		f(t, connect(t, mcp.Server{ID: "srv", URL: srv.URL}, mcp.Options{Client: srv.Client()}))
	})
}

func run(t *testing.T, s *mcp.Session, name, args string) tool.Result {
	t.Helper()
	items, err := s.Tools()
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		items[i].Policy.Run = tool.Unattended
	}
	x, err := tool.NewExecutor(items, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rs, err := x.Run(t.Context(), []tool.Call{{Name: name, Arguments: jsontext.Value(args)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rs[0]
}

func shows(t *testing.T, r tool.Result) string {
	t.Helper()
	text, err := (&events.ToolCallResponse{Blocks: r.Blocks}).Text(nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBlocksSurvive(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		r := run(t, s, "blocks", `{"x":1}`)
		if r.IsError || len(r.Blocks) != 7 {
			t.Fatalf("%s", shows(t, r))
		}
		stored := string(events.New(events.NewElement(time.Unix(0, 0),
			&events.ToolCallResponse{ID: "1", Blocks: r.Blocks}, events.Metadata{})).Encode())
		for _, want := range []string{
			`"priority": 0.5`, `"image/png"`, `"audio/wav"`, `"https://a.example/x"`, `"title": "T"`,
			`"size": 7`, `"audience"`, `"lastModified": "2026-01-01T00:00:00Z"`, `"k": "v"`, "test://r",
		} {
			if !strings.Contains(stored, want) {
				t.Errorf("no %s in\n%s", want, stored)
			}
		}
		res := r.Blocks[4].Resource
		if res.MIMEType != "text/plain" || !strings.Contains(string(res.Annotations), `"user"`) {
			t.Errorf("%+v", res)
		}
		if b, err := r.Blocks[5].Resource.Content.Bytes(nil); err != nil || string(b) != "\xff\x00" {
			t.Errorf("%q (%v)", b, err)
		}
		if c := r.Blocks[6].Resource.Content; c.IsZero() || c.Size() != 0 {
			t.Error("an empty resource has no content")
		}
	})
}

func TestErrorsSurvive(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		tests := []struct {
			name, args, want string
			error            bool
		}{
			{"echo", `{"x":"7","more":"a"}`, `{"more":"a","x":7}`, false},
			{"fails", `{"x":1}`, "bad", true},
			{"broken", `{"x":1}`, "internal trouble", true},
			{"structured", `{"x":1}`, `{"a":1}`, false},
			{"echo", `{}`, "missing: x", true},
			{"nope", `{}`, "not available", true},
		}
		for _, tt := range tests {
			r := run(t, s, tt.name, tt.args)
			if got := shows(t, r); !strings.Contains(got, tt.want) || r.IsError != tt.error {
				t.Errorf("%s: %q (%t)", tt.name, got, r.IsError)
			}
		}
	})
}

func TestInterrupt(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		items, err := s.Tools()
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if it.Tool.Definition().Name != "slow" {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := it.Tool.Run(ctx, tool.Call{Name: "slow", Arguments: jsontext.Value(`{"x":1}`)})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		if got := shows(t, run(t, s, "echo", `{"x":1}`)); got != `{"x":1}` {
			t.Errorf("afterwards: %q", got)
		}
	})
}

func TestResources(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		rs, err := s.Read(t.Context(), "test://doc")
		if err != nil || len(rs) != 2 || rs[0].URI != "test://doc" || rs[0].MIMEType != "text/plain" {
			t.Fatalf("%+v (%v)", rs, err)
		}
		if b, _ := rs[0].Content.Bytes(nil); string(b) != "the doc" {
			t.Errorf("%q", b)
		}
		if _, err := s.Read(t.Context(), "test://nope"); err == nil {
			t.Error("read what is not there")
		}
	})
}

func TestConfigurationComesFirst(t *testing.T) {
	s, o := self(t)
	session := connect(t, s, o)
	c, err := tool.ParseConfig("my_echo", jsontext.Value(`{"source":"mcp.srv.echo","run":"unattended",
		"summary":"short","parameters":{"x":{"type":"integer","summary":"an x","default":3}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	it, err := session.Tool(c)
	if err != nil {
		t.Fatal(err)
	}
	d := it.Tool.Definition()
	want := `{"properties":{"hidden":{},"x":{"default":3,"description":"an x","type":"integer"}},` +
		`"required":["x"],"type":"object"}`
	if d.Name != "my_echo" || d.Summary != "short" || d.Description != "about echo" ||
		string(d.Schema) != want || it.Policy.Run != tool.Unattended {
		t.Errorf("%+v\n%s", d, d.Schema)
	}
	r, err := it.Tool.Run(t.Context(), tool.Call{Name: "my_echo", Arguments: jsontext.Value(`{"x":3}`)})
	if err != nil || shows(t, r) != `{"x":3}` {
		t.Errorf("%+v (%v)", r, err)
	}
	if named, ok := it.Tool.(tool.Renamed); !ok || named.Origin() != "echo of MCP server srv" {
		t.Errorf("a question about %s does not say what it is", d.Name)
	}
	c.Source.Tool = "nope"
	if _, err := session.Tool(c); err == nil {
		t.Error("found a tool that is not there")
	}
}

func TestFilesHaveOneName(t *testing.T) {
	s, o := self(t)
	var err error
	if o.Space, err = file.NewSpace("/"); err != nil {
		t.Fatal(err)
	}
	r := run(t, connect(t, s, o), "blocks", `{"x":1}`)
	if got := r.Blocks[6].Resource.URI; got != "file:///$WORKSPACE/nowhere/e" {
		t.Errorf("%s", got)
	}
}

type refusing struct{ err error }

func (r refusing) Start(context.Context, tool.Command) (tool.Process, error) { return nil, r.err }

func TestServersThatDoNotStart(t *testing.T) {
	no := errors.New("not approved")
	s, o := self(t)
	o.Starter = refusing{no}
	if _, err := mcp.Connect(t.Context(), s, o); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	s, o = self(t)
	s.Program, s.Args = "sh", []string{"-c", "echo no licence >&2; exit 1"}
	if _, err := mcp.Connect(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "no licence") {
		t.Errorf("ended at once: %v", err)
	}
	s, o = self(t)
	s.Program, s.Args, s.Startup = "sleep", []string{"3000"}, 200*time.Millisecond
	if _, err := mcp.Connect(t.Context(), s, o); err == nil {
		t.Error("silent: connected")
	}
	if _, err := mcp.Connect(t.Context(), mcp.Server{ID: "x"}, mcp.Options{}); err == nil {
		t.Error("connected to nothing")
	}
}

// paging returns a session whose list of tools consists of the pages of page, by their number.
func paging(t *testing.T, page func(n int) *sdk.ListToolsResult) (*mcp.Session, *int) {
	t.Helper()
	pages := new(int)
	s := server()
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			*pages++
			return page(*pages), nil
		}
	})
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(srv.Close)
	return connect(t, mcp.Server{ID: "srv", URL: srv.URL}, mcp.Options{Client: srv.Client()}), pages
}

func TestListsOfToolsComeToAnEnd(t *testing.T) {
	object := map[string]any{"type": "object"}
	listed := func(n int, name string) (all []*sdk.Tool) {
		for i := range n {
			all = append(all, &sdk.Tool{Name: name + strconv.Itoa(i), InputSchema: object})
		}
		return all
	}
	tests := []struct {
		name  string
		page  func(n int) *sdk.ListToolsResult
		want  string
		pages int // at most
	}{
		{"always another", func(n int) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{NextCursor: strconv.Itoa(n)}
		}, "more than 100 pages", 100},
		{"the same again", func(int) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{NextCursor: "again"}
		}, "repeats itself", 2},
		{"tools without end", func(n int) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{Tools: listed(300, strconv.Itoa(n)+"-"), NextCursor: strconv.Itoa(n)}
		}, "more than 1000 tools", 4},
		{"words without end", func(n int) *sdk.ListToolsResult {
			return &sdk.ListToolsResult{Tools: []*sdk.Tool{{
				Name: strconv.Itoa(n), Description: strings.Repeat("x", 3<<20), InputSchema: object,
			}}, NextCursor: strconv.Itoa(n)}
		}, "longer than 8388608 bytes", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, pages := paging(t, tt.page)
			if _, err := s.Tools(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if *pages > tt.pages {
				t.Errorf("asked for %d pages", *pages)
			}
		})
	}
}

func TestWhatAServerSaysOfAToolIsBounded(t *testing.T) {
	s, _ := paging(t, func(int) *sdk.ListToolsResult {
		return &sdk.ListToolsResult{Tools: []*sdk.Tool{
			{Name: "talks", Description: strings.Repeat("word ", 20_000), InputSchema: map[string]any{"type": "object"}},
			{Name: "wants", InputSchema: map[string]any{"type": "object", "title": strings.Repeat("x", 300<<10)}},
		}}
	})
	items, err := s.Tools()
	if err != nil || len(items) != 1 {
		t.Fatalf("%d tools (%v)", len(items), err)
	}
	if n := len(items[0].Tool.Definition().Brief()); n > 17<<10 {
		t.Errorf("the description has %d bytes", n)
	}
	c := tool.Config{Name: "wants", Source: tool.Source{Kind: tool.MCP, Server: "srv"}}
	if _, err := s.Tool(c); err == nil || !strings.Contains(err.Error(), "schema is larger") {
		t.Errorf("error is %v", err)
	}
}

// TestRealServers needs npm and its registry, and so must be enabled.
func TestRealServers(t *testing.T) {
	if os.Getenv("GIT_JP_MCP_NPM") == "" {
		t.Skip("set GIT_JP_MCP_NPM=1 to start servers from the npm registry")
	}
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a b.txt"), []byte("hello\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, o := self(t)
	o.Starter = process.Launcher{Env: os.Environ(), Grace: time.Second}
	if o.Space, err = file.NewSpace(dir); err != nil {
		t.Fatal(err)
	}
	pkg := func(args ...string) mcp.Server {
		return mcp.Server{ID: args[0], Program: npx, Args: append([]string{"-y"}, args...), Startup: 3 * time.Minute}
	}
	fsys := connect(t, pkg("@modelcontextprotocol/server-filesystem", dir), o)
	r := run(t, fsys, "read_text_file", `{"path":`+strconv.Quote(filepath.Join(dir, "a b.txt"))+`}`)
	if got := shows(t, r); r.IsError || !strings.Contains(got, "hello") {
		t.Errorf("filesystem: %q", got)
	}
	if r := run(t, fsys, "read_text_file", `{"path":"/etc/passwd"}`); !r.IsError {
		t.Errorf("filesystem: %s", shows(t, r))
	}
	every := connect(t, pkg("@modelcontextprotocol/server-everything"), o)
	items, err := every.Tools()
	if err != nil || len(items) < 5 {
		t.Fatalf("everything: %d tools (%v)", len(items), err)
	}
	for _, it := range items {
		t.Log(it.Tool.Definition().Name, string(it.Tool.Definition().Schema))
	}
	if got := shows(t, run(t, every, "echo", `{"message":"ping"}`)); !strings.Contains(got, "ping") {
		t.Errorf("everything: %q", got)
	}
}
