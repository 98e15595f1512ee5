package jpconfig

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"

	"github.com/git-jp/git-jp/internal/exact"
)

// Shareable returns configuration for storage in a conversation: in the forms that jp reads, and
// without the addresses of providers and the names of variables with keys. These belong to this
// user, and others who continue the conversation would be asked to approve them.
func Shareable(config []byte) []byte { return anonymous(asStored(nil, config)) }

func anonymous(config []byte) []byte {
	var tree, providers, entries map[string]json.RawMessage
	if exact.Unmarshal(config, &tree) != nil ||
		exact.Unmarshal(tree["providers"], &providers) != nil ||
		exact.Unmarshal(providers["llm"], &entries) != nil {
		return config
	}
	for name, raw := range entries {
		var table map[string]json.RawMessage
		if name == "aliases" || exact.Unmarshal(raw, &table) != nil {
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

// asStored returns the value at a path in the form that jp reads. In place of a configuration with
// one value that it cannot read, jp uses an empty one: it forgets the other settings too, and does
// not load a conversation with such a base configuration.
func asStored(path []string, value json.RawMessage) json.RawMessage {
	switch {
	case isModel(path):
		return storedModel(value)
	case ends(path, "parameters", "reasoning"):
		return storedReasoning(value)
	case isEnable(path):
		return storedEnable(value)
	}
	var table map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case exact.Unmarshal(value, &table) == nil && table != nil:
		for name, v := range table {
			table[name] = asStored(append(slices.Clone(path), name), v)
		}
		return unlessSame(value, marshal(table))
	case exact.Unmarshal(value, &list) == nil && list != nil:
		for i, v := range list {
			list[i] = asStored(path, v)
		}
		return unlessSame(value, marshal(list))
	}
	return value
}

// unsaid returns what a delta in stored form says, without what the conversation says in another
// form; nil if nothing is left.
func unsaid(path []string, delta, said json.RawMessage) json.RawMessage {
	if isModel(path) || ends(path, "parameters", "reasoning") || isEnable(path) {
		if said != nil && same(form(path, delta), form(path, said)) {
			return nil
		}
		return delta
	}
	var table, have map[string]json.RawMessage
	if exact.Unmarshal(delta, &table) != nil || exact.Unmarshal(said, &have) != nil {
		return delta
	}
	before := len(table)
	for name, v := range table {
		if left := unsaid(append(slices.Clone(path), name), v, have[name]); left != nil {
			table[name] = left
		} else {
			delete(table, name)
		}
	}
	if len(table) == 0 && before > 0 && len(path) > 0 {
		return nil
	}
	return unlessSame(delta, marshal(table))
}

// form returns the one form of the ways to say a value.
func form(path []string, value json.RawMessage) json.RawMessage {
	if !isModel(path) {
		return asStored(path, value)
	}
	none := func(string) ([]byte, error) { return nil, nil }
	if id, err := resolve(none, value, nil); err == nil {
		return quote(id.String())
	}
	return value
}

// unlessSame returns the changed value, or the old one, whose members have their order, if both say
// the same.
func unlessSame(was, is json.RawMessage) json.RawMessage {
	if same(was, is) {
		return was
	}
	return is
}

func ends(path []string, names ...string) bool {
	return len(path) >= len(names) && slices.Equal(path[len(path)-len(names):], names)
}

// isModel reports whether the value at a path names a model.
func isModel(path []string) bool {
	return ends(path, "model", "id") ||
		len(path) == 4 && slices.Equal(path[:3], []string{"providers", "llm", "aliases"})
}

// isEnable reports whether the value at a path says whether a tool is enabled.
func isEnable(path []string) bool {
	return len(path) == 4 && path[0] == "conversation" && path[1] == "tools" && path[3] == "enable"
}

// storedEnable returns the table for what a word says. jp writes that when it saves: with another
// form each question here would be a change again, and a copy for an undo another stream.
func storedEnable(value json.RawMessage) json.RawMessage {
	switch string(value) {
	case "true", `"true"`, `"on"`:
		return json.RawMessage(`{"state":true,"allow_toggle":"any"}`)
	case "false", `"false"`, `"off"`:
		return json.RawMessage(`{"state":false,"allow_toggle":"any"}`)
	case `"always"`:
		return json.RawMessage(`{"state":true,"allow_toggle":"never"}`)
	case `"explicit"`:
		return json.RawMessage(`{"state":false,"allow_toggle":"if_named"}`)
	}
	return value
}

// storedModel returns a word for a model that jp does not know.
func storedModel(value json.RawMessage) json.RawMessage {
	var id ModelID
	var name string
	if exact.Unmarshal(value, &name) == nil {
		var ok bool
		if id.Provider, id.Name, ok = strings.Cut(name, "/"); !ok {
			return value // a short name
		}
	} else if exact.Unmarshal(value, &id) != nil || id.Provider == "" || id.Name == "" {
		return value // a change of one of them
	}
	if settings.JPKnows(id.Provider, id.Name) {
		return value
	}
	return quote(settings.ModelWord(id.Provider, id.Name))
}

// storedReasoning returns the table for what a word or a number says.
func storedReasoning(value json.RawMessage) json.RawMessage {
	var r Reasoning
	var said map[string]json.RawMessage
	if exact.Unmarshal(value, &said) == nil && len(said) == 1 && said["exclude"] != nil {
		return value // a change of that alone
	}
	if r.UnmarshalJSON(value) != nil || r.Effort == "" {
		return value
	}
	table := map[string]any{}
	switch tokens, err := json.Number(r.Effort).Int64(); {
	case r.Effort == "off":
		return quote("off")
	case err == nil:
		table["effort"] = map[string]int64{"absolute": tokens}
	default:
		table["effort"] = r.Effort
	}
	if r.Exclude {
		table["exclude"] = true
	}
	return unlessSame(value, marshal(table))
}
