package llm

import (
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Keys of metadata under which adapters keep what a provider wants back. The first five
// are jp's, and their values must survive byte for byte.
const (
	MetadataAnthropicSignature = "anthropic_thinking_signature"
	MetadataAnthropicRedacted  = "anthropic_redacted_thinking"
	MetadataGoogleSignature    = "google_thought_signature"
	MetadataOpenAIItemID       = "openai_item_id"
	MetadataOpenAIEncrypted    = "openai_encrypted_content"
	MetadataOpenAIPhase        = "openai_phase"
	MetadataOpenRouter         = "openrouter_metadata"
)

// MetadataArguments is what a model sent as the arguments of a call where that was no JSON object
// that can be stored. The call has the empty object then.
const MetadataArguments = events.MetadataPrefix + "arguments"

// Arguments returns what the model sent as the arguments of a call, in its own words; they are
// not always a JSON object.
func Arguments(c *events.ToolCallRequest, md events.Metadata) jsontext.Value {
	if sent, ok := md.Text(MetadataArguments); ok {
		return jsontext.Value(sent)
	}
	return c.Arguments
}

// Proof returns what a provider wants back with a part: its signature, secret or id. An empty
// one is none: some servers send one where they sign nothing, and no provider takes it back.
func Proof(md events.Metadata, key string) (string, bool) {
	value, ok := md.Text(key)
	return value, ok && value != ""
}

// Own reports whether what stands in the metadata of m may be replayed to the model with
// this id: the same provider made it, or nobody knows who did. A provider that binds
// signatures to a family of models decides the rest itself.
func Own(m Message, id string) bool {
	if m.Model == "" {
		return true
	}
	theirs, _, _ := SplitID(m.Model)
	ours, _, _ := SplitID(id)
	return theirs == ours
}
