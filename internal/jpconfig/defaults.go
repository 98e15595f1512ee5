package jpconfig

import "strings"

// defaults are jp's built-in settings, as far as this program reads them. Any layer replaces them.
const defaults = `{
  "assistant": {
    "system_prompt": {"value": "You are a helpful assistant.", "discard_when_merged": true},
    "instructions": {"value": [{
      "title": "How to respond to the user",
      "items": [
        "Be concise",
        "Use simple sentences. But feel free to use technical jargon.",
        "Do NOT overexplain basic concepts. Assume the user is technically proficient.",
        "AVOID flattering, corporate-ish or marketing language. Maintain a neutral viewpoint.",
        "AVOID claims that may seem correct but are not substantiated by the context."
      ]
    }], "discard_when_merged": true},
    "tool_choice": "auto",
    "request": {
      "max_retries": 5, "base_backoff_ms": 1000, "max_backoff_secs": 60,
      "stream_idle_timeout_secs": 60, "max_response_bytes": 1048576, "cache": "short"
    }
  },
  "conversation": {
    "title": {"from_heading": true, "generate": {"auto": true}},
    "tools": {"*": {"run": "ask", "result": "unattended"}}
  },
  "editor": {"envs": {"value": ["JP_EDITOR", "VISUAL", "EDITOR"], "discard_when_merged": true}},
  "providers": {"llm": {
    "anthropic": {
      "api_key_env": "ANTHROPIC_API_KEY", "base_url": "https://api.anthropic.com",
      "chain_on_max_tokens": true
    },
    "cerebras": {
      "api_key_env": "CEREBRAS_API_KEY", "base_url": "https://api.cerebras.ai"
    },
    "deepseek": {
      "api_key_env": "DEEPSEEK_API_KEY", "base_url": "https://api.deepseek.com"
    },
    "google": {
      "api_key_env": "GEMINI_API_KEY",
      "base_url": "https://generativelanguage.googleapis.com/v1beta"
    },
    "llamacpp": {"base_url": "http://127.0.0.1:8080"},
    "ollama": {"base_url": "http://localhost:11434"},
    "openai": {
      "api_key_env": "OPENAI_API_KEY", "base_url": "https://api.openai.com",
      "base_url_env": "OPENAI_BASE_URL"
    },
    "openrouter": {
      "api_key_env": "OPENROUTER_API_KEY", "app_name": "JP",
      "base_url": "https://openrouter.ai"
    }
  }}
}`

// isUnset reports whether a value is jp's built-in one of a setting that has no row in the table of
// harmless ones. jp writes its defaults into every conversation, where they say as much as nothing:
// they have no effect and need no approval.
func isUnset(path []string, value []byte) bool {
	unset := ""
	switch strings.Join(path, ".") {
	case "conversation.compaction.rules":
		unset = `[{"keep_first":"1","keep_last":"1","reasoning":"strip","tool_calls":"strip"}]`
	case "conversation.start_local", "interrupt.streaming.compose_in_editor",
		"interrupt.tool_call.compose_in_editor":
		unset = "false"
	case "plugins.auto_install":
		unset = "true"
	}
	return unset != "" && same(value, []byte(unset))
}
