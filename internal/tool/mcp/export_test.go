package mcp

import (
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/tool"
)

// Tools returns every tool of the server, under the server's names. They need approval.
func (s *Session) Tools() ([]tool.Item, error) {
	list, err := s.tools()
	if err != nil {
		return nil, err
	}
	var items []tool.Item
	for _, t := range list {
		def, err := define(t)
		if errors.Is(err, errSchema) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("tool %q of MCP server %q: %w", t.Name, s.server.ID, err)
		}
		items = append(items, tool.Item{Tool: &remote{s, t.Name, def}})
	}
	return items, nil
}
