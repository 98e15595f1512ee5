package sessions

import "strings"

// families maps the prefix of a model's name to its provider.
var families = []struct{ prefix, provider string }{
	{"claude", "anthropic"},
	{"gpt", "openai"},
	{"chatgpt", "openai"},
	{"o1", "openai"},
	{"o3", "openai"},
	{"o4", "openai"},
	{"gemini", "google"},
	{"gemma", "google"},
	{"grok", "xai"},
	{"deepseek", "deepseek"},
}

// providers maps the agents' names of providers to jp's.
var providers = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "google", "gemini": "google",
	"google-vertex": "google", "ollama": "ollama", "openrouter": "openrouter", "xai": "xai",
	"deepseek": "deepseek", "cerebras": "cerebras", "llamacpp": "llamacpp", "mistral": "mistral",
	"lmstudio": "lmstudio",
}

// Provider returns jp's name of the provider of a model. called is the agent's name of the
// provider, which may be a reseller's, or "". jp accepts only names that it knows.
func Provider(called, model string) string {
	called = strings.ToLower(called)
	if p, ok := providers[called]; ok {
		return p
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range families {
		if strings.HasPrefix(model, f.prefix) {
			return f.provider
		}
	}
	return "openrouter"
}
