package sessions

import "strings"

// families are the providers of models by how their names begin.
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

// providers are jp's names of them, by how agents call them.
var providers = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "google", "gemini": "google",
	"google-vertex": "google", "ollama": "ollama", "openrouter": "openrouter", "xai": "xai",
	"deepseek": "deepseek", "cerebras": "cerebras", "llamacpp": "llamacpp", "mistral": "mistral",
	"lmstudio": "lmstudio",
}

// Provider returns jp's name of the provider of a model, by what the agent calls it, which may be
// one that sells models of many, or "". jp takes no name that it does not know.
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
