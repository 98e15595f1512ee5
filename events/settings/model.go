package settings

import (
	"net/url"
	"slices"
	"strings"
)

// jpProviders returns the providers that jp has. It replaces a configuration with any other one by
// an empty configuration, and does not load a conversation whose base configuration has no model.
func jpProviders() []string {
	return []string{
		"anthropic", "cerebras", "deepseek", "google", "llamacpp", "ollama", "openai",
		"openrouter", "xai",
	}
}

const jpModelNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/~-"

// JPKnows reports whether jp reads provider and name as a model.
func JPKnows(provider, name string) bool {
	return slices.Contains(jpProviders(), provider) &&
		name != "" && strings.Trim(name, jpModelNames) == ""
}

// ModelWord returns a word for a model that jp does not know. jp takes any word without a slash for
// a short name, which it loads, keeps, and looks up only when it asks the model.
func ModelWord(provider, name string) string {
	return url.PathEscape(provider + "/" + name)
}

// ModelOfWord returns the model that a word of [ModelWord] means, as provider/name, and other words
// unchanged.
func ModelOfWord(word string) string {
	if strings.Contains(word, "/") {
		return word
	}
	if id, err := url.PathUnescape(word); err == nil && strings.Contains(id, "/") {
		return id
	}
	return word
}
