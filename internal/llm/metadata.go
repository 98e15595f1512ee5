package llm

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
