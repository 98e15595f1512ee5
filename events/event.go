package events

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the value of an element's "type" member.
type Kind string

// The nine kinds that the format defines. Any other element is an [Unknown].
const (
	KindTurnStart        Kind = "turn_start"
	KindChatRequest      Kind = "chat_request"
	KindChatResponse     Kind = "chat_response"
	KindToolCallRequest  Kind = "tool_call_request"
	KindToolCallResponse Kind = "tool_call_response"
	KindInquiryRequest   Kind = "inquiry_request"
	KindInquiryResponse  Kind = "inquiry_response"
	KindConfigDelta      Kind = "config_delta"
	KindCompaction       Kind = "compaction"
)

// IsEvent reports whether k is one of the seven kinds that belong to a turn. The other kinds
// (config_delta, compaction, unknown) are global: they survive when turns are removed.
func (k Kind) IsEvent() bool {
	switch k {
	case KindTurnStart, KindChatRequest, KindChatResponse, KindToolCallRequest,
		KindToolCallResponse, KindInquiryRequest, KindInquiryResponse:
		return true
	default:
		return false
	}
}

// An Event is the decoded form of an element: one of the pointer types of this package. Events are
// shared between streams and must not be changed. To change one, copy the struct, change the copy
// and pass it to [Element.With].
type Event interface {
	Kind() Kind
}

// A TurnStart opens a turn, which is one run of a query.
type TurnStart struct{}

// A ChatRequest is a message of the user.
type ChatRequest struct {
	Content   string
	Schema    jsontext.Value // a JSON object, nil when absent
	Author    string         // "" when absent
	Resources []Resource     // RFD 065, nil when absent
}

// Form is the form of a ChatResponse.
type Form int

// The forms of a ChatResponse, in the order in which jp prefers them if an element has several.
const (
	FormMessage Form = iota
	FormReasoning
	FormData
)

// A ChatResponse is output of the model: a message, its reasoning, or data that
// follows the request's schema.
type ChatResponse struct {
	Form Form
	Text string         // of FormMessage and FormReasoning
	Data jsontext.Value // of FormData
}

// A ToolCallRequest is a call that the model asks for. Its ID is not unique: use [Stream.Calls] to
// find the response.
type ToolCallRequest struct {
	ID        string
	Name      string
	Arguments jsontext.Value // a JSON object, its strings decoded
}

// A ToolCallResponse is the result of a tool call.
type ToolCallResponse struct {
	ID      string
	Blocks  []Block
	IsError bool
}

// An InquiryRequest is a question that a tool asks.
type InquiryRequest struct {
	ID       string
	Source   jsontext.Value // an object with its own "source" tag
	Question jsontext.Value // text, answer_type, default
}

// An InquiryResponse answers an InquiryRequest with the same ID.
type InquiryResponse struct {
	ID     string
	Answer jsontext.Value
}

// A ConfigDelta changes the configuration of everything that follows it.
type ConfigDelta struct {
	Delta jsontext.Value // a JSON object, {} when absent
	// Flattened reports that the settings are members of the element itself, as builds of December
	// 2025 wrote the first element. Delta then holds them.
	Flattened bool
}

// A Compaction is jp's overlay (RFD 064): it changes how the turns FromTurn to ToTurn, both
// included and counted from 0, are presented to the model.
type Compaction struct {
	FromTurn, ToTurn int
	Summary          *string
	StripReasoning   bool
	ToolCalls        *ToolCallPolicy
}

// A ToolCallPolicy selects the parts of tool calls that a Compaction keeps.
type ToolCallPolicy struct {
	Omit              bool // drop request and response; the others are then false
	Request, Response bool // strip arguments, strip content
}

// Unknown is an element of a kind that this version does not know. It is kept
// byte for byte.
type Unknown struct {
	Type string // "" when the element has no "type" string
}

// Kind implements [Event].
func (*TurnStart) Kind() Kind { return KindTurnStart }

// Kind implements [Event].
func (*ChatRequest) Kind() Kind { return KindChatRequest }

// Kind implements [Event].
func (*ChatResponse) Kind() Kind { return KindChatResponse }

// Kind implements [Event].
func (*ToolCallRequest) Kind() Kind { return KindToolCallRequest }

// Kind implements [Event].
func (*ToolCallResponse) Kind() Kind { return KindToolCallResponse }

// Kind implements [Event].
func (*InquiryRequest) Kind() Kind { return KindInquiryRequest }

// Kind implements [Event].
func (*InquiryResponse) Kind() Kind { return KindInquiryResponse }

// Kind implements [Event].
func (*ConfigDelta) Kind() Kind { return KindConfigDelta }

// Kind implements [Event].
func (*Compaction) Kind() Kind { return KindCompaction }

// Kind implements [Event].
func (u *Unknown) Kind() Kind { return Kind(u.Type) }

// BlockType is the "type" of a content block.
type BlockType string

// The block types of RFD 058 and MCP. Blocks of any other type are kept unchanged.
const (
	BlockText         BlockType = "text"
	BlockResource     BlockType = "resource"
	BlockQuestion     BlockType = "question"
	BlockImage        BlockType = "image"
	BlockAudio        BlockType = "audio"
	BlockResourceLink BlockType = "resource_link"
)

// A Block is one typed piece of a tool's result. Raw preserves members that the codec does not know
// when the block is changed. For a result in jp's form, which is a single block, Raw is the JSON
// string.
type Block struct {
	Type     BlockType
	Content  blobs.Content  // of text, image and audio blocks
	MIMEType string         // of image and audio blocks
	Resource *Resource      // of resource blocks
	Raw      jsontext.Value // the block as it was read; nil for a new block
}

// A Resource is content with an identity (RFD 065): attached to a request or
// returned by a tool. It is a snapshot.
type Resource struct {
	URI         string // canonical, see docs/format.md
	MIMEType    string
	Name        string
	Title       string
	Description string
	Annotations jsontext.Value
	Content     blobs.Content  // identity and checksums are computed from it
	Formatted   *blobs.Content // text for a model, replaces Content if set
	Raw         jsontext.Value // the resource as it was read; nil for a new resource
}

// Delivered returns the content that a model is given, in which lines are counted.
func (r *Resource) Delivered() blobs.Content {
	if r.Formatted != nil {
		return *r.Formatted
	}
	return r.Content
}
