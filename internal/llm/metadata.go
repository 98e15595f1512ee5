package llm

import (
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Metadata keys under which adapters store what a provider wants returned. The first five are jp's,
// and their values must be kept byte for byte.
const (
	MetadataAnthropicSignature = "anthropic_thinking_signature"
	MetadataAnthropicRedacted  = "anthropic_redacted_thinking"
	MetadataGoogleSignature    = "google_thought_signature"
	MetadataOpenAIItemID       = "openai_item_id"
	MetadataOpenAIEncrypted    = "openai_encrypted_content"
	MetadataOpenAIPhase        = "openai_phase"
	MetadataOpenRouter         = "openrouter_metadata"
)

// MetadataArguments has the arguments of a call as the model sent them, if they are not a JSON
// object that can be stored. The call then has the empty object.
const MetadataArguments = events.MetadataPrefix + "arguments"

// Arguments returns the arguments of a call as the model sent them, which are not always a JSON
// object.
func Arguments(c *events.ToolCallRequest, md events.Metadata) jsontext.Value {
	if sent, ok := md.Text(MetadataArguments); ok {
		return jsontext.Value(sent)
	}
	return c.Arguments
}

// Proof returns what a provider wants returned with a part: its signature, encrypted data or id. An
// empty value counts as absent: some servers send one without signing anything, and no provider
// accepts it.
func Proof(md events.Metadata, key string) (string, bool) {
	value, ok := md.Text(key)
	return value, ok && value != ""
}

// Own reports whether the metadata of m may be replayed to the model with this id: the same
// provider made it, or its provider is unknown. Whether signatures are bound to a family of models
// is for the provider's adapter to check.
func Own(m Message, id string) bool {
	if m.Model == "" {
		return true
	}
	theirs, _, _ := SplitID(m.Model)
	ours, _, _ := SplitID(id)
	return theirs == ours
}
