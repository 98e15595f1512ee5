package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/tool/mcp"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type handler = func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// addRequests adds tools that ask questions and return the answers. How a question is sent depends
// on the negotiated protocol.
func addRequests(s *sdk.Server, add func(name string, f handler)) {
	says := func(format string, args ...any) (*sdk.CallToolResult, error) {
		text := &sdk.TextContent{Text: fmt.Sprintf(format, args...)}
		return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil
	}
	asks := func(name string, request sdk.InputRequest) {
		add(name, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			switch told := r.Params.InputResponses["q"].(type) {
			case nil:
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": request}}, nil
			case *sdk.ElicitResult:
				return says("%s %v", told.Action, told.Content)
			case *sdk.ListRootsResult: //nolint:staticcheck // servers of today
				var uris []string
				for _, root := range told.Roots {
					uris = append(uris, root.URI)
				}
				return says("%d %s", len(uris), strings.Join(uris, " "))
			default:
				return says("%T", told)
			}
		})
	}
	asks("form", &sdk.ElicitParams{Message: "which one?", RequestedSchema: map[string]any{
		"type": "object", "required": []string{"size"},
		"properties": map[string]any{
			"colour": map[string]any{"type": "string", "enum": []string{"red", "blue"}},
			"size":   map[string]any{"type": "integer", "title": "How large"},
			"sure":   map[string]any{"type": "boolean", "default": true},
			"note":   map[string]any{"type": "string"},
		},
	}})
	asks("confirm", &sdk.ElicitParams{Message: "really?", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{},
	}})
	asks("page", &sdk.ElicitParams{
		Mode: "url", URL: "https://evil.example/", ElicitationID: "1", Message: "log in",
	})
	asks("sample", &sdk.CreateMessageParams{MaxTokens: 1}) //nolint:staticcheck // servers of today
	asks("roots", &sdk.ListRootsParams{})                  //nolint:staticcheck // the same
	add("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddTool(&sdk.Tool{Name: "late", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return says("late")
			})
		return says("grown")
	})
}

// An oracle answers questions by their id, and records them.
type oracle struct {
	answers map[string]string
	asked   []tool.Question
}

func (o *oracle) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	o.asked = append(o.asked, q)
	if a, ok := o.answers[q.ID]; ok {
		return jsontext.Value(a), nil
	}
	return nil, errors.New("no user could be asked")
}

// runWith calls a tool with an asker.
func runWith(t *testing.T, s *mcp.Session, name string, asker tool.Asker) string {
	t.Helper()
	items, err := s.Tools()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(items, func(it tool.Item) bool { return it.Tool.Definition().Name == name })
	r, err := items[i].Tool.Run(t.Context(), tool.Call{
		ID: "c1", Name: name, Arguments: jsontext.Value(`{"x":1}`), Asker: asker,
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return shows(t, r)
}

func TestAServerAsksTheUser(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		all := map[string]string{"size": `"7"`, "colour": `"blue"`, "sure": "false", "note": `""`}
		o := &oracle{answers: all}
		if got := runWith(t, s, "form", o); got != "accept map[colour:blue size:7 sure:false]" {
			t.Errorf("the server is told %q", got)
		}
		var ids []string
		for _, q := range o.asked {
			ids = append(ids, q.ID)
			if q.Tool != "form" || q.Call != "c1" || string(q.Target) != `"user"` {
				t.Errorf("asked %+v", q)
			}
		}
		if want := []string{"size", "colour", "note", "sure"}; !slices.Equal(ids, want) {
			t.Errorf("asked %q, want %q", ids, want)
		}
		first := o.asked[0]
		if first.Text != "How large" || first.Preamble != `MCP server "srv": which one?` {
			t.Errorf("the first question is %+v", first)
		}
		for name, o := range map[string]*oracle{
			"no number":     {answers: map[string]string{"size": `"big"`, "colour": `"red"`, "sure": "true", "note": `"n"`}},
			"no answer":     {answers: map[string]string{"size": "7"}},
			"nobody at all": nil,
		} {
			var asker tool.Asker
			if o != nil {
				asker = o
			}
			if got := runWith(t, s, "form", asker); !strings.HasPrefix(got, "decline") {
				t.Errorf("%s: the server is told %q", name, got)
			}
		}
		yes := &oracle{answers: map[string]string{"confirm": "true"}}
		if got := runWith(t, s, "confirm", yes); !strings.HasPrefix(got, "accept") {
			t.Errorf("confirmed, the server is told %q", got)
		}
		no := &oracle{answers: map[string]string{"confirm": "false"}}
		if got := runWith(t, s, "confirm", no); !strings.HasPrefix(got, "decline") {
			t.Errorf("denied, the server is told %q", got)
		}
	})
}

func TestWhatAServerIsNotGiven(t *testing.T) {
	each(t, func(t *testing.T, s *mcp.Session) {
		o := &oracle{}
		if got := runWith(t, s, "page", o); !strings.Contains(got, "error") && !strings.HasPrefix(got, "decline") {
			t.Errorf("a page: %q", got)
		}
		if got := runWith(t, s, "sample", o); !strings.Contains(got, "does not support") {
			t.Errorf("a model: %q", got)
		}
		if len(o.asked) > 0 {
			t.Errorf("somebody was asked %+v", o.asked)
		}
	})
}

// TestRoots checks that only local servers are told the root.
func TestRoots(t *testing.T) {
	dir := t.TempDir()
	space, err := file.NewSpace(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, o := self(t)
	o.Space = space
	here := runWith(t, connect(t, s, o), "roots", nil)
	if want := "1 " + space.Expand("file:///$WORKSPACE"); here != want {
		t.Errorf("here: %q, want %q", here, want)
	}
	if _, err := os.Stat(strings.TrimPrefix(here, "1 file://")); err != nil {
		t.Error(err)
	}
	t.Run("elsewhere", func(t *testing.T) {
		srv := serveHTTP(t)
		session := connect(t, mcp.Server{ID: "srv", URL: srv.URL},
			mcp.Options{Client: srv.Client(), Space: space})
		if got := runWith(t, session, "roots", nil); got != "0 " {
			t.Errorf("elsewhere: %q", got)
		}
	})
}

func TestToolsThatComeLater(t *testing.T) {
	s, o := self(t)
	session := connect(t, s, o)
	c := tool.Config{Name: "late", Source: tool.Source{Kind: tool.MCP, Server: "srv"}}
	if _, err := session.Tool(c); err == nil {
		t.Fatal("the tool is there already")
	}
	if got := runWith(t, session, "grow", nil); got != "grown" {
		t.Fatal(got)
	}
	// The notification may arrive after the result.
	for deadline := t.Context(); ; {
		if _, err := session.Tool(c); err == nil {
			break
		}
		if deadline.Err() != nil {
			t.Fatal("the tool never came")
		}
	}
	if got := runWith(t, session, "late", nil); got != "late" {
		t.Error(got)
	}
}
