package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// Names maps names of tools to names that a provider accepts, and back: MCP allows dots and 128
// characters, providers do not.
type Names struct {
	rule wire.IDRule
	wire map[string]string
	tool map[string]string
}

// NewNames maps the names of the tools. A name that the provider accepts does not change. In other
// names, characters that are not allowed are replaced; if the new name is taken or the old one was
// too long, it ends with six digits of a hash of the old one. Taken are the names of the provider's
// own tools.
func NewNames(tools []Tool, rule wire.IDRule, taken ...string) *Names {
	n := &Names{rule: rule, wire: map[string]string{}, tool: map[string]string{}}
	for _, name := range taken {
		n.tool[name] = name
	}
	for _, t := range tools {
		if n.plain(t.Name) == t.Name && !slices.Contains(taken, t.Name) {
			n.wire[t.Name], n.tool[t.Name] = t.Name, t.Name
		}
	}
	for _, t := range tools {
		if _, done := n.wire[t.Name]; done {
			continue
		}
		w := n.plain(t.Name)
		if _, taken := n.tool[w]; taken || len(t.Name) > rule.Max {
			w = n.hashed(t.Name)
		}
		n.wire[t.Name], n.tool[w] = w, t.Name
	}
	return n
}

// Wire returns the name on the wire, also of a tool that was called but is no longer offered.
func (n *Names) Wire(tool string) string {
	if w, ok := n.wire[tool]; ok {
		return w
	}
	return n.plain(tool)
}

// Tool returns the tool for a name on the wire. A name that was not offered is an invention of the
// model and does not change.
func (n *Names) Tool(wire string) string {
	if t, ok := n.tool[wire]; ok {
		return t
	}
	return wire
}

func (n *Names) plain(name string) string {
	if name == "" {
		return "tool"
	}
	return n.rule.Clean(name)
}

func (n *Names) hashed(name string) string {
	sum := sha256.Sum256([]byte(name))
	suffix := "_" + hex.EncodeToString(sum[:3])
	plain := n.plain(name)
	return strings.TrimRight(plain[:min(len(plain), n.rule.Max-len(suffix))], "_") + suffix
}
