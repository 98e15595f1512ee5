package llm

import "fmt"

// Format is a wire format whose rules [Check] knows.
type Format string

// The formats, named after the adapter packages.
const (
	FormatAnthropic Format = "anthropic" // Messages
	FormatResponses Format = "openai"    // OpenAI Responses
	FormatChat      Format = "chat"      // chat completions and compatibles
	FormatGemini    Format = "gemini"    // generateContent
	FormatOllama    Format = "ollama"    // /api/chat
)

// A Violation is one broken rule of a provider.
type Violation struct {
	Rule   string // such as "G1" or "A2": the names of docs/architecture.md's table
	Path   string // where in the body, such as "messages[3].content[0]"
	Detail string
}

// String returns the rule, the place and the detail.
func (v Violation) String() string {
	return fmt.Sprintf("%s at %s: %s", v.Rule, v.Path, v.Detail)
}

// Check holds a body, as it goes on the wire, against the rules of its format.
func Check(f Format, wire []byte) []Violation {
	return nil
}
