package copilot

import (
	"cmp"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// left names members that are left out: ids, telemetry, and words with which each event is marked.
var left = []string{
	"type", "id", "timestamp", "parentId", "messageId", "originatingMessageId", "turnId",
	"interactionId", "apiCallId", "parentAgentTaskId", "parentToolCallId", "assetId",
	"toolTelemetry", "delivery",
}

// An event is one line.
type event struct {
	Type    sessions.Text   `json:"type"`
	ID      sessions.Text   `json:"id"`
	Time    sessions.Moment `json:"timestamp"`
	AgentID sessions.Text   `json:"agentId"`
	Data    jsontext.Value  `json:"data"`
	line    []byte
	d       data
}

// data is the data of an event. It has the members of all mapped types.
type data struct {
	SessionID sessions.Text                      `json:"sessionId"`
	Producer  sessions.Text                      `json:"producer"`
	Version   sessions.Text                      `json:"copilotVersion"`
	Context   sessions.Loose[place]              `json:"context"`
	Selected  sessions.Text                      `json:"selectedModel"`
	NewModel  sessions.Text                      `json:"newModel"`
	Effort    sessions.Text                      `json:"reasoningEffort"`
	Content   sessions.Text                      `json:"content"`
	Full      sessions.Text                      `json:"transformedContent"`
	Delivery  sessions.Text                      `json:"delivery"`
	Attached  sessions.Loose[[]jsontext.Value]   `json:"attachments"`
	AssetID   sessions.Text                      `json:"assetId"`
	MIMEType  sessions.Text                      `json:"mimeType"`
	Bytes     sessions.Text                      `json:"data"`
	MessageID sessions.Text                      `json:"messageId"`
	APICall   sessions.Text                      `json:"apiCallId"`
	Model     sessions.Text                      `json:"model"`
	Thought   sessions.Text                      `json:"reasoningText"`
	Opaque    sessions.Text                      `json:"reasoningOpaque"`
	Thoughts  sessions.Loose[thoughts]           `json:"reasoningBlocks"`
	Requests  sessions.Loose[[]jsontext.Value]   `json:"toolRequests"`
	Output    sessions.Number                    `json:"outputTokens"`
	Usage     sessions.Loose[*usage]             `json:"usage"`
	Metrics   sessions.Loose[map[string]metrics] `json:"modelMetrics"`
	CallID    sessions.Text                      `json:"toolCallId"`
	Tool      sessions.Text                      `json:"toolName"`
	Arguments jsontext.Value                     `json:"arguments"`
	Result    jsontext.Value                     `json:"result"`
	Success   jsontext.Value                     `json:"success"`
	Error     jsontext.Value                     `json:"error"`
	Shell     sessions.Loose[struct {
		Code sessions.Number `json:"exitCode"`
	}] `json:"shellExecution"`
	Parent   sessions.Text `json:"parentToolCallId"`
	Summary  sessions.Text `json:"summaryContent"`
	Title    sessions.Text `json:"title"`
	UpTo     sessions.Text `json:"upToEventId"`
	Intended sessions.Text `json:"source"`
}

// A place is where a session ran.
type place struct {
	CWD    sessions.Text `json:"cwd"`
	Branch sessions.Text `json:"branch"`
	Commit sessions.Text `json:"headCommit"`
}

// thoughts has a model's reasoning as its provider requires it back.
type thoughts struct {
	Provider sessions.Text    `json:"provider"`
	Blocks   []jsontext.Value `json:"blocks"`
}

type thought struct {
	Type      sessions.Text `json:"type"`
	Thinking  sessions.Text `json:"thinking"`
	Signature sessions.Text `json:"signature"`
	Data      sessions.Text `json:"data"`
}

// usage has the tokens of an answer. Input includes the caches.
type usage struct {
	Model      sessions.Text   `json:"model"`
	APICall    sessions.Text   `json:"apiCallId"`
	Input      sessions.Number `json:"inputTokens"`
	Output     sessions.Number `json:"outputTokens"`
	CacheRead  sessions.Number `json:"cacheReadTokens"`
	CacheWrite sessions.Number `json:"cacheWriteTokens"`
}

type metrics struct {
	Usage sessions.Loose[usage] `json:"usage"`
}

func (u usage) compact(model string) compact.Usage {
	return compact.Usage{
		Input:  int64(max(0, u.Input-u.CacheRead-u.CacheWrite)),
		Output: int64(u.Output), CacheRead: int64(u.CacheRead),
		CacheWrite: int64(u.CacheWrite), Model: model,
	}
}

func (u usage) minus(o usage) usage {
	return usage{
		Input: max(0, u.Input-o.Input), Output: max(0, u.Output-o.Output),
		CacheRead:  max(0, u.CacheRead-o.CacheRead),
		CacheWrite: max(0, u.CacheWrite-o.CacheWrite),
	}
}

// read parses a line.
func read(line []byte) (*event, bool) {
	e := &event{}
	if sessions.Unmarshal(line, e) != nil {
		return nil, false
	}
	e.line = line
	if e.Data != nil && sessions.Unmarshal(e.Data, &e.d) != nil {
		e.d = data{}
	}
	return e, true
}

// kind names an event as it is kept.
func (e *event) kind() string { return string(cmp.Or(e.Type, "unknown")) }

// agent returns the id of the sub-agent of an event.
func (e *event) agent() string { return string(cmp.Or(e.AgentID, e.d.Parent)) }

// provider returns jp's name of the provider of a model. Copilot reports all models under its own
// name.
func provider(model string) string {
	switch {
	case strings.HasPrefix(model, "claude"):
		return "anthropic"
	case strings.HasPrefix(model, "gemini"):
		return "google"
	}
	return "openai"
}
