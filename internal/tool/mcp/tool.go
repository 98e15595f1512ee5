package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a tool of a server.
type remote struct {
	session *Session
	name    string // by the server
	def     tool.Definition
}

var _ interface {
	tool.Tool
	tool.Renamed
} = (*remote)(nil)

// Origin implements [tool.Renamed].
func (r *remote) Origin() string {
	if r.def.Name == r.name {
		return ""
	}
	return fmt.Sprintf("%s of MCP server %s", r.name, r.session.server.ID)
}

// tools returns the server's tools. It lists them again after a reported change, also if that came
// during a listing.
func (s *Session) tools() ([]*mcp.Tool, error) {
	s.mu.Lock()
	listed, before := s.listed, s.changes
	s.mu.Unlock()
	if listed != nil {
		return listed, nil
	}
	ctx, cancel := context.WithTimeoutCause(
		context.Background(), s.server.Startup, s.server.silent())
	defer cancel()
	listed, err := s.list(ctx)
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		return nil, fmt.Errorf("list tools of MCP server %q: %w", s.server.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == before {
		s.listed = listed
	}
	return listed, nil
}

// Tool returns the tool that a configuration names; values of the configuration override the
// server's.
func (s *Session) Tool(c tool.Config) (tool.Item, error) {
	name := cmp.Or(c.Source.Tool, c.Name)
	list, err := s.tools()
	if err != nil {
		return tool.Item{}, err
	}
	for _, t := range list {
		if t.Name != name {
			continue
		}
		def, err := define(t)
		if err == nil {
			def, err = override(def, c)
		}
		if err != nil {
			return tool.Item{}, fmt.Errorf("tool %q of MCP server %q: %w", name, s.server.ID, err)
		}
		return tool.Item{Tool: &remote{s, name, def}, Policy: c.Policy}, nil
	}
	return tool.Item{}, fmt.Errorf("MCP server %q has no tool %q", s.server.ID, name)
}

var errSchema = fmt.Errorf("its schema is larger than %d bytes", maxSchema)

func define(t *mcp.Tool) (tool.Definition, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err == nil && len(schema) > maxSchema {
		return tool.Definition{}, errSchema
	}
	if err == nil && string(schema) == "null" {
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	return tool.Definition{
		Name: t.Name, Summary: described(t.Description), Schema: schema,
		Open: true, // the server validates arguments
	}, err
}

// override applies a configuration to the server's definition.
func override(def tool.Definition, c tool.Config) (tool.Definition, error) {
	def.Name, def.Examples, def.Parameters = c.Name, c.Examples, c.Parameters
	if c.Description != "" {
		def.Description = c.Description
	} else if c.Summary != "" {
		def.Description = def.Summary
	}
	if b := c.Definition().Brief(); b != "" {
		def.Summary = b
	}
	if len(c.Parameters) == 0 {
		return def, nil
	}
	var err error
	def.Schema, err = merge(def.Schema, c.Definition().Schema)
	return def, err
}

// merge applies the properties of own to those of schema, member by member, and requires what
// either requires.
func merge(schema, own jsontext.Value) (jsontext.Value, error) {
	var s, o map[string]any
	if err := errors.Join(exact.Unmarshal(schema, &s), exact.Unmarshal(own, &o)); err != nil {
		return nil, err
	}
	props, _ := s["properties"].(map[string]any)
	if props == nil {
		props = map[string]any{}
	}
	ours, _ := o["properties"].(map[string]any)
	for name, v := range ours {
		there, ok1 := props[name].(map[string]any)
		here, ok2 := v.(map[string]any)
		if !ok1 || !ok2 {
			props[name] = v
			continue
		}
		maps.Copy(there, here)
	}
	s["properties"] = props
	names, _ := s["required"].([]any)
	more, _ := o["required"].([]any)
	if names = lists.Union(names, more); names != nil {
		s["required"] = names
	}
	return json.Marshal(s)
}

// Definition implements [tool.Tool].
func (r *remote) Definition() tool.Definition { return r.def }

// Run implements [tool.Tool].
func (r *remote) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	during, leave := r.session.enter(ctx, &c)
	defer leave()
	var res *mcp.CallToolResult
	err := r.session.do(ctx, func(at *mcp.ClientSession) (err error) {
		res, err = at.CallTool(during, &mcp.CallToolParams{
			Name: r.name, Arguments: json.RawMessage(c.Arguments),
		})
		return err
	})
	if err != nil {
		return tool.Result{}, fmt.Errorf(
			"tool %q of MCP server %q: %w", r.name, r.session.server.ID, err)
	}
	blocks, err := r.session.blocks(res)
	return tool.Result{Blocks: blocks, IsError: res.IsError}, err
}

// blocks converts a result. If it has only structured content, that becomes text.
func (s *Session) blocks(res *mcp.CallToolResult) ([]events.Block, error) {
	if len(res.Content) == 0 && res.StructuredContent != nil {
		data, err := json.Marshal(res.StructuredContent)
		return []events.Block{tool.Text(string(data))}, err
	}
	if len(res.Content) == 0 {
		return []events.Block{tool.Text("")}, nil
	}
	array, err := json.Marshal(res.Content)
	if err != nil {
		return nil, err
	}
	blocks, err := tool.DecodeBlocks(array)
	for i := range blocks {
		s.settle(&blocks[i])
	}
	return blocks, err
}

// settle moves the annotations of a block to its resource, adds empty content, which the protocol
// leaves out, and makes the URI of a file canonical.
func (s *Session) settle(b *events.Block) {
	if b.Resource == nil {
		return
	}
	b.Resource.URI = s.space.Tidy(b.Resource.URI)
	if b.Type != events.BlockResource {
		return
	}
	if b.Resource.Content.IsZero() {
		b.Resource.Content = blobs.Loaded([]byte{})
	}
	var outer struct {
		Annotations json.RawMessage `json:"annotations"`
	}
	if b.Resource.Annotations == nil && exact.Unmarshal(b.Raw, &outer) == nil {
		b.Resource.Annotations = jsontext.Value(outer.Annotations)
	}
}

// maxRead limits the time of a server to return a resource.
const maxRead = 10 * time.Minute

// Read returns a resource, or several if it is a collection.
func (s *Session) Read(ctx context.Context, uri string) ([]events.Resource, error) {
	if s.space != nil {
		uri = s.space.Expand(uri)
	}
	ctx, cancel := context.WithTimeout(ctx, maxRead)
	defer cancel()
	var res *mcp.ReadResourceResult
	err := s.do(ctx, func(at *mcp.ClientSession) (err error) {
		res, err = at.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %q from MCP server %q: %w", uri, s.server.ID, err)
	}
	var all []events.Resource
	for _, c := range res.Contents {
		content := []byte(c.Text)
		if c.Blob != nil {
			content = c.Blob
		}
		all = append(all, events.Resource{
			URI: s.space.Tidy(c.URI), MIMEType: c.MIMEType, Content: blobs.Loaded(content),
		})
	}
	return all, nil
}
