package llm

import (
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Request is everything that a model is given for one answer. The caller builds it from a
// projected stream. Adapters never change it.
type Request struct {
	System   []SystemText
	Messages []Message // the last is the user's: a model does not continue its own
	Tools    []Tool
	Choice   ToolChoice
	Params   Params
	// Schema requires an answer that follows this JSON Schema (an object). The text of the answer
	// then ends as [events.FormData]. Nil asks for text.
	Schema jsontext.Value
	Cache  CachePolicy
	// Session names the conversation, with the same value in all its requests, for providers that
	// route by such a key. It must not be secret.
	Session string
	// Afford is not nil if money is limited: an answer that was charged ends with its exchange,
	// unless Afford allows the request of another one, whose answer it may limit.
	Afford func(next *Request) error
}

// A SystemText is one section of the system prompt.
type SystemText struct {
	Text string
	// Breakpoint asks the provider to cache the prompt up to the end of this section.
	Breakpoint bool
}

// Role is the author of a message.
type Role string

// The roles of a message. Results of tools are in the user's messages, as in Anthropic's format;
// adapters for other formats separate them.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A Message is a group of parts by one author. Successive messages may have the same role; adapters
// merge them if their format requires it.
type Message struct {
	Role  Role
	Parts []Part
	// Model is the id of the model that wrote an assistant's message, "" if unknown. Signatures and
	// encrypted items are replayed only to the model that made them, see [Own].
	Model string
	// Breakpoint asks the provider to cache the prompt up to the end of this message.
	Breakpoint bool
	// Schema is the schema for the answer to this user's message, for formats that ask for it in
	// text: the text stays in the prompt even if the next answer has no schema.
	Schema jsontext.Value
}

// A Part is one piece of a message: a Text, Reasoning, Data, Call, Opaque, Result, Resource or
// Media. Messages of the assistant have the first five, messages of the user Text, Result, Resource
// and Media.
type Part interface {
	part()
}

// Text is plain text.
type Text struct {
	Text     string
	Metadata events.Metadata // of an assistant's text, for its provider
}

// Reasoning is the model's reasoning before its answer. Its text may be empty while Metadata has
// data for the provider.
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
	ID       string // as the provider sent it; not unique, see [UniqueIDs]
	Name     string
	Args     jsontext.Value // a JSON object; nil stands for {}
	Metadata events.Metadata
}

// Arguments returns the arguments for the wire.
func (c Call) Arguments() json.RawMessage {
	if len(c.Args) == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(c.Args)
}

// A Result answers a Call. Its parts are Text, Resource and Media.
type Result struct {
	CallID  string
	Name    string // of the tool
	Parts   []Part
	IsError bool
}

// A Resource is content with a URI, already expanded to the form that the model sees.
type Resource struct {
	URI         string
	MIME        string
	Title       string // title or name, "" if it has none
	Description string
	Text        string // of a text resource: the formatted text if there is one
	Bytes       []byte // of a binary resource; Text is then empty
}

// Media is an image, a PDF or audio without a URI.
type Media struct {
	MIME  string
	Bytes []byte
}

// Opaque is a provider's own block that it wants returned unchanged, such as its compaction of all
// earlier messages. Adapters of other formats leave it out.
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

// A Tool is a tool that the model may call.
type Tool struct {
	Name        string // any; adapters map it to a name that their provider accepts, see [Names]
	Description string
	Schema      jsontext.Value // of the arguments: a JSON Schema of type object
}

// NoParameters is the schema of a tool that has none, for formats that require one.
const NoParameters = `{"type":"object","properties":{}}`

// ChoiceMode restricts which tools the model calls.
type ChoiceMode int

// The modes of a ToolChoice.
const (
	ChoiceAuto ChoiceMode = iota
	ChoiceNone
	ChoiceRequired // at least one tool
	ChoiceTool     // the named tool
)

// A ToolChoice restricts which tools the model calls.
type ToolChoice struct {
	Mode ChoiceMode
	Name string // for ChoiceTool
}

// Params are the parameters of a model. The zero value leaves them all to the provider.
type Params struct {
	MaxTokens   int // of the answer, 0 for the model's own limit
	Reasoning   ReasoningParams
	Temperature *float64
	TopP        *float64
	TopK        *int
	Stop        []string
	Services    Services
	// Other has parameters of one provider, by their name on the wire; see [Params.Extra].
	Other map[string]jsontext.Value
}

// Extra returns the parameters of Other that may be added to the request, in the order of their
// names. It excludes parameters that would replace messages, tools or what is stored, and names
// with special characters, which the encoder of a request would interpret.
func (p Params) Extra() iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.Other)) {
			if IsExtra(name) && !yield(name, p.Other[name]) {
				return
			}
		}
	}
}

// IsExtra reports whether a parameter of this name may be added to a request.
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

// ReasoningMode is whether and how a model reasons.
type ReasoningMode int

// The modes of ReasoningParams.
const (
	ReasoningDefault ReasoningMode = iota // the provider's default
	ReasoningOff
	ReasoningAuto   // on; the model decides how much
	ReasoningEffort // on, with the given Effort
	ReasoningBudget // on, up to Budget tokens
)

// Effort is an amount of reasoning, by jp's names.
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

// ReasoningParams set how much a model reasons before it answers.
type ReasoningParams struct {
	Mode    ReasoningMode
	Effort  Effort
	Budget  int
	Exclude bool // reason, but do not stream the reasoning, if the provider can
}

// Off reports whether the model is not to reason.
func (r ReasoningParams) Off() bool {
	return r.Mode == ReasoningOff || r.Mode == ReasoningEffort && r.Effort == EffortNone
}

// Level returns how much the model reasons as one of the three efforts that all providers know, ""
// to leave it to the model.
func (r ReasoningParams) Level() Effort {
	effort, budget := r.Mode == ReasoningEffort, r.Mode == ReasoningBudget
	switch {
	case effort && (r.Effort == EffortXLow || r.Effort == EffortLow), budget && r.Budget < 4096:
		return EffortLow
	case effort && r.Effort == EffortMedium, budget && r.Budget < 16384:
		return EffortMedium
	case effort, budget:
		return EffortHigh
	default:
		return ""
	}
}

// CachePolicy sets how the prompt is cached. The zero value caches with the provider's shortest
// lifetime.
type CachePolicy struct {
	Off bool
	// TTL is the wanted lifetime of an entry; providers round it to a supported one.
	TTL time.Duration
}
