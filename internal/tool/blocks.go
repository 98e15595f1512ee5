package tool

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeBlocks reads an array of content blocks in the format of RFD 058 and MCP. Unknown members
// and blocks of unknown types are kept.
func DecodeBlocks(array jsontext.Value) ([]events.Block, error) {
	// It decodes a stream of one event, so that it accepts exactly what can be stored.
	var b bytes.Buffer
	b.WriteString(`[{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response",` +
		`"id":"","is_error":false,"content":`)
	b.Write(array)
	b.WriteString("}]")
	s, err := events.Decode(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("content blocks: %w", err)
	}
	r, ok := s.At(0).Event().(*events.ToolCallResponse)
	if !ok {
		return nil, fmt.Errorf("content blocks: %s", s.At(0).Kind())
	}
	return r.Blocks, nil
}

// A Capture is a writer that keeps the first bytes and counts the rest, so that a program which
// never stops writing does not exhaust the memory. It is safe for concurrent use.
type Capture struct {
	mu    sync.Mutex
	limit int
	data  []byte
	total int64
}

// NewCapture returns a Capture of at most limit bytes.
func NewCapture(limit int) *Capture { return &Capture{limit: limit} }

// Write never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(p))
	c.data = append(c.data, p[:min(len(p), c.limit-len(c.data))]...)
	return len(p), nil
}

// Bytes returns the bytes kept.
func (c *Capture) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.data)
}

// Lost returns how many bytes were not kept.
func (c *Capture) Lost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total - int64(len(c.data))
}
