package scripts

import (
	"context"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// mcpServer is the program mcp-server of scripts: an MCP server over its standard streams, with a
// tool that ends it.
func mcpServer() {
	s := newMCPServer()
	s.AddTool(&mcp.Tool{Name: "leave", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("out of memory")
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		panic(err)
	}
}

// serveMCP is the script command
//
//	serve-mcp VAR
//
// It starts the same server over HTTP, and puts its address into the variable. Requests without the
// header X-Word: please are refused.
func serveMCP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve-mcp VAR")
	}
	server := NewMCPServer()
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// NewMCPServer starts the server of the script command serve-mcp. A program that asks it need not
// start another one, as it does for an mcp-server.
func NewMCPServer() *httptest.Server {
	h := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return newMCPServer() }, nil)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Word") != "please" {
			http.Error(w, "say please", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	}))
}

// newMCPServer returns a server with a tool that returns a resource and a link, one that asks, and
// a resource.
func newMCPServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	schema := map[string]any{"type": "object"}
	s.AddTool(&mcp.Tool{Name: "look", Description: "look it up", InputSchema: schema},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.EmbeddedResource{
					Resource:    &mcp.ResourceContents{URI: "test://doc", MIMEType: "text/plain", Text: "the doc"},
					Annotations: &mcp.Annotations{Priority: 0.5},
				},
				&mcp.ResourceLink{URI: "test://more", Name: "more"},
			}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "wonder", InputSchema: schema},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			told, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult)
			if !ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{
					Message: "which one?", RequestedSchema: schema,
				}}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "told " + told.Action}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "test://doc", Name: "doc"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: "test://doc", MIMEType: "text/plain", Text: "the doc"},
			}}, nil
		})
	return s
}
