package jpconfig

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/trust"
)

// A Provider is an entry of providers.llm.
type Provider struct {
	BaseURL    Host   // "" if not set
	BaseURLEnv EnvVar // names a variable with the address; "" if not set
	// APIKeyEnv names the variable with the key; "" if not set. Several are in APIKeyEnvs by their
	// names in jp.
	APIKeyEnv  EnvVar
	APIKeyEnvs map[string]EnvVar
	JSON       []byte // the table, without guarded values
}

// ProviderNames returns the providers that have a table, in order.
func (c *Config) ProviderNames() []string {
	return slices.DeleteFunc(c.names("providers", "llm"), func(name string) bool {
		return name == "aliases"
	})
}

// Provider returns a provider by name.
func (c *Config) Provider(name string) Provider {
	at := func(key string) []string { return []string{"providers", "llm", name, key} }
	p := Provider{
		BaseURL:    Host{guarded(c, trust.Host, c.text(at("base_url")...), at("base_url")...)},
		BaseURLEnv: c.envVar(at("base_url_env")...),
	}
	raw, _, ok := c.Value(at("api_key_env")...)
	var several map[string]string
	switch {
	case ok && exact.Unmarshal(raw, &several) == nil && several != nil:
		p.APIKeyEnvs = map[string]EnvVar{}
		for id := range several {
			p.APIKeyEnvs[id] = c.envVar(append(at("api_key_env"), id)...)
		}
	case ok:
		p.APIKeyEnv = c.envVar(at("api_key_env")...)
	}
	p.JSON = c.without([]string{"providers", "llm", name}, "base_url", "base_url_env",
		"api_key_env", "codex_base_url", "codex_base_url_env")
	return p
}

func (c *Config) envVar(path ...string) EnvVar {
	return EnvVar{guarded(c, trust.EnvVar, c.text(path...), path...)}
}

func (p Provider) variables() []EnvVar {
	all := []EnvVar{p.BaseURLEnv, p.APIKeyEnv}
	for _, id := range slices.Sorted(maps.Keys(p.APIKeyEnvs)) {
		all = append(all, p.APIKeyEnvs[id])
	}
	return all
}

// without returns a table without some keys.
func (c *Config) without(path []string, keys ...string) []byte {
	raw, _, ok := c.Value(path...)
	var table map[string]json.RawMessage
	if !ok || exact.Unmarshal(raw, &table) != nil {
		return []byte("{}")
	}
	for _, key := range keys {
		delete(table, key)
	}
	return marshal(table)
}

// A Server is an entry of providers.mcp. Its process, with arguments and variables, or its address
// can only be read through a gate, as the complete table.
type Server struct {
	Name    string
	Command Process // for "stdio": JSON with command, arguments and variables
	URL     Host    // for "http"
}

// ServerNames returns the MCP servers in order.
func (c *Config) ServerNames() []string { return c.names("providers", "mcp") }

// Server returns an MCP server by name.
func (c *Config) Server(name string) Server {
	at := []string{"providers", "mcp", name}
	s := Server{Name: name}
	raw, _, ok := c.Value(at...)
	if !ok {
		return s
	}
	if u := c.text("providers", "mcp", name, "url"); u != "" {
		s.URL = Host{guarded(c, trust.Host, string(raw), at...)}
	}
	if c.text("providers", "mcp", name, "command") != "" {
		s.Command = c.server(raw, at)
	}
	return s
}
