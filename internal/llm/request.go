package llm

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Request is one question to a model with all that it is given: pure data, built by
// whoever asks from a projected stream. Adapters never change it.
type Request struct {
	System   []SystemText
	Messages []Message
	Tools    []Tool
	Choice   ToolChoice
	Params   Params
	// Schema asks for an answer that follows this JSON Schema (an object). The
	// answer's text then ends as [events.FormData]. Nil asks for text.
	Schema jsontext.Value
	Cache  CachePolicy
	// Session names the conversation, the same for all its requests, for providers
	// that route by such a key. It must not be secret.
	Session string
}

// A SystemText is one section of the system prompt.
type SystemText struct {
	Text string
	// Breakpoint asks that the prompt be cached up to the end of this section.
	Breakpoint bool
}

// Role says who speaks.
type Role string

// The roles of a message. Results of tools are said by the user, as Anthropic has it;
// adapters for other formats split them off.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A Message is what one side says at once. Neighbours of one role may follow each
// other; adapters merge them where their format wants it.
type Message struct {
	Role  Role
	Parts []Part
	// Model is the id of the model that wrote an assistant's message, "" when it is
	// not known. Signatures and encrypted items are replayed only to the model that
	// made them, see [Own].
	Model string
	// Breakpoint asks that the prompt be cached up to the end of this message.
	Breakpoint bool
	// Schema is what the answer to a user's message was to follow, for formats that ask for it
	// in words: what was said stays when the next answer is to follow none.
	Schema jsontext.Value
}

// A Part is one piece of a message: a Text, Reasoning, Data, Call, Opaque, Result, Resource or
// Media. The assistant says the first five, the user Text, Result, Resource and Media.
type Part interface {
	part()
}

// Text is plain text.
type Text struct {
	Text     string
	Metadata events.Metadata // of the assistant's: what its provider wants back
}

// Reasoning is what the model thought before it spoke. Its text may be empty while
// Metadata holds what the provider wants back.
type Reasoning struct {
	Text     string
	Metadata events.Metadata
}

// Data is an answer that followed a schema.
type Data struct {
	Value    jsontext.Value
	Metadata events.Metadata
}

// A Call is a tool call that the model made.
type Call struct {
	ID       string // as the provider gave it; not unique, see [UniqueIDs]
	Name     string
	Args     jsontext.Value // a JSON object; nil stands for {}
	Metadata events.Metadata
}

// A Result answers a Call. Its parts are Text, Resource and Media.
type Result struct {
	CallID  string
	Name    string // the tool's
	Parts   []Part
	IsError bool
}

// A Resource is content with an identity. Its URI is already expanded to the form that
// the model sees.
type Resource struct {
	URI         string
	MIME        string
	Title       string // title or name, "" when it has none
	Description string
	Text        string // what the model is given of a text; the formatted form when there is one
	Bytes       []byte // of what is no text; Text is then empty
}

// Media is an image, a PDF or audio without an identity.
type Media struct {
	MIME  string
	Bytes []byte
	Name  string // a label, "" when it has none
}

// Opaque is a block of a provider's own that it wants back as it came, such as what it made of all
// that was said before. Who does not know its form leaves it out.
type Opaque struct {
	JSON jsontext.Value
}

func (Opaque) part()    {}
func (Text) part()      {}
func (Reasoning) part() {}
func (Data) part()      {}
func (Call) part()      {}
func (Result) part()    {}
func (Resource) part()  {}
func (Media) part()     {}

// A Tool is what a model may call.
type Tool struct {
	Name        string // any; adapters map it to what their provider takes, see [Names]
	Description string
	Schema      jsontext.Value // of the arguments: a JSON Schema of type object
}

// ChoiceMode says whether the model calls tools.
type ChoiceMode int

// The modes of a ToolChoice.
const (
	ChoiceAuto ChoiceMode = iota
	ChoiceNone
	ChoiceRequired // some tool
	ChoiceTool     // the one that is named
)

// A ToolChoice says whether and which tool the model calls.
type ToolChoice struct {
	Mode ChoiceMode
	Name string // of ChoiceTool
	// Single forbids more than one call at once.
	Single bool
}

// Params are what steers a model. The zero value leaves everything to the provider.
type Params struct {
	MaxTokens   int // of the answer, 0 for the model's own limit
	Reasoning   ReasoningParams
	Temperature *float64
	TopP        *float64
	TopK        *int
	Stop        []string
	Services    Services
	// Other are parameters of one provider, by their name on the wire; see [Params.Extra].
	Other map[string]jsontext.Value
}

// Extra returns the parameters of Other that stand beside ours, in the order of their names.
// What is said, which tools there are, and what is stored is never among them, nor is a name
// that is more than a name to whoever writes the request.
func (p Params) Extra() iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.Other)) {
			if IsExtra(name) && !yield(name, p.Other[name]) {
				return
			}
		}
	}
}

// IsExtra reports whether a parameter of this name may stand beside ours.
func IsExtra(name string) bool {
	switch name {
	case "model", "messages", "contents", "input", "prompt", "conversation",
		"previous_response_id", "cachedContent", "cached_content",
		"system", "systemInstruction", "system_instruction", "instructions",
		"tools", "toolConfig", "tool_config", "tool_choice", "functions", "function_call",
		"parallel_tool_calls", "response_format", "text", "output_config", "output_format",
		"stream", "stream_options", "store", "background":
		return false
	}
	return plainName().MatchString(name)
}

var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
})

// ReasoningMode says whether a model reasons.
type ReasoningMode int

// The modes of ReasoningParams.
const (
	ReasoningDefault ReasoningMode = iota // as the provider has it
	ReasoningOff
	ReasoningAuto   // on, how much is the model's decision
	ReasoningEffort // on, as much as Effort says
	ReasoningBudget // on, up to Budget tokens
)

// Effort is how much a model is to reason, in jp's words.
type Effort string

// The efforts, in rising order.
const (
	EffortNone   Effort = "none"
	EffortXLow   Effort = "xlow"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// ReasoningParams say how much a model reasons before it answers.
type ReasoningParams struct {
	Mode    ReasoningMode
	Effort  Effort
	Budget  int
	Exclude bool // reason, but do not stream it, where the provider can
}

// CachePolicy says what of the prompt is worth caching. The zero value caches with the
// provider's shortest lifetime.
type CachePolicy struct {
	Off bool
	// TTL is how long an entry is to live; providers round it to what they have.
	TTL time.Duration
}
