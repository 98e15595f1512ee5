package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits for a server's descriptions of its tools, all of which are in every request.
const (
	maxPages       = 100
	maxTools       = 1000
	maxDescription = 16 << 10  // bytes; longer ones are cut
	maxSchema      = 256 << 10 // bytes; tools with more are not offered
	maxListed      = 8 << 20   // bytes of all descriptions
)

var (
	errPages = fmt.Errorf("it has more than %d pages of tools", maxPages)
	errTools = fmt.Errorf("it has more than %d tools", maxTools)
	errSaid  = fmt.Errorf("its list of tools is longer than %d bytes", maxListed)
	errAgain = errors.New("its list of tools repeats itself")
)

// list returns the server's tools, page by page. It ends for a server that always has another page,
// and for one that repeats a page.
func (s *Session) list(ctx context.Context) ([]*mcp.Tool, error) {
	all, said := []*mcp.Tool{}, 0
	params, seen := &mcp.ListToolsParams{}, map[string]bool{}
	for range maxPages {
		var page *mcp.ListToolsResult
		err := s.do(ctx, func(at *mcp.ClientSession) (err error) {
			page, err = at.ListTools(ctx, params)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			n, err := size(t)
			said += n
			switch {
			case err != nil:
				return nil, fmt.Errorf("tool %q: %w", t.Name, err)
			case said > maxListed:
				return nil, errSaid
			case len(all) == maxTools:
				return nil, errTools
			}
			all = append(all, t)
		}
		switch next := page.NextCursor; {
		case next == "":
			return all, nil
		case seen[next]:
			return nil, errAgain
		default:
			seen[next] = true
			params = &mcp.ListToolsParams{Cursor: next}
		}
	}
	return nil, errPages
}

// size returns the size of a tool's description.
func size(t *mcp.Tool) (int, error) {
	schema, err := json.Marshal(t.InputSchema)
	return len(t.Name) + len(t.Description) + len(schema), err
}

// described limits the length of a description.
func described(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	return string(tool.Head([]byte(text), maxDescription)) + "…"
}
