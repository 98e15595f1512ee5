package jpconfig

import "encoding/json"

// Shareable returns configuration for storage in a conversation: without the addresses of providers
// and the names of variables with keys. They belong to this user, and others who continue the
// conversation would be asked to approve them.
func Shareable(config []byte) []byte {
	var tree, providers, entries map[string]json.RawMessage
	if json.Unmarshal(config, &tree) != nil ||
		json.Unmarshal(tree["providers"], &providers) != nil ||
		json.Unmarshal(providers["llm"], &entries) != nil {
		return config
	}
	for name, raw := range entries {
		var table map[string]json.RawMessage
		if name == "aliases" || json.Unmarshal(raw, &table) != nil {
			continue
		}
		for _, key := range []string{
			"base_url", "base_url_env", "api_key_env", "api_key_header", "format",
		} {
			delete(table, key)
		}
		put(entries, name, table)
	}
	put(providers, "llm", entries)
	put(tree, "providers", providers)
	return marshal(tree)
}

// put sets a table in another one, or removes it if it is empty.
func put(in map[string]json.RawMessage, key string, table map[string]json.RawMessage) {
	if len(table) == 0 {
		delete(in, key)
		return
	}
	in[key] = marshal(table)
}
