package search

// A Scope is a kind of text in a conversation.
type Scope string

// The scopes, by jp's names, and Attachment for the attachments of a request.
const (
	Title      Scope = "title"
	User       Scope = "user"
	Assistant  Scope = "assistant"
	Reasoning  Scope = "reasoning"
	Structured Scope = "structured"
	ToolCall   Scope = "tool-call"
	ToolResult Scope = "tool-result"
	Attachment Scope = "attachment"
	Inquiry    Scope = "inquiry"
)

// scopeGroups are names for several scopes.
var scopeGroups = map[string][]Scope{
	"all":  nil,
	"chat": {User, Assistant, Reasoning, Structured},
	"tool": {ToolCall, ToolResult},
}

// ParseScope returns the scopes for a name: itself, or those of a group (all, chat, tool). It
// returns nil for all scopes, and false for an unknown name.
func ParseScope(name string) ([]Scope, bool) {
	if group, ok := scopeGroups[name]; ok {
		return group, true
	}
	switch s := Scope(name); s {
	case Title, User, Assistant, Reasoning, Structured, ToolCall, ToolResult, Attachment, Inquiry:
		return []Scope{s}, true
	default:
		return nil, false
	}
}
